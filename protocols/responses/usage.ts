import { promptTokens, type Usage } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { UsageCounts } from './schema-reply.ts';

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
