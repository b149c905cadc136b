import type { RequestContext } from '../../../engine/model/context.ts';
import { tierOf } from '../../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { isOff, type ModelRequest, type OutputFormat } from '../../../engine/model/request.ts';
import { wireUserId } from '../../../engine/model/wire/user-id.ts';
import { compactionBody } from '../compact.ts';
import { type ResponsesServer, type ResponsesTraits, responsesTraits } from '../dialect.ts';
import { encodeExtra, newContentContext } from './encode-content.ts';
import { encodeSystem, encodeTurns } from './encode-messages.ts';
import { encodeReasoning } from './encode-reasoning.ts';
import { encodeToolMembers } from './encode-tools.ts';
import { narrowed } from './narrow.ts';

/**
 * Encodes a body. The vendor stores nothing unless the client requested it; encrypted reasoning is requested, so that
 * clients can return it. Source: OpenAI API reference, "Create a model response".
 */
export const encodeRequest = (
  request: ModelRequest,
  { names, losses, client }: RequestContext,
  server: ResponsesServer = 'full',
): JsonObject => {
  const traits = responsesTraits(request.model, server);
  const { compaction } = request;
  const context = newContentContext(
    request,
    losses,
    client,
    traits,
    (name) => names.wire(name, fits, maxName),
    names.callIds,
  );
  const { instructions, messages } = encodeSystem(request.system, context);
  // Tools come before the conversation, so that a valid name is never assigned to a renamed tool.
  const toolMembers = encodeToolMembers(request, context);
  const extra = encodeExtra(request.extra, losses);
  recordMissing(request, losses);
  const body: JsonDraft = {
    model: request.model,
    ...(instructions !== '' && { instructions }),
    input: [
      ...messages,
      ...encodeTurns(request.turns, context),
      ...context.toolItems.rest(),
      ...(compaction?.raw?.wire === 'responses' ? [compaction.raw.value] : []),
    ],
    ...toolMembers,
    ...limits(request, traits, losses),
    ...text(request, extra),
    ...reasoning(request, traits, losses, extra),
    ...(request.metadata && { metadata: request.metadata }),
    ...user(request, extra, losses),
    ...(request.promptCacheKey !== undefined && { prompt_cache_key: request.promptCacheKey }),
    ...(request.serviceTier !== undefined && { service_tier: tierOf(request.serviceTier) ?? request.serviceTier }),
    stream: request.stream,
  };
  const { text: _text, reasoning: _reasoning, include, ...rest } = extra;
  const whole = { ...body, ...stored(request, client), ...included(request, traits, include), ...rest };
  if (compaction?.byPath) return compactionBody(whole);
  return server === 'narrow' ? narrowed(whole, losses) : whole;
};

const fits = /^[a-zA-Z0-9_-]{1,64}$/;
const maxName = 64;

const recordMissing = (request: ModelRequest, losses: Losses): void => {
  const missing = {
    stop: request.stop?.length ? request.stop : undefined,
    seed: request.seed,
    presence_penalty: request.presencePenalty || undefined,
    frequency_penalty: request.frequencyPenalty || undefined,
    logit_bias: request.logitBias,
    top_k: request.topK,
    cache_control: request.cache,
  };
  for (const [field, value] of Object.entries(missing)) if (value !== undefined) losses.drop(field);
};

/** The vendor's minimum. */
const minTokens = 16;

const limits = (request: ModelRequest, traits: ResponsesTraits, losses: Losses): JsonObject => {
  const { maxTokens, temperature, topP } = request;
  const members: JsonDraft = {};
  if (maxTokens !== undefined) {
    if (maxTokens < minTokens) losses.approximate('max_tokens', `raised to ${minTokens}`);
    members.max_output_tokens = Math.max(minTokens, maxTokens);
  }
  const unthinking = request.reasoning !== undefined && isOff(request.reasoning) && traits.efforts.none === 'none';
  const refuses = !traits.sampling && !unthinking;
  for (const [name, value] of [
    ['temperature', temperature],
    ['top_p', topP],
  ] as const) {
    if (value === undefined) continue;
    if (!refuses) members[name] = value;
    else if (value !== 1) losses.drop(name, 'the model refuses it');
  }
  return members;
};

const text = (request: ModelRequest, extra: JsonObject): JsonObject => {
  const { format, ...more } = objectOf(extra.text);
  const members: JsonDraft = {
    ...(request.output && { format: { ...encodeFormat(request.output), ...objectOf(format) } }),
    ...(request.verbosity && { verbosity: request.verbosity }),
    ...more,
  };
  return Object.keys(members).length > 0 ? { text: members } : {};
};

const encodeFormat = (output: OutputFormat): JsonObject => {
  switch (output.type) {
    case 'text':
      return { type: 'text' };
    case 'json':
      return { type: 'json_object' };
    case 'json-schema': {
      const { schema, name = 'response', description, strict } = output;
      return {
        type: 'json_schema',
        name,
        schema,
        ...(description !== undefined && { description }),
        ...(strict !== undefined && { strict }),
      };
    }
    default:
      return output satisfies never;
  }
};

const reasoning = (request: ModelRequest, traits: ResponsesTraits, losses: Losses, extra: JsonObject): JsonObject => {
  const members = { ...encodeReasoning(request, traits, losses), ...objectOf(extra.reasoning) };
  return Object.keys(members).length > 0 ? { reasoning: members } : {};
};

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The vendor's maximum is 64 characters. */
const userFits = /^[\s\S]{1,64}$/;

const user = ({ user: name }: ModelRequest, { safety_identifier: other }: JsonObject, losses: Losses): JsonObject => {
  if (name === undefined) return {};
  // A client of this protocol may send the user id under two names.
  if (other !== undefined) return { user: name };
  return { safety_identifier: wireUserId(name, userFits, losses) };
};

/** Clients of this protocol expect replies to be stored by default; others don't. */
const stored = ({ store }: ModelRequest, client: RequestContext['client']): JsonObject => {
  if (store === undefined) return client === 'responses' ? {} : { store: false };
  return { store };
};

const included = (request: ModelRequest, traits: ResponsesTraits, include: Json | undefined): JsonObject => {
  const asked = Array.isArray(include) ? include : [];
  // Models without reasoning reject a request for encrypted reasoning.
  const wantsEncrypted =
    traits.reasoning && (traits.reasonsByDefault || asksReasoning(request) || carriesReasoning(request));
  const all = wantsEncrypted ? ['reasoning.encrypted_content', ...asked] : asked;
  return all.length > 0 ? { include: all } : {};
};

const asksReasoning = ({ reasoning: asked }: ModelRequest): boolean => asked !== undefined && !isOff(asked);

const carriesReasoning = ({ turns }: ModelRequest): boolean =>
  turns.some(({ parts }) => parts.some(({ type }) => type === 'thinking' || type === 'redacted-thinking'));
