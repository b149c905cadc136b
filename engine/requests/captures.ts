import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { CaptureState } from './capture.ts';
import type { Recorder } from './recorder.ts';
import { type ShowSettings, showCapture } from './show-capture.ts';
import type { RequestSummary } from './summary.ts';

/** How many captures are kept, and how large a packed one, a body or a stream may be. */
export const mostCaptures = 50;
export const mostCaptureBytes = 1_048_576;

const pack = promisify(brotliCompress);
const unpack = promisify(brotliDecompress);

interface Kept {
  readonly id: string;
  /** The JSON text of a `RequestDetail`, compressed. */
  readonly packed: Promise<Buffer | undefined>;
  bytes: number;
}

/**
 * The captured requests that ended last. Each is kept as the text that is shown, its secrets taken out, and compressed, so that
 * the many forms of one request take little more than one of them.
 */
export class Captures {
  /** Off until somebody asks for it; a request may ask for itself. */
  on = false;
  readonly #kept: Kept[] = [];

  state(): CaptureState {
    const bytes = this.#kept.reduce((sum, kept) => sum + kept.bytes, 0);
    return { on: this.on, kept: this.#kept.length, bytes, most: mostCaptures, mostBytes: mostCaptureBytes };
  }

  add(summary: RequestSummary, recorder: Recorder, settings: ShowSettings): void {
    const kept: Kept = { id: summary.id, packed: packed(summary, recorder, settings), bytes: 0 };
    void kept.packed.then((buffer) => {
      kept.bytes = buffer?.length ?? 0;
    });
    this.#kept.push(kept);
    if (this.#kept.length > mostCaptures) this.#kept.shift();
  }

  /** The JSON text of the newest capture of this id. */
  async find(id: string): Promise<string | undefined> {
    const buffer = await this.#kept.findLast((kept) => kept.id === id)?.packed;
    return buffer && (await unpack(buffer)).toString();
  }

  clear(): void {
    this.#kept.length = 0;
  }
}

/** Later ones hold less; the last one always fits: four streams and bodies, and two commands. */
const attempts = [
  { steps: true, maxBytes: mostCaptureBytes },
  { steps: false, maxBytes: mostCaptureBytes },
  { steps: false, maxBytes: mostCaptureBytes / 16 },
] as const;

/** Of these texts whose forms repeat each other at some distance, this makes little in a few milliseconds. */
const packing = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 22 },
};

const packed = async (
  summary: RequestSummary,
  recorder: Recorder,
  settings: ShowSettings,
): Promise<Buffer | undefined> => {
  // Later: the end of the answer must not wait for it.
  await new Promise((resolve) => setImmediate(resolve));
  for (const limits of attempts) {
    const buffer = await pack(showCapture(summary, recorder, settings, limits), packing);
    if (buffer.length <= mostCaptureBytes) return buffer;
  }
  return undefined;
};
