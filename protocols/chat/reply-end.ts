import { type FinishReason, promptTokens, type Usage } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../../engine/model/json/json.ts';
import { lenientReader } from '../../engine/model/schema.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';
import { WireUsage } from './schema-reply.ts';

/** A reply's contents, which say more than the upstream's finish reason. */
interface Contents {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * `finish_reason` → finish. Calls mean `tool-call` whatever the value, since some servers send `stop`; a call cut off
 * at the limit stays `length`. Source: OpenAI API reference, "The chat completion object".
 */
export const decodeFinish = (word: string, contents: Contents): FinishReason => {
  if (cutWords.has(word)) return 'length';
  if (overflowWords.has(word)) return 'context-full';
  if (contents.calls) return 'tool-call';
  return word === 'content_filter' || contents.refusal ? 'filtered' : 'end';
};

/** What servers say of an answer that they cut off. */
const cutWords: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_length', 'abort']);

/** What servers say of an answer that reached the end of the context window. */
export const overflowWords: ReadonlySet<string> = new Set(['model_context_window_exceeded']);

/**
 * A vendor's own word for an answer that failed, which a host between reports as a normal end; `undefined` for others. Unknown words are
 * normal: the host's own word decides. Source: Gemini API reference, "FinishReason"; Cohere API reference, "Chat"; OpenRouter
 * documentation, "Finish reason".
 */
export const nativeFailure = (word: unknown): string | undefined =>
  typeof word === 'string' && nativeFailures.has(word.toUpperCase()) ? word : undefined;

const nativeFailures: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'OTHER',
  'LANGUAGE',
  'NO_IMAGE',
  'IMAGE_OTHER',
  'ERROR',
  'NETWORK_ERROR',
  'TIMEOUT',
  'FAILED',
  'INSUFFICIENT_SYSTEM_RESOURCE',
]);

/** Matches a whole reply that may have such a word. */
export const mayFailNatively = new RegExp(
  `"native_finish_reason": ?"(?:${[...nativeFailures].flatMap((word) => [word, word.toLowerCase()]).join('|')})"`,
);

/**
 * Finish → `finish_reason`. A refusal with text is a normal end in this format. `legacy`: the client reads calls in
 * the older format.
 */
export const encodeFinish = (finish: FinishReason, refused: boolean, legacy: boolean): string => {
  switch (finish) {
    case 'length':
    case 'context-full':
      return 'length';
    case 'tool-call':
      return legacy ? 'function_call' : 'tool_calls';
    case 'filtered':
      return refused ? 'stop' : 'content_filter';
    case 'end':
    case 'stop-sequence':
    case 'pause':
    case 'compaction':
      return 'stop';
    default:
      return finish satisfies never;
  }
};

/** The chunk that ends an answer whose upstream sends no finish reason. It continues the answer that `first` begins. */
export const finishRecord = (finish: FinishReason, first: SseRecord | undefined): SseRecord => {
  const chunk = first && parseJson(first.data);
  const { choices: _, usage: __, ...head } = isJsonObject(chunk) ? chunk : {};
  const choices = [{ index: 0, delta: {}, finish_reason: encodeFinish(finish, false, false) }];
  return { event: '', data: writeJson({ ...head, object: 'chat.completion.chunk', choices }) };
};

/** The last record of a stream. */
export const terminal: SseRecord = { event: '', data: '[DONE]' };

/** Whether this format has no value for the finish, so that clients see a normal end. */
export const finishIsLost = (finish: FinishReason): boolean => finish === 'pause' || finish === 'compaction';

const wireUsage = lenientReader(WireUsage);

/**
 * Token counts → usage. The prompt count includes cache reads and writes; some vendors send the uncached part
 * separately. Source: OpenAI API reference, "The chat completion object"; recordings of compatible servers.
 */
export const decodeUsage = (wire: WireUsage): Usage => {
  const prompt = wire.prompt_tokens ?? undefined;
  const { cached_tokens: cached, prompt_cache_hit_tokens: hits } = wire;
  const cacheRead = wire.prompt_tokens_details?.cached_tokens ?? hits ?? cached ?? undefined;
  const cacheWrite = wire.prompt_tokens_details?.cache_write_tokens ?? undefined;
  const fresh = prompt === undefined ? undefined : Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0));
  return {
    input: wire.prompt_cache_miss_tokens ?? fresh,
    cacheRead,
    cacheWrite,
    ...decodeOutput(wire),
    webSearches: wire.server_tool_use_details?.web_search_requests ?? undefined,
    ...(typeof wire.cost === 'number' && { costUsd: wire.cost + ownKeyCost(wire) }),
  };
};

/**
 * The output, reasoning included. Some servers count reasoning beside the completion, and some only in the total: the total tells.
 */
const decodeOutput = (wire: WireUsage): Pick<Usage, 'output' | 'reasoning'> => {
  const output = wire.completion_tokens ?? undefined;
  const reasoning = wire.completion_tokens_details?.reasoning_tokens ?? wire.reasoning_tokens ?? undefined;
  if (output === undefined || typeof wire.prompt_tokens !== 'number') return { output, reasoning };
  const beside = (wire.total_tokens ?? 0) - wire.prompt_tokens - output;
  const isReasoning = beside > 0 && (reasoning === undefined || reasoning === beside);
  return isReasoning ? { output: output + beside, reasoning: beside } : { output, reasoning };
};

/**
 * The vendor's charge to the user's own key, in USD; otherwise 0. With such a key, `cost` is only the server's fee. Source:
 * OpenRouter documentation, "Usage accounting".
 */
const ownKeyCost = ({ is_byok: own, cost_details: details }: WireUsage): number => {
  const cost = own === true && isJsonObject(details) ? details.upstream_inference_cost : 0;
  return typeof cost === 'number' ? cost : 0;
};

/** Counts nested in a server's own member (`x_…`), in the chunk with the finish reason. */
export const nestedUsage = (chunk: object): WireUsage | undefined => {
  const members: readonly (readonly [string, unknown])[] = Object.entries(chunk);
  for (const [name, member] of members) {
    const usage = name.startsWith('x_') && isJsonObject(member) ? wireUsage.readable(member.usage) : undefined;
    if (usage) return usage;
  }
  return undefined;
};

/**
 * Usage → token counts; `undefined` when nothing is known. The prompt count includes cached tokens. Source: OpenAI
 * API reference, "The chat completion object".
 */
export const encodeUsage = (usage: Usage): JsonObject | undefined => {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  if ([input, cacheRead, cacheWrite, output].every((count) => count === undefined)) return undefined;
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    prompt_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning ?? 0 },
  };
};
