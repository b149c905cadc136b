import { call } from './call.ts';
import type { Json, JsonObject } from './json.ts';
import type { Protocol } from './protocols.ts';

/** What would become of a request. */
export interface Explanation {
  readonly client: Protocol;
  readonly asked: string;
  readonly scenario: string;
  readonly reason: string;
  /** Counted only where a rule looks at it. */
  readonly tokens: number | null;
  readonly provider: string;
  readonly model: string;
  readonly format: string;
  readonly stream: boolean;
  readonly url: string;
  /** Secrets are masked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly losses: readonly {
    readonly path: string;
    readonly outcome: string;
    readonly step: string;
    readonly note?: string;
  }[];
  readonly relays: { readonly request: boolean; readonly reply: boolean };
  readonly warnings: readonly string[];
  /** Who is asked when this destination can't serve, in order; `fault`: why it can't be used. */
  readonly fallbacks?: readonly {
    readonly provider: string;
    readonly model: string;
    readonly format: string;
    readonly fault: string | null;
  }[];
}

/** A request to be explained: a body as a client sends it, or the model and the text of a small one. */
type Question = { readonly client: Protocol } & (
  | { readonly body: JsonObject }
  | { readonly model: string; readonly text?: string }
);

/** Asks what would become of a request. Nothing is sent to anybody. */
export const explain = (question: Question, signal?: AbortSignal): Promise<Explanation> =>
  call('/api/explain', { method: 'POST', body: question, signal });
