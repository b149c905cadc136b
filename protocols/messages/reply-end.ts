import type { ReplyContext } from '../../engine/model/context.ts';
import { type FinishReason, type MessageStop, replyTier, type Usage } from '../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/** Finish → stop reason. Source: Anthropic API reference, "Handling stop reasons". */
const reasons = {
  end: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'context-full': 'model_context_window_exceeded',
  'tool-call': 'tool_use',
  filtered: 'refusal',
  pause: 'pause_turn',
  compaction: 'compaction',
} as const satisfies Record<FinishReason, string>;

/** Finish → `stop_reason`. A reply that holds a refusal ends with `refusal`, unless it calls a tool. */
const encodeFinish = (finish: FinishReason, refused: boolean): string =>
  refused && finish === 'end' ? reasons.filtered : reasons[finish];

const finishes = new Map<string, FinishReason>([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-full'],
  ['tool_use', 'tool-call'],
  ['refusal', 'filtered'],
  ['pause_turn', 'pause'],
  ['compaction', 'compaction'],
]);

/**
 * `stop_reason` → finish; an unknown value is a normal end. A reply with tool calls waits for results, unless it was
 * cut off or filtered.
 */
export const decodeFinish = (word: string, calledTools: boolean): FinishReason => {
  const finish = finishes.get(word) ?? 'end';
  const complete = finish !== 'length' && finish !== 'context-full' && finish !== 'filtered';
  return calledTools && complete ? 'tool-call' : finish;
};

/** The end of a reply by its place in a stream; a whole reply holds all of it at the top level. */
interface WireEnd {
  /** Inside `delta` of the last `message_delta`. */
  readonly delta: JsonObject;
  /** Beside `delta`. */
  readonly beside: JsonObject;
  readonly usage: JsonObject;
}

/** Encodes the end of a reply. `usage` covers the whole reply. */
export const encodeEnd = (
  { finish, stopSequence, extra }: Pick<MessageStop, 'finish' | 'stopSequence' | 'extra'>,
  usage: Usage,
  refused: boolean,
  { inputEstimate, losses }: ReplyContext,
): WireEnd => {
  const delta = {
    stop_reason: encodeFinish(finish, refused),
    stop_sequence: finish === 'stop-sequence' ? (stopSequence ?? null) : null,
  };
  const counts = encodeUsage(usage, inputEstimate);
  if (extra?.wire !== 'messages') {
    for (const name in extra?.fields) losses.drop(name);
    return { delta, beside: {}, usage: counts };
  }
  const { usage: otherUsage, context_management, ...members } = extra.fields;
  return {
    delta: { ...delta, ...members },
    beside: context_management === undefined ? {} : { context_management },
    usage: isJsonObject(otherUsage) ? withOtherUsage(counts, otherUsage) : counts,
  };
};

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
const withOtherUsage = (usage: JsonObject, others: JsonObject): JsonObject => {
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

/** A count; compatible servers may send it as text. */
const count = (value: Json | undefined): number | undefined => {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return typeof value === 'number' ? value : undefined;
};

const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) ? value[name] : undefined;

/** The reply's id: the upstream's own if it has this format's prefix. */
export const wireMessageId = (id: string, context: ReplyContext): string =>
  /^msg_./.test(id) ? id : `msg_${context.id}`;
