import type { RollStream } from 'pino-roll';
import type { RollingFile } from './rolling-file.ts';
import type { Trouble } from './trouble.ts';

/** Lines wait at most so long. */
const flushMs = 100;
/** Lines of so many characters don't wait. */
const batchChars = 65_536;
/** More than this isn't kept while the file can't be written. */
const maxWaitingChars = 524_288;
/** Time between attempts to open or write a file that fails, and between looks whether it is still there. */
const retryMs = 1000;

/** What lines are written to. */
export type WritableFile = Pick<RollingFile, 'name' | 'open' | 'inPlace' | 'appendSync'>;

/**
 * Gathers lines and writes them in batches, in the background: a line costs the caller an append to a list. While the file
 * can't be written, lines wait for a better time, up to a limit; those beyond it are counted. Nothing throws or rejects.
 */
export class LogFile {
  readonly #file: WritableFile;
  readonly #trouble: Trouble;
  readonly #onLost: (count: number) => void;
  #lines: string[] = [];
  #chars = 0;
  #lost = 0;
  #stream: RollStream | undefined;
  #opening: Promise<void> | undefined;
  /** The stream has a batch that it hasn't written yet. */
  #busy = false;
  /** Writing that batch failed; the stream keeps the rest of it. */
  #stuck = false;
  #lookedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #waiting: (() => void)[] = [];

  /** `onLost` is called when lines can be written again, with the number of those that were lost. */
  constructor(file: WritableFile, trouble: Trouble, onLost: (count: number) => void) {
    this.#file = file;
    this.#trouble = trouble;
    this.#onLost = onLost;
  }

  /** Takes a line with its line feed. */
  write(line: string): void {
    if (this.#closed) return;
    if (this.#chars + line.length > maxWaitingChars) {
      this.#lost += 1;
      return;
    }
    this.#lines.push(line);
    this.#chars += line.length;
    if (this.#chars >= batchChars) this.#hand();
    this.#arm(flushMs);
  }

  /** Resolves when all lines so far are written or have turned out to be stuck. */
  async flush(): Promise<void> {
    await this.#advance();
    await this.#settled();
    // What came while the stream was busy.
    this.#hand();
    await this.#settled();
  }

  /**
   * Writes what waits before it returns. A batch that is being written in the background is finished even while the process
   * exits; one whose writing failed isn't tried again, since SonicBoom's `flushSync` never returns when the disk is full.
   */
  flushSync(): void {
    const text = this.#take();
    if (text === '') return;
    try {
      this.#file.appendSync(text);
    } catch (error) {
      this.#trouble(this.#file.name, error);
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

  #arm(afterMs: number): void {
    if (this.#closed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#advance();
    }, afterMs).unref();
  }

  /** Brings lines on their way, as far as that's possible now. */
  async #advance(): Promise<void> {
    if (this.#stream) await this.#look(this.#stream);
    if (!this.#stream && this.#lines.length > 0) await this.#open();
    if (this.#stuck) this.#retry();
    this.#hand();
    if (this.#lines.length > 0 || this.#stuck) this.#arm(this.#stream && !this.#stuck ? flushMs : retryMs);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#file
      .open((stream, error) => this.#fail(stream, error))
      .then((stream) => this.#begin(stream))
      .catch((error: unknown) => this.#trouble(this.#file.name, error))
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #begin(stream: RollStream): void {
    this.#stream = stream;
    this.#busy = false;
    this.#stuck = false;
    this.#lookedAtMs = Date.now();
    stream.on('drain', () => {
      if (this.#stream === stream) this.#drained();
    });
  }

  #drained(): void {
    this.#busy = false;
    this.#stuck = false;
    if (this.#chars >= batchChars) this.#hand();
    this.#wake();
    if (this.#lost > 0) {
      const count = this.#lost;
      this.#lost = 0;
      this.#onLost(count);
    }
  }

  /** Lines in a file that was removed are lost to everybody, so the file is made anew. */
  async #look(stream: RollStream): Promise<void> {
    const now = Date.now();
    if (now - this.#lookedAtMs < retryMs) return;
    this.#lookedAtMs = now;
    if ((await this.#file.inPlace()) || this.#stream !== stream) return;
    this.#trouble(this.#file.name, new Error('the file was removed'));
    this.#drop(stream);
  }

  #hand(): void {
    const stream = this.#stream;
    if (!stream || this.#busy || this.#lines.length === 0) return;
    this.#busy = true;
    this.#give(stream, this.#take());
  }

  /** The stream tries again what it couldn't write whenever it is given something. */
  #retry(): void {
    if (this.#stream) this.#give(this.#stream, '');
  }

  #give(stream: RollStream, text: string): void {
    try {
      stream.write(text);
    } catch (error) {
      this.#fail(stream, error);
    }
  }

  #fail(stream: RollStream, error: unknown): void {
    if (stream !== this.#stream) return;
    this.#trouble(this.#file.name, error);
    if (error instanceof Error && 'syscall' in error && error.syscall === 'write') {
      this.#stuck = true;
      this.#wake();
      this.#arm(retryMs);
    } else {
      // A roll failed. Were such a stream to try again, it would close the old file twice.
      this.#drop(stream);
    }
  }

  #drop(stream: RollStream): void {
    this.#stream = undefined;
    this.#busy = false;
    this.#stuck = false;
    retire(stream, () => {});
    this.#wake();
    if (this.#lines.length > 0) this.#arm(retryMs);
  }

  #take(): string {
    const text = this.#lines.join('');
    this.#lines = [];
    this.#chars = 0;
    return text;
  }

  #settled(): Promise<void> {
    if (!this.#busy || this.#stuck) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Lets a stream write what it has and close; at once if it can't write. */
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
