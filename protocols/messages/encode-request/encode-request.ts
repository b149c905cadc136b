import type { RequestContext } from '../../../engine/model/context.ts';
import { tierOf } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordSchemaLoss } from '../../../engine/model/record-losses.ts';
import type { ModelRequest, Part, Turn } from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { continuation } from '../../../engine/model/wire/continuation.ts';
import { type MessagesServer, type MessagesTraits, messagesTraits } from '../dialect.ts';
import { expressUnsealed } from '../unsealed-searches.ts';
import { cacheControl, encodeParts, ownExtra } from './encode-content.ts';
import { carriedParts, carriedReasoning, mergeTurns, pairCalls } from './encode-messages.ts';
import { bindThinking, planThinking, type ThinkingPlan } from './encode-reasoning.ts';
import { encodeTools } from './encode-tools.ts';

/**
 * Encodes the body of `/v1/messages`. Adapts the history to the vendor's rules, which are stricter than those of
 * other formats. Throws an `unsupported` fault for audio, another vendor's files and a forced tool of another vendor.
 */
export const encodeRequest = (
  request: ModelRequest,
  context: RequestContext,
  server: MessagesServer = 'vendor',
): JsonObject => {
  const { losses } = context;
  const traits = messagesTraits(request.model, server);
  const mayContinue = traits.prefill || context.client === 'messages';
  const turns = adaptTurns(request.turns, traits, mayContinue, losses);
  const { tools, tool_choice: choice } = encodeTools(request, turns, context);
  const tool_choice = traits.forcedCalls ? choice : unforced(choice, losses);
  const plan = planThinking(request, traits, turns, isForced(tool_choice), losses);
  dropUncarried(request, losses);
  return {
    model: request.model,
    max_tokens: plan.maxTokens,
    ...withExtra(
      {
        system: encodeSystem(request, context),
        messages: encodeTurns(turns, context),
        tools,
        tool_choice,
        ...encodeSampling(request, plan, traits, context),
        thinking: bindThinking(plan.thinking, traits, turns),
        output_config: encodeOutput(request, plan, losses),
        metadata: request.user === undefined ? undefined : { user_id: request.user },
        service_tier: encodeTier(request.serviceTier, losses),
        cache_control: cacheControl(request.cache),
        compaction: request.compaction?.raw?.wire === 'messages' ? request.compaction.raw.value : undefined,
      },
      ownExtra(request.extra, losses),
      losses,
    ),
    stream: request.stream,
  };
};

/** Adapts the history to the vendor's rules. */
const adaptTurns = (
  turns: readonly Turn[],
  traits: MessagesTraits,
  mayContinue: boolean,
  losses: Losses,
): readonly Turn[] => {
  const carried = expressUnsealed(turns, losses).map((turn) => carryTurn(turn, traits, losses));
  const paired = pairCalls(mergeTurns(carried.filter(hasParts)), losses);
  const merged = mergeTurns(paired.filter(hasParts));
  return mayContinue ? trimPrefill(merged, losses) : endWithUser(merged, losses);
};

/** Lets the user have the last word, for models that don't continue an answer that has begun. */
const endWithUser = (turns: readonly Turn[], losses: Losses): readonly Turn[] => {
  const last = turns.findLast(({ role }) => role !== 'system');
  if (last?.role !== 'assistant') return turns;
  losses.approximate(last.at ?? 'messages', 'the model starts a new answer instead of continuing this text');
  return [...turns, { role: 'user', parts: [{ type: 'text', text: continuation }] }];
};

const carryTurn = ({ name, ...turn }: Turn, { signs }: MessagesTraits, losses: Losses): Turn => {
  const at = turn.at ?? 'messages';
  if (name !== undefined) losses.drop(memberPath(at, 'name'));
  const extra = ownExtra(turn.extra, losses) && turn.extra;
  const parts = carriedParts(carriedReasoning(turn.parts, at, signs, losses), at, losses);
  return { ...turn, parts, extra };
};

const hasParts = ({ parts }: Turn): boolean => parts.length > 0;

/** A prefill must not end in white space. */
const trimPrefill = (turns: readonly Turn[], losses: Losses): readonly Turn[] => {
  const last = turns.at(-1);
  const part = last?.parts.at(-1);
  if (last?.role !== 'assistant' || part?.type !== 'text' || part.text === part.text.trimEnd()) return turns;
  losses.approximate(part.at ?? 'messages', 'without the white space at its end');
  const parts: Part[] = [...last.parts.slice(0, -1), { ...part, text: part.text.trimEnd() }];
  return [...turns.slice(0, -1), { ...last, parts }];
};

const encodeTurns = (turns: readonly Turn[], context: RequestContext): readonly JsonObject[] => {
  if (turns.length === 0) {
    context.losses.approximate('messages', 'empty: replaced by a full stop');
    return [{ role: 'user', content: [{ type: 'text', text: '.' }] }];
  }
  return turns.map((turn) => ({
    role: turn.role,
    content: encodeParts(turn.parts, turn.at ?? 'messages', context),
    ...turn.extra?.fields,
  }));
};

const encodeSystem = ({ system, output }: ModelRequest, context: RequestContext): readonly JsonObject[] | undefined => {
  const blocks = [...encodeParts(system, 'system', context)];
  if (output?.type === 'json') {
    context.losses.approximate('response_format', 'requested in the system prompt');
    blocks.push({ type: 'text', text: 'Reply with one JSON object and nothing else.' });
  }
  return blocks.length > 0 ? blocks : undefined;
};

const isForced = (choice: JsonObject | undefined): boolean => choice?.type === 'any' || choice?.type === 'tool';

/** Lifts a forced tool call, for models that reject it. */
const unforced = (choice: JsonObject | undefined, losses: Losses): JsonObject | undefined => {
  if (!choice || !isForced(choice)) return choice;
  losses.approximate('tool_choice', 'auto: the model accepts no other choice');
  const { name: _, ...rest } = choice;
  return { ...rest, type: 'auto' };
};

const encodeSampling = (
  request: ModelRequest,
  plan: ThinkingPlan,
  traits: MessagesTraits,
  { client, losses }: RequestContext,
): JsonObject => {
  const { temperature, topP, topK } = request;
  if (!traits.sampling && (traits.isKnown || client !== 'messages')) {
    // A value close to the default is still accepted. Source: Anthropic API reference, "Versions".
    const kept = {
      temperature: temperature === 1 ? 1 : undefined,
      top_p: topP !== undefined && topP >= 0.99 ? topP : undefined,
    };
    if (temperature !== kept.temperature) losses.drop('temperature', 'the model refuses it');
    if (topP !== kept.top_p) losses.drop('top_p', 'the model refuses it');
    if (topK !== undefined) losses.drop('top_k', 'the model refuses it');
    return { ...kept, stop_sequences: encodeStop(request.stop, losses) };
  }
  const fitting = temperature === undefined ? undefined : Math.min(Math.max(temperature, traits.leastTemperature), 1);
  const thinks = plan.manual || (traits.signs && traits.isKnown && plan.thinking?.type === 'adaptive');
  const heated = thinks && temperature !== undefined && temperature !== 1;
  if (heated) losses.drop('temperature', 'thinking allows only 1');
  else if (fitting !== temperature) losses.approximate('temperature', String(fitting));
  if (thinks && topK !== undefined) losses.drop('top_k', 'not with thinking');
  const sent = heated ? undefined : fitting;
  const coarse = thinks && topP !== undefined && topP < leastThinkingTopP;
  const second = !traits.samplingPair && sent !== undefined && topP !== undefined;
  if (coarse) losses.drop('top_p', `thinking allows only ${leastThinkingTopP} to 1`);
  else if (second) losses.drop('top_p', 'the model accepts temperature or top_p, not both');
  return {
    temperature: sent,
    top_p: coarse || second ? undefined : topP,
    top_k: thinks ? undefined : topK,
    stop_sequences: encodeStop(request.stop, losses),
  };
};

/** The lowest `top_p` with thinking. Source: Anthropic documentation, "Extended thinking", "Feature compatibility". */
const leastThinkingTopP = 0.95;

/** The vendor rejects stop sequences that are only white space. */
const encodeStop = (stop: readonly string[] | undefined, losses: Losses): readonly string[] | undefined => {
  const carried = stop?.filter((sequence) => sequence.trim() !== '');
  if (stop && carried && carried.length < stop.length) losses.drop('stop', 'only white space');
  return carried && carried.length > 0 ? carried : undefined;
};

const encodeOutput = ({ output }: ModelRequest, { effort }: ThinkingPlan, losses: Losses): JsonObject | undefined => {
  const format = output?.type === 'json-schema' ? { type: 'json_schema', schema: output.schema } : undefined;
  if (output?.type === 'json-schema') recordSchemaLoss(output, losses);
  return effort || format ? { effort, format } : undefined;
};

const encodeTier = (tier: string | undefined, losses: Losses): string | undefined => {
  const asked = tierOf(tier);
  if (asked === 'auto') return 'auto';
  if (asked === 'default') return 'standard_only';
  if (tier !== undefined) losses.drop('service_tier', tier);
  return undefined;
};

const dropUncarried = (request: ModelRequest, losses: Losses): void => {
  const uncarried = {
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
    logit_bias: request.logitBias,
    verbosity: request.verbosity,
    metadata: request.metadata,
    prompt_cache_key: request.promptCacheKey,
    // Unstored replies can't be retrieved later. The vendor never stores them, so `store: false` needs no loss.
    store: request.store || undefined,
  };
  for (const [name, value] of Object.entries(uncarried)) if (value !== undefined) losses.drop(name);
};

/** Merges unmodelled members into the request's own; objects in both are joined. */
const withExtra = (fields: JsonObject, extra: JsonObject | undefined, losses: Losses): JsonObject => {
  const joined: JsonDraft = { ...fields };
  for (const [name, value] of Object.entries(extra ?? {})) {
    const own = fields[name];
    if (name === 'thinking' && !own && isJsonObject(value) && value.type === undefined) {
      // The rest of a dropped thinking request has no meaning on its own.
      losses.drop(name);
      continue;
    }
    joined[name] = isJsonObject(own) && isJsonObject(value) ? { ...own, ...value } : value;
  }
  return joined;
};

/** Keeps the default of the output limit, which Messages requires, within the model's maximum. */
export const boundOutput = (request: ModelRequest, maxOutput: number, server: MessagesServer): ModelRequest => {
  const { maxTokens, reasoning, model } = request;
  if (maxTokens !== undefined) return request;
  const usual = messagesTraits(model, server).maxTokens;
  const most = reasoning ? usual + Math.max(usual, reasoning.budget ?? 0) : usual;
  return most <= maxOutput ? request : { ...request, maxTokens: maxOutput };
};
