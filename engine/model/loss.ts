import { plainSpelling, type Spell } from './client-spelling.ts';

/** What became of a field that a conversion can't carry exactly. */
export type LossOutcome = 'dropped' | 'approximated';

/** One field that didn't reach the other side as it was. */
export interface Loss {
  /** Path in the client's own spelling: `messages[3].content[1].cache_control`. */
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
  readonly #spell: Spell;

  /** `spell` gives the client's own word for a path. */
  constructor(step: string, spell = plainSpelling, entries = new Map<string, Loss>()) {
    this.#step = step;
    this.#spell = spell;
    this.#entries = entries;
  }

  /** The same list, written to under another step's name. */
  at(step: string): Losses {
    return new Losses(step, this.#spell, this.#entries);
  }

  drop(path: string, note?: string): void {
    this.#add(path, 'dropped', note);
  }

  approximate(path: string, note?: string): void {
    this.#add(path, 'approximated', note);
  }

  /** As `drop`, for a path that is in the client's own spelling already. */
  dropAsWritten(path: string, note?: string): void {
    this.#add(path, 'dropped', note, plainSpelling);
  }

  get list(): readonly Loss[] {
    return [...this.#entries.values()];
  }

  get size(): number {
    return this.#entries.size;
  }

  #add(path: string, outcome: LossOutcome, note: string | undefined, spell = this.#spell): void {
    const place = spell(path);
    const key = `${this.#step} ${place}`;
    if (!this.#entries.has(key)) this.#entries.set(key, { path: place, outcome, step: this.#step, note });
  }
}
