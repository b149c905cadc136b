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

/** What all steps of a request have recorded, by step and path. Created with the first loss: most requests have none. */
interface Recorded {
  byKey: Map<string, Loss> | undefined;
}

/** Collects a request's losses. Each step records under its own name; one entry per path and step. */
export class Losses {
  readonly #recorded: Recorded;
  readonly #step: string;
  readonly #toClientPath: ToClientPath;

  /** `toClientPath` translates paths to the client's spelling. */
  constructor(step: string, toClientPath = unchangedPath, recorded: Recorded = { byKey: undefined }) {
    this.#step = step;
    this.#toClientPath = toClientPath;
    this.#recorded = recorded;
  }

  /** The same collection, recording under another step's name. */
  at(step: string): Losses {
    return new Losses(step, this.#toClientPath, this.#recorded);
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
    return [...(this.#recorded.byKey?.values() ?? [])];
  }

  get size(): number {
    return this.#recorded.byKey?.size ?? 0;
  }

  #add(path: string, outcome: LossOutcome, note: string | undefined, toClientPath = this.#toClientPath): void {
    const clientPath = toClientPath(path);
    const key = `${this.#step} ${clientPath}`;
    this.#recorded.byKey ??= new Map();
    const { byKey } = this.#recorded;
    if (!byKey.has(key)) byKey.set(key, { path: clientPath, outcome, step: this.#step, note });
  }
}
