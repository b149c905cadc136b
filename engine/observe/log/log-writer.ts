import { Buffer } from 'node:buffer';
import type { RollStream } from 'pino-roll';
import { errorCode } from '../../model/fault.ts';
import type { RollingFile } from './rolling-file.ts';

/** The longest time a line is buffered, in milliseconds. */
const flushMs = 100;
/** Buffered bytes that trigger a write at once. */
const batchBytes = 65_536;
const nothing = new Uint8Array(0);
/** Maximum buffered bytes; further lines are dropped. */
const maxWaitingBytes = 524_288;
/** Milliseconds between retries of a failed open or write, and between checks that the file still exists. */
const retryMs = 1000;

/** The file that lines are written to. */
export type WritableFile = Pick<RollingFile, 'name' | 'open' | 'inPlace' | 'appendSync'>;

/**
 * Buffers lines as bytes, which cost the garbage collector nothing, and writes them in batches in the background. While the file can't
 * be written, lines are buffered up to a limit; further ones are dropped and counted. No method throws or rejects.
 */
export class LogWriter {
  readonly #file: WritableFile;
  readonly #report: TroubleReport;
  readonly #onLost: (count: number) => void;
  #buffer = Buffer.allocUnsafeSlow(batchBytes);
  /** Bytes of `#buffer` with lines. */
  #used = 0;
  #lost = 0;
  #stream: RollStream | undefined;
  #opening: Promise<void> | undefined;
  /** The stream is writing a batch. */
  #busy = false;
  /** Writing the batch failed; the stream keeps its remainder. */
  #stuck = false;
  #checkedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #waiting: (() => void)[] = [];

  /** `onLost` is called with the number of dropped lines once lines can be written again. */
  constructor(file: WritableFile, report: TroubleReport, onLost: (count: number) => void) {
    this.#file = file;
    this.#report = report;
    this.#onLost = onLost;
  }

  /** Buffers a line, including its line feed. */
  write(line: string): void {
    if (this.#closed) return;
    if (this.#used + line.length > maxWaitingBytes) {
      this.#lost += 1;
      return;
    }
    const most = this.#used + 3 * line.length;
    if (most > this.#buffer.length) this.#grow(most);
    this.#used += this.#buffer.write(line, this.#used);
    if (this.#used >= batchBytes) this.#writeBatch();
    this.#schedule(flushMs);
  }

  /** Resolves when all lines so far are written or writing has failed. */
  async flush(): Promise<void> {
    await this.#advance();
    await this.#settled();
    // Lines added while the stream was busy.
    this.#writeBatch();
    await this.#settled();
  }

  /**
   * Writes buffered lines synchronously. A batch in progress completes even while the process exits. A failed batch isn't
   * retried: SonicBoom's `flushSync` never returns when the disk is full.
   */
  flushSync(): void {
    if (this.#used === 0) return;
    try {
      this.#file.appendSync(this.#take());
    } catch (error) {
      this.#report(this.#file.name, error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.flush();
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream) await new Promise<void>((resolve) => retire(stream, resolve));
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.#used);
    this.#buffer = grown;
  }

  #schedule(afterMs: number): void {
    if (this.#closed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#advance();
    }, afterMs).unref();
  }

  /** Opens, checks or retries the file as needed, then writes buffered lines. */
  async #advance(): Promise<void> {
    if (this.#stream) await this.#checkFile(this.#stream);
    if (!this.#stream && this.#used > 0) await this.#open();
    if (this.#stuck) this.#retry();
    this.#writeBatch();
    if (this.#used > 0 || this.#stuck) this.#schedule(this.#stream && !this.#stuck ? flushMs : retryMs);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#file
      .open((stream, error) => this.#fail(stream, error))
      .then((stream) => this.#begin(stream))
      .catch((error: unknown) => this.#report(this.#file.name, error))
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #begin(stream: RollStream): void {
    this.#stream = stream;
    this.#busy = false;
    this.#stuck = false;
    this.#checkedAtMs = Date.now();
    stream.on('drain', () => {
      if (this.#stream === stream) this.#drained();
    });
  }

  #drained(): void {
    this.#busy = false;
    this.#stuck = false;
    if (this.#used >= batchBytes) this.#writeBatch();
    this.#resolveWaiting();
    if (this.#lost > 0) {
      const count = this.#lost;
      this.#lost = 0;
      this.#onLost(count);
    }
  }

  /** Reopens the log after its file was removed: lines written to a removed file are lost. */
  async #checkFile(stream: RollStream): Promise<void> {
    const now = Date.now();
    if (now - this.#checkedAtMs < retryMs) return;
    this.#checkedAtMs = now;
    if ((await this.#file.inPlace()) || this.#stream !== stream) return;
    this.#report(this.#file.name, new Error('the file was removed'));
    this.#drop(stream);
  }

  #writeBatch(): void {
    const stream = this.#stream;
    if (!stream || this.#busy || this.#used === 0) return;
    this.#busy = true;
    this.#writeTo(stream, this.#take());
  }

  /** Any write, even an empty one, makes the stream retry its remainder. */
  #retry(): void {
    if (this.#stream) this.#writeTo(this.#stream, nothing);
  }

  #writeTo(stream: RollStream, bytes: Uint8Array): void {
    try {
      stream.write(bytes);
    } catch (error) {
      this.#fail(stream, error);
    }
  }

  #fail(stream: RollStream, error: unknown): void {
    if (stream !== this.#stream) return;
    this.#report(this.#file.name, error);
    if (error instanceof Error && 'syscall' in error && error.syscall === 'write') {
      this.#stuck = true;
      this.#resolveWaiting();
      this.#schedule(retryMs);
    } else {
      // A roll failed. On a retry the stream would close the old file twice.
      this.#drop(stream);
    }
  }

  #drop(stream: RollStream): void {
    this.#stream = undefined;
    this.#busy = false;
    this.#stuck = false;
    retire(stream, () => {});
    this.#resolveWaiting();
    if (this.#used > 0) this.#schedule(retryMs);
  }

  /** A copy of the lines: the stream reads it later, when new lines may be in their place. */
  #take(): Uint8Array {
    const bytes = Buffer.from(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
    return bytes;
  }

  #settled(): Promise<void> {
    if (!this.#busy || this.#stuck) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #resolveWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Closes a stream after it has written its data; destroys it on an error. */
const retire = (stream: RollStream, done: () => void): void => {
  stream.once('close', done);
  stream.once('error', () => {
    stream.destroy();
    done();
  });
  try {
    stream.end();
  } catch {
    // Closed already.
    done();
  }
};

/** Reports that writing `path` failed with `error`. */
type TroubleReport = (path: string, error: unknown) => void;

const reportEveryMs = 3_600_000;

/**
 * Reports log write failures, at most once per error code and hour: a full disk fails every write of every log and deserves
 * one warning.
 */
export const reportThrottled = (
  onTrouble: (message: string) => void,
  nowMs: () => number = Date.now,
): TroubleReport => {
  const reportedAtMs = new Map<string, number>();
  return (path, error) => {
    const kind = kindOf(error);
    const now = nowMs();
    const before = reportedAtMs.get(kind);
    if (before !== undefined && now - before < reportEveryMs) return;
    reportedAtMs.set(kind, now);
    const reason = error instanceof Error ? error.message : String(error);
    onTrouble(`Can't write the log ${path} (${reason}). Requests are still served, but log records may be lost.`);
  };
};

const kindOf = (error: unknown): string => errorCode(error) ?? (error instanceof Error ? error.message : String(error));
