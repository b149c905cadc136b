/** A stream that writes at fixed times. */
interface Paced {
  /** Writes once; says whether there is more to come. */
  readonly step: () => boolean;
}

interface Due {
  readonly paced: Paced;
  /** Milliseconds of `performance.now()`. */
  atMs: number;
}

/**
 * Lets streams write at one common interval, each with the phase of its own start. One timer serves all: as all wait equally
 * long, the stream that wrote last is due last, and the queue stays in order by itself.
 */
export class Pace {
  readonly #intervalMs: number;
  readonly #timer: NodeJS.Timeout;
  #queue: Due[] = [];
  #first = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
    this.#timer = setInterval(() => this.#run(), 1);
  }

  /** The first step comes after one interval. */
  add(paced: Paced): void {
    this.#queue.push({ paced, atMs: performance.now() + this.#intervalMs });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#queue = [];
    this.#first = 0;
  }

  #run(): void {
    const now = performance.now();
    for (let due = this.#queue[this.#first]; due && due.atMs <= now; due = this.#queue[this.#first]) {
      this.#first += 1;
      if (!due.paced.step()) continue;
      // From when it should have been, so that a late step doesn't delay all that follow.
      due.atMs += this.#intervalMs;
      this.#queue.push(due);
    }
    if (this.#first > 4096) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
  }
}
