import { type FieldNames, toClientPath } from './client-paths.ts';
import type { JsonObject } from './json/json.ts';

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

/** The losses of all steps of a request, by step and path. Created with the first loss: most requests have none. */
interface Recorded {
  byKey: Map<string, Loss> | undefined;
}

/** Translates paths to the client's spelling, by its names of fields and its body. */
interface ClientBody {
  readonly names: FieldNames | undefined;
  readonly body: JsonObject;
}

/** Collects a request's losses. Each step records under its own name; one entry per path and step. */
export class Losses {
  readonly #recorded: Recorded;
  readonly #step: string;
  readonly #client: ClientBody | undefined;

  /** `client`: absent where paths are in the client's spelling already. */
  constructor(step: string, client?: ClientBody, recorded: Recorded = { byKey: undefined }) {
    this.#step = step;
    this.#client = client;
    this.#recorded = recorded;
  }

  /** The same collection, recording under another step's name. */
  at(step: string): Losses {
    return new Losses(step, this.#client, this.#recorded);
  }

  drop(path: string, note?: string): void {
    this.#add(this.#spelled(path), 'dropped', note);
  }

  approximate(path: string, note?: string): void {
    this.#add(this.#spelled(path), 'approximated', note);
  }

  /** As `drop`, for a path already in the client's spelling. */
  dropClientPath(path: string, note?: string): void {
    this.#add(path, 'dropped', note);
  }

  get list(): readonly Loss[] {
    return [...(this.#recorded.byKey?.values() ?? [])];
  }

  get size(): number {
    return this.#recorded.byKey?.size ?? 0;
  }

  #spelled(path: string): string {
    return this.#client ? toClientPath(this.#client.names, this.#client.body, path) : path;
  }

  #add(path: string, outcome: LossOutcome, note: string | undefined): void {
    const key = `${this.#step} ${path}`;
    this.#recorded.byKey ??= new Map();
    const { byKey } = this.#recorded;
    if (!byKey.has(key)) byKey.set(key, { path, outcome, step: this.#step, note });
  }
}
