import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { Recorder } from './recorder.ts';
import type { CaptureState, RequestSummary } from './schema.ts';
import { type ShowSettings, showCapture } from './show-capture.ts';

/** Number of captures kept that were asked for. */
const maxAsked = 50;
/** Number of kinds of failures and losses of which the newest request is kept without being asked. */
const maxUnasked = 20;
/** How often one kind may be captured, in milliseconds: an outage must not cost more than the requests themselves. */
const unaskedMs = 60_000;
const maxKinds = 500;
/** Maximum size of a compressed capture, of a body and of a stream, in bytes. */
export const maxCaptureBytes = 1_048_576;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** What is captured without being asked, and for how long captures are kept. */
export interface CapturePolicy {
  readonly captureFailed: boolean;
  readonly captureMinutes: number;
}

interface Kept {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly addedAtMs: number;
  /** Compressed JSON text of a `RequestDetail`. */
  readonly compressed: Promise<Buffer | undefined>;
  bytes: number;
}

/**
 * The most recent captures. Each is kept as the JSON text that the API returns, without secrets and compressed: the many forms
 * of one request compress to little more than one of them. Requests that fail or lose fields are captured without being asked,
 * the newest of each kind; they don't displace those that were asked for.
 */
export class Captures {
  /** Whether all requests are captured; a header can request it for a single one. */
  on = false;
  readonly #policy: () => CapturePolicy;
  readonly #now: () => number;
  #asked: readonly Kept[] = [];
  /** By kind, oldest first. */
  readonly #unasked = new Map<string, Kept>();
  /** When a kind was last captured, oldest first. */
  readonly #kinds = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `now`: milliseconds since 1970. */
  constructor(policy: () => CapturePolicy, now: () => number = Date.now) {
    this.#policy = policy;
    this.#now = now;
  }

  state(): CaptureState {
    const all = this.#current();
    const bytes = all.reduce((sum, kept) => sum + kept.bytes, 0);
    return { on: this.on, kept: all.length, bytes, most: maxAsked + maxUnasked, mostBytes: maxCaptureBytes };
  }

  /** The kind of failure or loss, if a request of it is to be captured without being asked. If so, the next ones aren't. */
  take(kindOf: () => string): string | undefined {
    if (!this.#policy().captureFailed) return undefined;
    const [kind, nowMs] = [kindOf(), this.#now()];
    if (nowMs - (this.#kinds.get(kind) ?? Number.NEGATIVE_INFINITY) < unaskedMs) return undefined;
    renew(this.#kinds, kind, nowMs, maxKinds);
    return kind;
  }

  /** Adds a capture; `kind`: of one that wasn't asked for. */
  add(summary: RequestSummary, recorder: Recorder, settings: ShowSettings, kind?: string): void {
    const text = compressed(summary, recorder, settings);
    const kept: Kept = { id: summary.id, addedAtMs: this.#now(), compressed: text, bytes: 0 };
    void kept.compressed.then((buffer) => {
      kept.bytes = buffer?.length ?? 0;
    });
    if (kind === undefined) this.#asked = [...this.#asked, kept].slice(-maxAsked);
    else renew(this.#unasked, kind, kept, maxUnasked);
    this.#expireLater();
  }

  /** The newest capture with this id, compressed. */
  async findCompressed(id: string): Promise<Buffer | undefined> {
    return this.#current().findLast((kept) => kept.id === id)?.compressed;
  }

  clear(): void {
    this.#asked = [];
    this.#unasked.clear();
    this.#kinds.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** All that aren't too old; removes the others. */
  #current(): readonly Kept[] {
    const oldestMs = this.#now() - this.#maxAgeMs();
    this.#asked = this.#asked.filter(({ addedAtMs }) => addedAtMs > oldestMs);
    for (const [kind, { addedAtMs }] of this.#unasked) if (addedAtMs <= oldestMs) this.#unasked.delete(kind);
    return [...this.#unasked.values(), ...this.#asked];
  }

  #maxAgeMs(): number {
    return this.#policy().captureMinutes * 60_000;
  }

  #expireLater(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#current().length > 0) this.#expireLater();
      },
      Math.min(this.#maxAgeMs(), maxExpiryMs),
    ).unref();
  }
}

/** How long a capture may stay after its time, in milliseconds, where nothing asks for it. */
const maxExpiryMs = 60_000;

/** Sets an entry as the newest, and removes the oldest beyond `most`. */
const renew = <T>(map: Map<string, T>, key: string, value: T, most: number): void => {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
};

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
