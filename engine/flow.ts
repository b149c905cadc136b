/** What can be held back: an upstream's body. */
export interface Valve {
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * The second wire of a request: it runs from the client's socket straight to the upstream's, so that a slow client pauses
 * the upstream and no operator between them has to buffer.
 */
export class Flow {
  #paused = false;
  #valve: Valve | undefined;

  get paused(): boolean {
    return this.#paused;
  }

  /** Puts the upstream's body under control; one that is attached late learns at once that it is to wait. */
  attach(valve: Valve): void {
    this.#valve = valve;
    if (this.#paused) valve.pause();
  }

  detach(valve: Valve): void {
    if (this.#valve === valve) this.#valve = undefined;
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#valve?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#valve?.resume();
  }
}
