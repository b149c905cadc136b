import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { BoundedMap } from '../../runtime/memoize.ts';
import type { CaptureState, RequestSummary } from '../record/schema.ts';
import type { Recorder } from './recorder.ts';
import { type ShowSettings, showCapture } from './show-capture.ts';

/** Number of captures kept that were asked for. */
const maxAsked = 50;
/** The same for one client of `CLIENTS` that asks for them by a header, and the number of such clients. */
const maxAskedByClient = 10;
/** The memory of one client's, in bytes. */
const maxClientBytes = 4_194_304;
const maxAskingClients = 20;
/** Number of failed requests that are kept without being asked, and the memory that they take together, in bytes. */
const maxFailed = 200;
const maxFailedBytes = 33_554_432;
/** Number of kinds of losses of which the newest request is kept without being asked. */
const maxLossy = 20;
/** Minimum interval between captures of one kind of loss, in milliseconds: most requests of a client lose the same fields. */
const lossyMs = 60_000;
const maxKinds = 500;
/** Number of captured requests whose titles are kept: as many as are listed. */
const maxTitles = 1_000;
/** Maximum size of a compressed capture, of a body and of a stream, in bytes. */
export const maxCaptureBytes = 1_048_576;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Policy of automatic captures, and lifetime of captures. */
export interface CapturePolicy {
  readonly captureFailed: boolean;
  readonly captureMinutes: number;
}

/** Why a request is captured; `kind` names the lost fields. */
export type CaptureReason =
  /** `client`: the client of `CLIENTS` that asked, by a header; absent: the administrator. */
  | { readonly type: 'asked'; readonly client?: string }
  | { readonly type: 'failed' }
  | { readonly type: 'lossy'; readonly kind: string };

/** Source of a capture. */
interface CaptureSource {
  readonly summary: RequestSummary;
  readonly recorder: Recorder;
  readonly settings: ShowSettings;
}

/** A capture: as it was recorded, and, once compressed, as the JSON text of a `RequestDetail`. */
class KeptCapture {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly addedAtMs: number;
  /** Memory, in bytes. */
  bytes: number;
  #source: CaptureSource | undefined;
  #compressed: Promise<Buffer | undefined> | undefined;

  constructor(source: CaptureSource, addedAtMs: number) {
    this.id = source.summary.id;
    this.addedAtMs = addedAtMs;
    this.bytes = source.recorder.bytes;
    this.#source = source;
  }

  get isCompressed(): boolean {
    return this.#compressed !== undefined;
  }

  /** Compresses it, the first time. */
  compressed(): Promise<Buffer | undefined> {
    this.#compressed ??= this.#compress();
    return this.#compressed;
  }

  async #compress(): Promise<Buffer | undefined> {
    // Deferred, so that the reply isn't delayed.
    await new Promise((resolve) => setImmediate(resolve));
    const buffer = this.#source && (await compressed(this.#source));
    this.#source = undefined;
    this.bytes = buffer?.length ?? 0;
    return buffer;
  }
}

/**
 * The most recent captures. Each is kept as the JSON text that the API returns, without secrets and compressed: the many forms
 * of one request compress to little more than one of them. Requests that fail are captured without being asked, and so is the
 * newest request of each kind of loss; neither displaces others. Failures are compressed one after the other, with pauses, and
 * until then kept as they are: an outage must not cost more than the requests themselves.
 */
export class Captures {
  /** Whether all requests are captured; a header can request it for a single one. */
  on = false;
  readonly #policy: () => CapturePolicy;
  readonly #now: () => number;
  #asked: readonly KeptCapture[] = [];
  /** By the client that asked, the one that asked last at the end: none displaces what another one asked for. */
  readonly #askedByClients = new BoundedMap<string, readonly KeptCapture[]>(maxAskingClients);
  #failed: readonly KeptCapture[] = [];
  /** By kind, oldest first. */
  readonly #lossy = new BoundedMap<string, KeptCapture>(maxLossy);
  /** When a kind of loss was last captured, oldest first. */
  readonly #kinds = new BoundedMap<string, number>(maxKinds);
  /** By the request's id, oldest first. */
  readonly #titles = new BoundedMap<string, { readonly title: string; readonly addedAtMs: number }>(maxTitles);
  #expiry: NodeJS.Timeout | undefined;
  #compression: NodeJS.Timeout | undefined;

  /** `now`: milliseconds since 1970. */
  constructor(policy: () => CapturePolicy, now: () => number = Date.now) {
    this.#policy = policy;
    this.#now = now;
  }

  state(): CaptureState {
    const all = this.#current();
    const most = maxAsked + maxAskedByClient * maxAskingClients + maxFailed + maxLossy;
    return { on: this.on, kept: all.length, bytes: bytesOf(all), most, mostBytes: maxCaptureBytes };
  }

  /** Whether requests that fail are captured without being asked. */
  get keepsFailed(): boolean {
    return this.#policy().captureFailed;
  }

  /** The kind of loss, if a request of it is to be captured without being asked. If so, the next ones aren't. */
  takeLossy(kindOf: () => string): string | undefined {
    if (!this.keepsFailed) return undefined;
    const [kind, nowMs] = [kindOf(), this.#now()];
    if (nowMs - (this.#kinds.get(kind) ?? Number.NEGATIVE_INFINITY) < lossyMs) return undefined;
    this.#kinds.set(kind, nowMs);
    return kind;
  }

  add(summary: RequestSummary, recorder: Recorder, settings: ShowSettings, reason: CaptureReason): void {
    const addedAtMs = this.#now();
    const kept = new KeptCapture({ summary, recorder, settings }, addedAtMs);
    if (summary.title !== undefined) this.#titles.set(summary.id, { title: summary.title, addedAtMs });
    if (reason.type === 'failed') {
      this.#failed = newest([...this.#failed, kept].slice(-maxFailed), maxFailedBytes);
      this.#compression ??= this.#compressLater(firstPauseMs);
    } else {
      void kept.compressed();
      if (reason.type === 'asked') this.#addAsked(kept, reason.client);
      else this.#lossy.set(reason.kind, kept);
    }
    this.#expireLater();
  }

  #addAsked(kept: KeptCapture, client: string | undefined): void {
    if (client === undefined) {
      this.#asked = [...this.#asked, kept].slice(-maxAsked);
      return;
    }
    const own = [...(this.#askedByClients.get(client) ?? []), kept].slice(-maxAskedByClient);
    this.#askedByClients.set(client, newest(own, maxClientBytes));
  }

  /** The newest capture with this id, compressed. */
  async findCompressed(id: string): Promise<Buffer | undefined> {
    return this.#current()
      .findLast((kept) => kept.id === id)
      ?.compressed();
  }

  /** The title of a request that was captured, as long as captures are kept. It is in memory alone, as they are. */
  titleOf(id: string): string | undefined {
    const known = this.#titles.get(id);
    return known && known.addedAtMs > this.#oldestMs() ? known.title : undefined;
  }

  clear(): void {
    this.#titles.clear();
    this.#asked = [];
    this.#askedByClients.clear();
    this.#failed = [];
    this.#lossy.clear();
    this.#kinds.clear();
    clearTimeout(this.#expiry);
    clearTimeout(this.#compression);
    this.#expiry = undefined;
    this.#compression = undefined;
  }

  /** All that aren't too old; removes the others. */
  #current(): readonly KeptCapture[] {
    const oldestMs = this.#oldestMs();
    const isYoung = ({ addedAtMs }: { readonly addedAtMs: number }): boolean => addedAtMs > oldestMs;
    this.#asked = this.#asked.filter(isYoung);
    this.#failed = this.#failed.filter(isYoung);
    for (const [client, kept] of [...this.#askedByClients]) {
      const young = kept.filter(isYoung);
      if (young.length === 0) this.#askedByClients.delete(client);
      else if (young.length < kept.length) this.#askedByClients.set(client, young);
    }
    for (const [kind, kept] of this.#lossy) if (!isYoung(kept)) this.#lossy.delete(kind);
    for (const [id, kept] of this.#titles) {
      if (isYoung(kept)) break;
      this.#titles.delete(id);
    }
    return [...this.#lossy.values(), ...this.#failed, ...[...this.#askedByClients.values()].flat(), ...this.#asked];
  }

  #oldestMs(): number {
    return this.#now() - this.#maxAgeMs();
  }

  #maxAgeMs(): number {
    return this.#policy().captureMinutes * 60_000;
  }

  #expireLater(): void {
    this.#expiry ??= setTimeout(
      () => {
        this.#expiry = undefined;
        if (this.#current().length > 0 || this.#titles.size > 0) this.#expireLater();
      },
      Math.min(this.#maxAgeMs(), maxExpiryMs),
    ).unref();
  }

  #compressLater(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.#compressNext(), afterMs).unref();
  }

  /** The newest first: in an outage, older ones give way before their turn. */
  async #compressNext(): Promise<void> {
    const next = this.#failed.findLast((kept) => !kept.isCompressed);
    this.#compression = undefined;
    if (!next) return;
    const beganMs = performance.now();
    await next.compressed();
    this.#compression ??= this.#compressLater((performance.now() - beganMs) * pauseFactor);
  }
}

/** How long a capture may stay after its time, in milliseconds, where nothing asks for it. */
const maxExpiryMs = 60_000;

/** How long the first of several failures waits for its compression, in milliseconds, and how long the next ones, as a multiple of its time. */
const firstPauseMs = 100;
const pauseFactor = 9;

const bytesOf = (captures: readonly KeptCapture[]): number => captures.reduce((sum, { bytes }) => sum + bytes, 0);

/** Without the oldest ones that don't fit. */
const newest = (captures: readonly KeptCapture[], maxBytes: number): readonly KeptCapture[] => {
  let excess = bytesOf(captures) - maxBytes;
  let first = 0;
  for (; excess > 0 && first < captures.length - 1; first += 1) excess -= captures[first]?.bytes ?? 0;
  return captures.slice(first);
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

const compressed = async ({ summary, recorder, settings }: CaptureSource): Promise<Buffer | undefined> => {
  for (const limits of attempts) {
    const buffer = await compress(showCapture(summary, recorder, settings, limits), brotliOptions);
    if (buffer.length <= maxCaptureBytes) return buffer;
  }
  return undefined;
};
