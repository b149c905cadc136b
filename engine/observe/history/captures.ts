import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { Recorder } from './recorder.ts';
import type { CaptureState, RequestSummary } from './schema.ts';
import { type ShowSettings, showCapture } from './show-capture.ts';

/** Number of captures kept, and the maximum size of a compressed one, of a body and of a stream, in bytes. */
const maxCaptures = 50;
export const maxCaptureBytes = 1_048_576;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

interface Kept {
  readonly id: string;
  /** Compressed JSON text of a `RequestDetail`. */
  readonly compressed: Promise<Buffer | undefined>;
  bytes: number;
}

/**
 * The most recent captures. Each is kept as the JSON text that the API returns, without secrets and compressed: the many forms
 * of one request compress to little more than one of them.
 */
export class Captures {
  /** Whether all requests are captured; a header can request it for a single one. */
  on = false;
  readonly #kept: Kept[] = [];

  state(): CaptureState {
    const bytes = this.#kept.reduce((sum, kept) => sum + kept.bytes, 0);
    return { on: this.on, kept: this.#kept.length, bytes, most: maxCaptures, mostBytes: maxCaptureBytes };
  }

  add(summary: RequestSummary, recorder: Recorder, settings: ShowSettings): void {
    const kept: Kept = { id: summary.id, compressed: compressed(summary, recorder, settings), bytes: 0 };
    void kept.compressed.then((buffer) => {
      kept.bytes = buffer?.length ?? 0;
    });
    this.#kept.push(kept);
    if (this.#kept.length > maxCaptures) this.#kept.shift();
  }

  /** The newest capture with this id, compressed. */
  async findCompressed(id: string): Promise<Buffer | undefined> {
    return this.#kept.findLast((kept) => kept.id === id)?.compressed;
  }

  clear(): void {
    this.#kept.length = 0;
  }
}

/** JSON text of a compressed capture. Rejects if it isn't one. */
export const captureText = async (compressed: Buffer): Promise<string> =>
  (await decompress(compressed, { maxOutputLength: maxTextBytes })).toString();

/** A bound on the text of a capture, in bytes: a compressed one is at most 1 MiB. */
const maxTextBytes = 256 << 20;

/** Limits to try, from the most detailed. The last always fits: four streams and bodies, and two commands. */
const attempts = [
  { steps: true, maxBytes: maxCaptureBytes },
  { steps: false, maxBytes: maxCaptureBytes },
  { steps: false, maxBytes: maxCaptureBytes / 16 },
] as const;

/** The forms of a request repeat each other at a distance, so a large window matters more than a high quality. */
const brotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 22 },
};

const compressed = async (
  summary: RequestSummary,
  recorder: Recorder,
  settings: ShowSettings,
): Promise<Buffer | undefined> => {
  // Deferred, so that the reply isn't delayed.
  await new Promise((resolve) => setImmediate(resolve));
  for (const limits of attempts) {
    const buffer = await compress(showCapture(summary, recorder, settings, limits), brotliOptions);
    if (buffer.length <= maxCaptureBytes) return buffer;
  }
  return undefined;
};
