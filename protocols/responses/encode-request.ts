import type { Json, JsonDraft, JsonObject } from '../../engine/model/json.ts';
import { isJsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { RequestContext } from '../../engine/model/protocol.ts';
import type { ModelRequest, OutputFormat } from '../../engine/model/request.ts';
import { markCache } from './encode-content.ts';
import { encodeInstruction, encodeTurns } from './encode-input.ts';
import { encodeReasoning } from './encode-reasoning.ts';
import { encodeToolMembers } from './encode-tools.ts';
import { newEncoding } from './encoding.ts';
import { keepExtra } from './keep-extra.ts';
import { reasoningOf } from './model-traits.ts';

/**
 * A request → body. Nothing is kept at the vendor unless the client asked for it; sealed reasoning is asked for, so that it
 * can come back with the next turn. Source: OpenAI API reference, "Create a model response".
 */
export const encodeRequest = (request: ModelRequest, { names, losses, client }: RequestContext): JsonObject => {
  const encoding = newEncoding(request, losses, client, (name) => names.wire(name, fits, maxName));
  const front = request.system.filter(({ at }) => !at?.startsWith('input'));
  const messages = request.system.filter((part) => !front.includes(part));
  for (const part of front) markCache(part, { ...encoding, cacheMarks: false });
  for (const { extra } of front) keepExtra(extra, losses);
  const instructions = front
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
  // Tools come before the conversation, so that a name which fits is never taken by one that had to be changed.
  const toolMembers = encodeToolMembers(request, encoding);
  const extra = keepExtra(request.extra, losses);
  recordMissing(request, losses);
  const body: JsonDraft = {
    model: request.model,
    ...(instructions !== '' && { instructions }),
    input: [...messages.map((part) => encodeInstruction(part, encoding)), ...encodeTurns(request.turns, encoding)],
    ...toolMembers,
    ...limits(request, losses),
    ...text(request, extra),
    ...reasoning(request, losses, extra),
    ...(request.metadata && { metadata: request.metadata }),
    ...user(request, extra, losses),
    ...(request.promptCacheKey !== undefined && { prompt_cache_key: request.promptCacheKey }),
    ...(request.serviceTier !== undefined && { service_tier: tiers[request.serviceTier] ?? request.serviceTier }),
    stream: request.stream,
  };
  const { text: _text, reasoning: _reasoning, include, ...rest } = extra;
  return { ...body, ...stored(request, client), ...included(request.model, include), ...rest };
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

/** The least that the vendor takes. */
const minTokens = 16;

const limits = (request: ModelRequest, losses: Losses): JsonObject => {
  const { maxTokens, temperature, topP, model } = request;
  const members: JsonDraft = {};
  if (maxTokens !== undefined) {
    if (maxTokens < minTokens) losses.approximate('max_tokens', `raised to ${minTokens}`);
    members.max_output_tokens = Math.max(minTokens, maxTokens);
  }
  const refuses = reasoningOf(model) === 'always' && request.reasoning?.mode !== 'off';
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

const reasoning = (request: ModelRequest, losses: Losses, extra: JsonObject): JsonObject => {
  const members = { ...encodeReasoning(request, losses), ...objectOf(extra.reasoning) };
  return Object.keys(members).length > 0 ? { reasoning: members } : {};
};

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Characters that the vendor takes. */
const maxUser = 64;

const user = ({ user: name }: ModelRequest, { safety_identifier: other }: JsonObject, losses: Losses): JsonObject => {
  if (name === undefined) return {};
  // A client of this protocol may name the user twice.
  if (other !== undefined) return { user: name };
  if (name.length > maxUser) losses.approximate('user', `cut to ${maxUser} characters`);
  return { safety_identifier: name.slice(0, maxUser) };
};

/** Other protocols' words for a tier. */
const tiers: Readonly<Record<string, string>> = { standard_only: 'default', standard: 'default' };

/** Clients of this protocol know that answers are kept unless they say otherwise; no others expect it. */
const stored = ({ store }: ModelRequest, client: RequestContext['client']): JsonObject => {
  if (store === undefined) return client === 'responses' ? {} : { store: false };
  return { store };
};

const included = (model: string, include: Json | undefined): JsonObject => {
  const asked = Array.isArray(include) ? include : [];
  // Models that don't reason refuse the whole request when asked for sealed reasoning.
  const all = reasoningOf(model) === 'never' ? asked : ['reasoning.encrypted_content', ...asked];
  return all.length > 0 ? { include: all } : {};
};
