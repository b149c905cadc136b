import { type ToClientPath, unchangedPath } from './client-paths.ts';

/** How a conversion treats a field that it can't represent exactly. */
type LossOutcome = 'dropped' | 'approximated';

/** A field that a conversion dropped or changed. */
export interface Loss {
  /** Path in the client's spelling: `messages[3].content[1].cache_control`. */
  readonly path: string;
  readonly outcome: LossOutcome;
  /** The step that caused the loss: a format, protocol or stage. */
  readonly step: string;
  /** What the field became, if not obvious. */
  readonly note?: string | undefined;
}

/** Collects a request's losses. Each step records under its own name; one entry per path and step. */
export class Losses {
  readonly #entries: Map<string, Loss>;
  readonly #step: string;
  readonly #toClientPath: ToClientPath;

  /** `toClientPath` translates paths to the client's spelling. */
  constructor(step: string, toClientPath = unchangedPath, entries = new Map<string, Loss>()) {
    this.#step = step;
    this.#toClientPath = toClientPath;
    this.#entries = entries;
  }

  /** The same collection, recording under another step's name. */
  at(step: string): Losses {
    return new Losses(step, this.#toClientPath, this.#entries);
  }

  drop(path: string, note?: string): void {
    this.#add(path, 'dropped', note);
  }

  approximate(path: string, note?: string): void {
    this.#add(path, 'approximated', note);
  }

  /** As `drop`, for a path already in the client's spelling. */
  dropAsWritten(path: string, note?: string): void {
    this.#add(path, 'dropped', note, unchangedPath);
  }

  get list(): readonly Loss[] {
    return [...this.#entries.values()];
  }

  get size(): number {
    return this.#entries.size;
  }

  #add(path: string, outcome: LossOutcome, note: string | undefined, toClientPath = this.#toClientPath): void {
    const clientPath = toClientPath(path);
    const key = `${this.#step} ${clientPath}`;
    if (!this.#entries.has(key)) this.#entries.set(key, { path: clientPath, outcome, step: this.#step, note });
  }
}
