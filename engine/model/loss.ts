/** What became of a field that a conversion can't carry exactly. */
export type LossOutcome = 'dropped' | 'approximated';

/** One field that didn't reach the other side as it was. */
export interface Loss {
  /** Path in the client's own spelling where one is known: `messages[3].content[1].cache_control`. */
  readonly path: string;
  readonly outcome: LossOutcome;
  /** The step that couldn't carry it: a format's, protocol's or stage's name. */
  readonly step: string;
  /** What it became, where that isn't plain. */
  readonly note?: string | undefined;
}

/** The list of a request's losses; each step writes into it under its own name. One entry per path and step. */
export class Losses {
  readonly #entries: Map<string, Loss>;
  readonly #step: string;

  constructor(step: string, entries = new Map<string, Loss>()) {
    this.#step = step;
    this.#entries = entries;
  }

  /** The same list, written to under another step's name. */
  at(step: string): Losses {
    return new Losses(step, this.#entries);
  }

  drop(path: string, note?: string): void {
    this.#add(path, 'dropped', note);
  }

  approximate(path: string, note?: string): void {
    this.#add(path, 'approximated', note);
  }

  get list(): readonly Loss[] {
    return [...this.#entries.values()];
  }

  get size(): number {
    return this.#entries.size;
  }

  #add(path: string, outcome: LossOutcome, note: string | undefined): void {
    const key = `${this.#step} ${path}`;
    if (!this.#entries.has(key)) this.#entries.set(key, { path, outcome, step: this.#step, note });
  }
}
