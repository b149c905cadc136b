/** A source that can be paused: an upstream's body or its decompressor. */
export interface Pausable {
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * Carries back-pressure from the client's socket directly to the upstream's. A slow client pauses the upstream, so that no
 * operator between them has to buffer.
 */
export class Backpressure {
  #paused = false;
  #sources: readonly Pausable[] = none;

  get paused(): boolean {
    return this.#paused;
  }

  /** Adds a source, which is paused at once if the client is slow now. */
  attach(source: Pausable): void {
    this.#sources = [...this.#sources, source];
    if (this.#paused) source.pause();
  }

  detach(source: Pausable): void {
    this.#sources = this.#sources.filter((one) => one !== source);
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const source of this.#sources) source.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const source of this.#sources) source.resume();
  }
}

const none: readonly Pausable[] = [];

/** Pauses reading while the client is slow. */
export class Gate implements Pausable {
  /** Resolves on `resume`; `undefined` unless paused. */
  opened: Promise<void> | undefined;
  #open: (() => void) | undefined;

  pause(): void {
    this.opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  resume(): void {
    this.#open?.();
    this.opened = undefined;
  }
}

/** Bytes that the sources of a process bring before the event loop goes on to what else is due. */
const turnBytes = 1024 * 1024;

/**
 * Shares the event loop between the sources that bring much at once and everything else. Once they have brought `turnBytes`, each
 * pauses after its next chunk, until the following turn of the loop: Node.js reads up to 32 chunks from each socket in one turn.
 */
export class ReadingTurns {
  #bytes = 0;
  #paused: Pausable[] = [];

  /** Counts a chunk that a source has brought. */
  brought(source: Pausable, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < turnBytes) return;
    source.pause();
    if (this.#paused.push(source) === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    const paused = this.#paused;
    this.#paused = [];
    this.#bytes = 0;
    for (const source of paused) source.resume();
  }
}
