import type { Explanation } from '../../../../admin/schema.ts';
import { call } from '../call.ts';
import type { JsonObject } from '../json.ts';
import type { Protocol } from '../protocols.ts';
import type { ConfigFile } from './config.ts';

export type { Explanation };

/** A request to be explained: a body as a client sends it, or the model and the text of a small one. */
type Question = {
  readonly client: Protocol;
  /** Instead of the one in use. */
  readonly configuration?: ConfigFile | undefined;
  /** The preset, for rules that look at it. */
  readonly preset?: string | undefined;
  /** Also ask for the request before and after each stage. */
  readonly stages?: boolean;
} & ({ readonly body: JsonObject } | { readonly model: string; readonly text?: string });

/** Asks what would become of a request. Nothing is sent. */
export const explain = (question: Question, signal?: AbortSignal): Promise<Explanation> =>
  call('/api/explain', { method: 'POST', body: question, signal });
