import { readdirSync, readFileSync } from 'node:fs';
import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../../engine/model/json/json.ts';
import type { UpstreamProtocol } from '../../../engine/model/protocol.ts';
import { eventsOf } from '../events.ts';
import type { FactUsage } from '../facts.ts';

const fixtures = new URL('../../fixtures/', import.meta.url);

/** A recorded response, and the facts that any reader must find in it. */
export interface Recording {
  readonly format: string;
  readonly name: string;
  readonly streamed: boolean;
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly expected: RecordedFacts;
}

/** The facts of a recording, from its `expected` file, in the vendor's terms. */
interface RecordedFacts {
  readonly http_status: number;
  readonly model: string | null;
  readonly text: string;
  readonly reasoning: string;
  readonly reasoning_summary?: string;
  readonly refusal: string | null;
  readonly tool_calls: readonly { readonly id: string | null; readonly name: string; readonly arguments: unknown }[];
  readonly function_call?: { readonly name: string; readonly arguments: unknown };
  readonly stop_reason: string | null;
  readonly incomplete_details?: { readonly reason: string } | null;
  /** Why a prompt got no answer at all. */
  readonly prompt_feedback?: unknown;
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly error?: unknown;
  readonly error_event?: unknown;
}

/** All recordings of one format. */
export const recordingsOf = (format: string): readonly Recording[] =>
  readdirSync(new URL(`expected/${format}/`, fixtures))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()
    .map((name) => {
      const file = new URL(`expected/${format}/${name}.json`, fixtures);
      // The facts are part of the repository; the fixtures' README describes their form.
      const expected: RecordedFacts & { readonly kind: string } = JSON.parse(readFileSync(file, 'utf8'));
      const streamed = expected.kind === 'sse';
      const bytes = readFileSync(new URL(`${format}/${name}.${expected.kind}`, fixtures));
      return { format, name, streamed, status: expected.http_status, bytes, expected };
    });

/** The recording's events, as this reader of its wire format sees them. */
export const decodeRecording = (
  { streamed, bytes }: Recording,
  upstream: UpstreamProtocol,
  context: ReplyContext,
): ModelEvent[] => {
  if (streamed) return eventsOf(upstream.decodeStream, [bytes], context);
  const body = parseJson(Buffer.from(bytes).toString());
  return isJsonObject(body) ? upstream.decodeReply(body, context) : [];
};

/** A recording's token counts in one form for all vendors; the reader of each format gives its own words for them. */
export const usageOf = ({ expected: { usage } }: Recording): FactUsage | undefined => {
  if (usage === null) return undefined;
  const at = (...path: readonly string[]): number => {
    const value = path.reduce<unknown>((from, step) => (isJsonObject(from) ? from[step] : undefined), usage);
    return typeof value === 'number' ? value : 0;
  };
  if ('prompt_tokens' in usage) {
    const reasoning = at('completion_tokens_details', 'reasoning_tokens');
    const beside = at('total_tokens') - at('prompt_tokens') - at('completion_tokens');
    return {
      prompt: at('prompt_tokens'),
      cacheRead: at('prompt_tokens_details', 'cached_tokens') || at('prompt_cache_hit_tokens'),
      cacheWrite: at('prompt_tokens_details', 'cache_write_tokens'),
      // Some servers count reasoning beside the completion, so that only the total holds it.
      output: at('completion_tokens') + (beside === reasoning ? reasoning : 0),
      reasoning,
    };
  }
  if ('promptTokenCount' in usage) {
    return {
      prompt: at('promptTokenCount') + at('toolUsePromptTokenCount'),
      cacheRead: at('cachedContentTokenCount'),
      cacheWrite: 0,
      output: at('candidatesTokenCount') + at('thoughtsTokenCount'),
      reasoning: at('thoughtsTokenCount'),
    };
  }
  if ('input_tokens_details' in usage) {
    return {
      prompt: at('input_tokens'),
      cacheRead: at('input_tokens_details', 'cached_tokens'),
      cacheWrite: at('input_tokens_details', 'cache_write_tokens'),
      output: at('output_tokens'),
      reasoning: at('output_tokens_details', 'reasoning_tokens'),
    };
  }
  if (!('input_tokens' in usage)) return undefined;
  return {
    prompt: at('input_tokens') + at('cache_read_input_tokens') + at('cache_creation_input_tokens'),
    cacheRead: at('cache_read_input_tokens'),
    cacheWrite: at('cache_creation_input_tokens'),
    output: at('output_tokens'),
    reasoning: at('output_tokens_details', 'thinking_tokens'),
  };
};
