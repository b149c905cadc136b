import { isJsonObject } from '../../engine/model/json.ts';
import { reader } from '../../engine/model/schema.ts';
import type { Usage } from '../../engine/model/usage.ts';
import { WireUsage } from './schema-reply.ts';

const wireUsage = reader(WireUsage);

/**
 * Token counts → usage. The wire's prompt count includes what was read from a cache and written to it; some vendors give the
 * fresh part by itself. Source: OpenAI API reference, "The chat completion object", and recordings of look-alikes.
 */
export const decodeUsage = (wire: WireUsage): Usage => {
  const cacheRead = wire.prompt_tokens_details?.cached_tokens ?? wire.prompt_cache_hit_tokens ?? undefined;
  const cacheWrite = wire.prompt_tokens_details?.cache_write_tokens ?? undefined;
  const prompt = wire.prompt_tokens ?? undefined;
  const fresh = prompt === undefined ? undefined : Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0));
  return {
    input: wire.prompt_cache_miss_tokens ?? fresh,
    cacheRead,
    cacheWrite,
    output: wire.completion_tokens ?? undefined,
    reasoning: wire.completion_tokens_details?.reasoning_tokens ?? undefined,
    webSearches: wire.server_tool_use_details?.web_search_requests ?? undefined,
  };
};

/** The counts of servers that put them, in the chunk with the finish reason, below a member of their own (`x_…`). */
export const sideUsage = (chunk: object): WireUsage | undefined => {
  const members: readonly (readonly [string, unknown])[] = Object.entries(chunk);
  for (const [name, member] of members) {
    if (name.startsWith('x_') && isJsonObject(member) && wireUsage.matches(member.usage)) return member.usage;
  }
  return undefined;
};
