import type { JsonObject } from './json/json.ts';
import { type FieldNames, fieldPattern, toClientPath } from './wire/client-paths.ts';

/** A conversion's treatment of a field that it can't represent exactly. */
type LossOutcome = 'dropped' | 'approximated';

/** A field that a conversion dropped or changed. */
export interface Loss {
  /** Path in the client's spelling: `messages[3].content[1].cache_control`. */
  readonly path: string;
  readonly outcome: LossOutcome;
  /** The step that caused the loss: a format, protocol or stage. */
  readonly step: string;
  /** The field's replacement, if not obvious. */
  readonly note?: string | undefined;
}

/**
 * Members by how much their loss matters, in all protocols' names; a whole entry of a list is named with `[]`. `heavy`: what the
 * model is asked, with which tools, and the form of its answer. `light`: what leaves the answer as it is, so that only
 * the record has it. All others, such as limits and sampling, are in between.
 */
const weights: Readonly<Record<'heavy' | 'light', ReadonlySet<string>>> = {
  heavy: new Set([
    'tools[]',
    'functions[]',
    'messages[]',
    'input[]',
    'content[]',
    'output[]',
    'tools',
    'tool_choice',
    'function_call',
    'messages',
    'input',
    'content',
    'system',
    'system[]',
    'instructions',
    'format',
    'response_format',
    'output_format',
    'parameters',
    'input_schema',
    'mcp_servers',
    'mcp_servers[]',
  ]),
  light: new Set([
    'cache_control',
    'prompt_cache_breakpoint',
    'prompt_cache_key',
    'prompt_cache_options',
    'prompt_cache_retention',
    'metadata',
    'client_metadata',
    'user',
    'user_id',
    'safety_identifier',
    'id',
    'phase',
    'additionalProperties',
    'include',
    'annotations',
    'citations',
    'signature',
    'defer_loading',
    'service_tier',
    'store',
    'stream_options',
  ]),
};

/** The rank of a lost field by how much it changes the answer: 0 is the heaviest. */
export const lossRank = ({ path }: Loss): 0 | 1 | 2 => {
  const members = fieldPattern(path).split('.');
  if (members.some((member) => weights.light.has(member))) return 2;
  const last = members.at(-1) ?? '';
  return weights.heavy.has(last) || members.includes('format') ? 0 : 1;
};

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

  /** Takes back what this step has recorded since there were so many losses. */
  forget(since: number): void {
    const { byKey } = this.#recorded;
    for (const [key, { step }] of [...(byKey ?? [])].slice(since)) if (step === this.#step) byKey?.delete(key);
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
