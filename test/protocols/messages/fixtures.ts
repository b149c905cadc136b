import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Facts } from '../../support/facts.ts';

const fixtures = new URL('../../fixtures/', import.meta.url);

/** What a recording's `expected` file says, as far as facts have it. */
interface Expected {
  readonly http_status: number;
  readonly id: string | null;
  readonly model: string | null;
  readonly text: string;
  readonly reasoning: string;
  readonly tool_calls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly stop_reason: string | null;
  readonly stop_sequence?: string | null;
  readonly usage: {
    readonly input_tokens: number;
    readonly cache_creation_input_tokens?: number | null;
    readonly cache_read_input_tokens?: number | null;
    readonly output_tokens: number;
    readonly output_tokens_details?: { readonly thinking_tokens: number } | null;
  } | null;
  readonly blocks?: readonly string[];
  readonly citations?: number;
  readonly server_tools: readonly { readonly arguments: unknown }[];
  readonly signatures?: readonly { readonly length: number; readonly sha256: string }[];
  readonly redacted?: readonly { readonly length: number; readonly sha256: string }[];
  readonly error?: { readonly error: { readonly type: string; readonly message: string } };
}

/** Names of the recordings whose file ends so: `.sse`, `.request.json`. */
export const recordings = (ending: string): readonly string[] =>
  readdirSync(new URL('anthropic/', fixtures))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort();

/** Recordings of whole replies. */
export const replies: readonly string[] = recordings('.json').filter((name) => !name.endsWith('.request'));

export const recording = (file: string): Buffer => readFileSync(new URL(`anthropic/${file}`, fixtures));

export const expected = (name: string): Expected =>
  JSON.parse(readFileSync(new URL(`expected/anthropic/${name}.json`, fixtures), 'utf8'));

/** The facts of a recording, with its payloads hashed. */
export const expectedFacts = (name: string): unknown => {
  const { text, reasoning, tool_calls, stop_reason, usage, signatures, redacted, model, id, error } = expected(name);
  const cacheRead = usage?.cache_read_input_tokens ?? 0;
  const cacheWrite = usage?.cache_creation_input_tokens ?? 0;
  return {
    text,
    reasoning,
    refusal: '',
    toolCalls: tool_calls.map((call) => ({ id: call.id, name: call.name, input: call.arguments })),
    stop: stop_reason ?? '',
    usage: usage && {
      prompt: usage.input_tokens + cacheRead + cacheWrite,
      cacheRead,
      cacheWrite,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
    signatures: [...(signatures ?? []), ...(redacted ?? [])],
    model: model ?? '',
    id: id ?? '',
    error: error?.error.message,
  };
};

/** Facts in the form of `expectedFacts`. */
export const hashed = (facts: Facts): unknown => ({
  ...facts,
  usage: facts.usage ?? null,
  signatures: facts.signatures.map((payload) => ({
    length: payload.length,
    sha256: createHash('sha256').update(payload).digest('hex'),
  })),
});
