import type { Usage } from '../../engine/model/event.ts';
import { replyTier } from '../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/** `usage` → counts; a value that isn't a number counts as absent. Source: Anthropic API reference, "Usage". */
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
    ...(typeof usage.speed === 'string' && { speed: usage.speed }),
    ...(typeof usage.inference_geo === 'string' && { geography: usage.inference_geo }),
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

/** Unmodelled members of `usage`: of the hosted tools, only searches are modelled. */
export const otherUsage = (usage: Json | undefined): JsonObject => {
  if (!isJsonObject(usage)) return {};
  const others = Object.entries(usage).filter(([name, value]) => !modelled.has(name) && value !== null);
  const runs = isJsonObject(usage.server_tool_use) ? Object.entries(usage.server_tool_use) : [];
  const otherRuns = runs.filter(([name, value]) => name !== 'web_search_requests' && value !== null && value !== 0);
  return {
    ...Object.fromEntries(others),
    ...(otherRuns.length > 0 && { server_tool_use: Object.fromEntries(otherRuns) }),
  };
};

/** Adds the unmodelled members to `usage`. */
export const withOtherUsage = (usage: JsonObject, others: JsonObject): JsonObject => {
  const { server_tool_use: runs } = others;
  if (!isJsonObject(runs)) return { ...usage, ...others };
  const counted = isJsonObject(usage.server_tool_use) ? usage.server_tool_use : {};
  return { ...usage, ...others, server_tool_use: { ...counted, ...runs } };
};

/**
 * Counts → `usage`. Input and output counts are required; `inputEstimate` replaces an input that the upstream didn't
 * report.
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
    service_tier: replyTier('messages', usage.serviceTier),
  };
};

const count = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) ? value[name] : undefined;
