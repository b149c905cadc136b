import { dropSchemaWords } from '../../engine/model/drop-schema-words.ts';
import { isJsonObject, type JsonDraft, type JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { RequestContext } from '../../engine/model/protocol.ts';
import type { ModelRequest, Part, Turn } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import { carriedParts, mergeTurns } from './carried-parts.ts';
import { encodeParts } from './encode-parts.ts';
import { encodeTools } from './encode-tools.ts';
import { cacheControl, ownExtra } from './extra.ts';
import { pairCalls } from './pair-calls.ts';
import { planThinking, type ThinkingPlan } from './plan-thinking.ts';

/**
 * Request → the body of `/v1/messages`. Mends the history where the vendor's rules are stricter than other formats'.
 * Throws an `unsupported` fault for audio, another vendor's files and a forced choice of another vendor's tool.
 */
export const encodeRequest = (request: ModelRequest, context: RequestContext): JsonObject => {
  const { losses } = context;
  const turns = mendTurns(request.turns, losses);
  const { tools, tool_choice } = encodeTools(request, turns, context);
  const forced = tool_choice?.type === 'any' || tool_choice?.type === 'tool';
  const plan = planThinking(request, turns, forced, losses);
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
        ...encodeSampling(request, plan, losses),
        thinking: plan.thinking,
        output_config: encodeOutput(request, plan, losses),
        metadata: request.user === undefined ? undefined : { user_id: request.user },
        service_tier: encodeTier(request.serviceTier, losses),
        cache_control: cacheControl(request.cache),
      },
      ownExtra(request.extra, losses),
      losses,
    ),
    stream: request.stream,
  };
};

/** The history as the vendor takes it. */
const mendTurns = (turns: readonly Turn[], losses: Losses): readonly Turn[] => {
  const carried = turns.map((turn) => carryTurn(turn, losses));
  const paired = pairCalls(mergeTurns(carried.filter(hasParts)), losses);
  return trimPrefill(mergeTurns(paired.filter(hasParts)), losses);
};

const carryTurn = ({ name, ...turn }: Turn, losses: Losses): Turn => {
  const at = turn.at ?? 'messages';
  if (name !== undefined) losses.drop(memberPath(at, 'name'));
  const extra = ownExtra(turn.extra, losses) && turn.extra;
  return { ...turn, parts: carriedParts(turn.parts, at, losses), extra };
};

const hasParts = ({ parts }: Turn): boolean => parts.length > 0;

/** An answer that is to be continued must not end in white space. */
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
    context.losses.approximate('messages', 'empty: a full stop stands in');
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
    context.losses.approximate('response_format', 'asked for in the system prompt');
    blocks.push({ type: 'text', text: 'Reply with one JSON object and nothing else.' });
  }
  return blocks.length > 0 ? blocks : undefined;
};

const encodeSampling = (request: ModelRequest, plan: ThinkingPlan, losses: Losses): JsonObject => {
  const { temperature, topK } = request;
  const clamped = temperature !== undefined && temperature > 1;
  const heated = plan.manual && temperature !== undefined && temperature !== 1;
  if (heated) losses.drop('temperature', 'thinking allows 1 alone');
  else if (clamped) losses.approximate('temperature', '1');
  if (plan.manual && topK !== undefined) losses.drop('top_k', 'not with thinking');
  return {
    temperature: heated ? undefined : clamped ? 1 : temperature,
    top_p: request.topP,
    top_k: plan.manual ? undefined : topK,
    stop_sequences: encodeStop(request.stop, losses),
  };
};

/** The vendor refuses stop sequences of white space alone. */
const encodeStop = (stop: readonly string[] | undefined, losses: Losses): readonly string[] | undefined => {
  const carried = stop?.filter((sequence) => sequence.trim() !== '');
  if (stop && carried && carried.length < stop.length) losses.drop('stop', 'white space alone');
  return carried && carried.length > 0 ? carried : undefined;
};

const encodeOutput = ({ output }: ModelRequest, { effort }: ThinkingPlan, losses: Losses): JsonObject | undefined => {
  const format = output?.type === 'json-schema' ? { type: 'json_schema', schema: output.schema } : undefined;
  if (output?.type === 'json-schema') dropSchemaWords(output, losses);
  return effort || format ? { effort, format } : undefined;
};

const encodeTier = (tier: string | undefined, losses: Losses): string | undefined => {
  if (tier === undefined || tier === 'auto') return tier;
  if (tier === 'default' || tier === 'standard_only') return 'standard_only';
  losses.drop('service_tier', tier);
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
    // What isn't kept at the vendor can't be asked for later; that nothing is kept, the vendor grants to all.
    store: request.store || undefined,
  };
  for (const [name, value] of Object.entries(uncarried)) if (value !== undefined) losses.drop(name);
};

/** The request's own members with what else it brought; objects that have both are joined. */
const withExtra = (fields: JsonObject, extra: JsonObject | undefined, losses: Losses): JsonObject => {
  const joined: JsonDraft = { ...fields };
  for (const [name, value] of Object.entries(extra ?? {})) {
    const own = fields[name];
    if (name === 'thinking' && !own && isJsonObject(value) && value.type === undefined) {
      // The rest of a thinking request that couldn't go out means nothing by itself.
      losses.drop(name);
      continue;
    }
    joined[name] = isJsonObject(own) && isJsonObject(value) ? { ...own, ...value } : value;
  }
  return joined;
};
