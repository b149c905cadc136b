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
