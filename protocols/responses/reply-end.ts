import { type FinishReason, promptTokens, type Usage } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { UsageCounts } from './schema-reply.ts';

/** A reply's contents, which say more than the status. */
interface Contents {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * Status → finish. `reason` is that of `incomplete_details`; only `content_filter` differs from the token limit.
 * Source: OpenAI API reference, "The response object".
 */
export const decodeFinish = (
  incomplete: boolean,
  reason: string | null | undefined,
  contents: Contents,
): FinishReason => {
  if (incomplete && reason !== 'content_filter') return 'length';
  if (contents.calls) return 'tool-call';
  return incomplete || contents.refusal ? 'filtered' : 'end';
};

/** A response's status, and the members that depend on it. */
export interface Outcome {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly reason?: 'max_output_tokens' | 'content_filter' | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly usage?: Usage | undefined;
}

/** Finish → outcome. A refusal with text is a complete reply; without text, a filter cut it off. */
export const encodeFinish = (finish: FinishReason, refused: boolean, usage: Usage): Outcome => {
  switch (finish) {
    case 'length':
    case 'context-full':
      return { status: 'incomplete', reason: 'max_output_tokens', usage };
    case 'filtered':
      return refused ? { status: 'completed', usage } : { status: 'incomplete', reason: 'content_filter', usage };
    case 'end':
    case 'stop-sequence':
    case 'tool-call':
    case 'pause':
    case 'compaction':
      return { status: 'completed', usage };
    default:
      return finish satisfies never;
  }
};

/** The vendor's counts → usage. The input count includes cache reads and writes. */
export const decodeUsage = (counts: UsageCounts | null | undefined): Usage => {
  if (!counts) return {};
  const cacheRead = counts.input_tokens_details?.cached_tokens ?? undefined;
  const cacheWrite = counts.input_tokens_details?.cache_write_tokens ?? undefined;
  const total = counts.input_tokens ?? undefined;
  return {
    input: total === undefined ? undefined : Math.max(0, total - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    cacheRead,
    cacheWrite,
    output: counts.output_tokens ?? undefined,
    reasoning: counts.output_tokens_details?.reasoning_tokens ?? undefined,
  };
};

/**
 * Usage → counts, always with both detail objects. `estimate` replaces a prompt that the upstream didn't count.
 * Source: OpenAI API reference, "The response object", `usage`.
 */
export const encodeUsage = (usage: Usage, estimate: number): JsonObject => {
  const counted = usage.input !== undefined || usage.cacheRead !== undefined || usage.cacheWrite !== undefined;
  const input = counted ? promptTokens(usage) : estimate;
  const output = usage.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: input + output,
  };
};
