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

/** Bytes that the sources of a process bring in one tick of the event loop before they pause. */
const tickBytes = 512 * 1024;

/** Paused sources that read on in one tick. */
const tickSources = 4;

/**
 * Shares the event loop between the sources that bring much at once and everything else: Node.js reads up to 32 chunks from each
 * socket in one tick of the loop. Once all have brought `tickBytes`, each pauses after its next chunk. They read on in later ticks, some
 * at a time, in the order in which they paused.
 */
export class FairReading {
  #bytes = 0;
  readonly #paused = new Set<Pausable>();
  #isDue = false;

  /** Counts a chunk that a source has brought. */
  brought(source: Pausable, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < tickBytes) return;
    source.pause();
    this.#paused.add(source);
    this.#await();
  }

  #await(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#isDue = false;
    this.#bytes = 0;
    let left = tickSources;
    for (const source of this.#paused) {
      if (left === 0) break;
      left -= 1;
      this.#paused.delete(source);
      source.resume();
    }
    if (this.#paused.size > 0) this.#await();
  }
}
