import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json.ts';
import type { Usage } from '../../engine/model/usage.ts';

/** `usage` → counts; what isn't a number counts as not given. Source: Anthropic API reference, "Usage". */
export const decodeUsage = (usage: Json | undefined): Usage => {
  if (!isJsonObject(usage)) return {};
  return {
    input: count(usage.input_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    cacheWrite: count(usage.cache_creation_input_tokens),
    cacheWrite1h: count(member(usage.cache_creation, 'ephemeral_1h_input_tokens')),
    output: count(usage.output_tokens),
    reasoning: count(member(usage.output_tokens_details, 'thinking_tokens')),
    webSearches: count(member(usage.server_tool_use, 'web_search_requests')),
    serviceTier: typeof usage.service_tier === 'string' ? usage.service_tier : undefined,
  };
};

const modelled: ReadonlySet<string> = new Set([
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
  'service_tier',
]);

/** Members of `usage` that the model has no place for. */
export const otherUsage = (usage: Json | undefined): JsonObject =>
  isJsonObject(usage)
    ? Object.fromEntries(Object.entries(usage).filter(([name, value]) => !modelled.has(name) && value !== null))
    : {};

/**
 * Counts → `usage`. The wire demands the input and output counts; `inputEstimate` stands in for an input that the upstream
 * didn't count at all.
 */
export const encodeUsage = (usage: Usage, inputEstimate: number): JsonObject => {
  const { cacheRead, cacheWrite, cacheWrite1h, reasoning, webSearches } = usage;
  const counted = usage.input !== undefined || cacheRead !== undefined || cacheWrite !== undefined;
  return {
    input_tokens: usage.input ?? (counted ? 0 : inputEstimate),
    cache_creation_input_tokens: cacheWrite ?? 0,
    cache_read_input_tokens: cacheRead ?? 0,
    cache_creation:
      cacheWrite1h === undefined
        ? undefined
        : {
            ephemeral_5m_input_tokens: Math.max(0, (cacheWrite ?? 0) - cacheWrite1h),
            ephemeral_1h_input_tokens: cacheWrite1h,
          },
    output_tokens: usage.output ?? 0,
    output_tokens_details: reasoning === undefined ? undefined : { thinking_tokens: reasoning },
    server_tool_use: webSearches === undefined ? undefined : { web_search_requests: webSearches },
    service_tier: usage.serviceTier,
  };
};

const count = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) ? value[name] : undefined;
