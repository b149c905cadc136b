import type { RequestContext } from '../../../engine/model/context.ts';
import { mostChances } from '../../../engine/model/decision.ts';
import { tierOf } from '../../../engine/model/event.ts';
import type { Json, JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { isOff, type ModelRequest, type Part } from '../../../engine/model/request.ts';
import { wireUserId } from '../../../engine/model/wire/user-id.ts';
import { type ChatDialect, type ChatField, cacheMember, takes } from '../dialect.ts';
import { writeExtra } from './encode-content.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeReasoning, thinkingIsLifted } from './encode-reasoning.ts';
import { encodeTools } from './encode-tools.ts';

/**
 * Encodes a `POST /chat/completions` body in the model's dialect. Throws an `unsupported` fault for content and tools
 * that must not get lost silently.
 */
export const encodeRequest =
  (dialectOf: (model: string) => ChatDialect) =>
  (request: ModelRequest, context: RequestContext): JsonObject => {
    const { losses } = context;
    const dialect = dialectOf(request.model);
    // Declared names come first, so that calls in the history use their tool's name.
    const tools = hasTools(request) ? encodeTools(request, dialect, context) : undefined;
    const output = encodeOutput(request, dialect, losses);
    const body: JsonDraft = {
      model: request.model,
      messages: encodeMessages(request, dialect, context, output.note),
      ...tools,
    };
    if (request.maxTokens !== undefined) body[dialect.maxTokens] = withinLimit(request.maxTokens, dialect, losses);
    for (const [field, member, usual] of plainFields) {
      const value = request[member];
      if (value === undefined || (dialect.omitsDefaults && value === usual)) continue;
      const beside = excludedBy(field, request, dialect);
      if (beside !== undefined && value !== usual) losses.drop(field, `not together with ${beside}`);
      else if (beside === undefined && takes(dialect, field)) {
        body[dialect.fieldNames[field] ?? field] = member === 'temperature' ? accepted(value, dialect, losses) : value;
        // Nothing is lost of a default.
      } else if (beside === undefined && value !== usual) losses.drop(field);
    }
    encodeTier(request, dialect, context, body);
    encodeStop(request, dialect, context, body);
    if (output.format) body.response_format = output.format;
    if (request.decision && takes(dialect, 'logprobs'))
      Object.assign(body, { logprobs: true, top_logprobs: mostChances });
    if (concernsReasoning(request, dialect)) Object.assign(body, encodeReasoning(request, dialect, losses));
    encodeUser(request, dialect, context, body);
    if (request.store) losses.drop('store');
    if (request.cache) {
      if (dialect.cacheMarks === 'cache_control') {
        Object.assign(body, cacheMember(request.cache, dialect, '', losses));
      } else losses.drop('cache_control');
    }
    if (request.stream) {
      body.stream = true;
      // Usage is returned only on request. Whether the client sees it is decided on the way back.
      if (dialect.streamUsage) body.stream_options = { include_usage: true };
    }
    writeExtra(body, request.extra, losses, rejectedExtra(dialect, request.stream));
    return body;
  };

const hasTools = ({ tools, toolChoice, parallelToolCalls }: ModelRequest): boolean =>
  tools.length > 0 || toolChoice !== undefined || parallelToolCalls !== undefined;

/** Whether the request has reasoning controls, or the dialect has members for requests without them. */
const concernsReasoning = (request: ModelRequest, dialect: ChatDialect): boolean =>
  request.reasoning !== undefined ||
  dialect.toolsWithoutReasoning !== undefined ||
  dialect.reasoningReply?.when === 'always' ||
  (dialect.reasoning?.form === 'switch' && dialect.reasoning.streamsOnly === true && !request.stream);

/** Fields that keep their value, the request's members that hold them, and their defaults. */
const plainFields = [
  ['temperature', 'temperature', 1],
  ['top_p', 'topP', 1],
  ['top_k', 'topK', undefined],
  ['seed', 'seed', undefined],
  ['presence_penalty', 'presencePenalty', 0],
  ['frequency_penalty', 'frequencyPenalty', 0],
  ['logit_bias', 'logitBias', undefined],
  ['verbosity', 'verbosity', undefined],
  ['metadata', 'metadata', undefined],
  ['prompt_cache_key', 'promptCacheKey', undefined],
] as const satisfies readonly (readonly [ChatField, keyof ModelRequest, Json | undefined])[];

/** What keeps a field from being sent: another member of the request, or reasoning. */
const excludedBy = (field: ChatField, request: ModelRequest, dialect: ChatDialect): string | undefined =>
  dialect.excludes.find(({ beside, left }) => left.includes(field) && isAsked(beside, request, dialect))?.beside;

/** Whether a request has what keeps other members from being sent. */
export const isAsked = (asked: ChatField | 'reasoning', request: ModelRequest, dialect: ChatDialect): boolean => {
  const { reasoning } = request;
  if (asked === 'reasoning') return reasoning !== undefined && !isOff(reasoning) && !thinkingIsLifted(request, dialect);
  const member = plainFields.find(([field]) => field === asked)?.[1];
  return member !== undefined && request[member] !== undefined;
};

/** The client's output token limit, or the highest that the vendor accepts. */
const withinLimit = (asked: number, { mostTokens }: ChatDialect, losses: Losses): number => {
  if (mostTokens === undefined || asked <= mostTokens) return asked;
  losses.approximate('max_tokens', `${mostTokens}, the vendor's maximum`);
  return mostTokens;
};

/** A temperature within the vendor's range. */
const accepted = (asked: Json, { temperatures }: ChatDialect, losses: Losses): Json => {
  if (!temperatures || typeof asked !== 'number') return asked;
  const [least, most] = temperatures;
  const taken = Math.min(Math.max(asked, least), most);
  if (taken !== asked) losses.approximate('temperature', String(taken));
  return taken;
};

const rejectedExtra =
  (dialect: ChatDialect, stream: boolean) =>
  (name: string): boolean =>
    dialect.rejectedExtra.has(name) ||
    (dialect.acceptedExtra !== undefined && !dialect.acceptedExtra.has(name)) ||
    // One limit is enough; the newer name wins.
    name === 'max_tokens' ||
    // Servers reject it without streaming.
    (name === 'stream_options' && !(stream && dialect.streamUsage));

const encodeTier = (
  { serviceTier }: ModelRequest,
  dialect: ChatDialect,
  { losses }: RequestContext,
  body: JsonDraft,
): void => {
  if (serviceTier === undefined) return;
  const tier = tierOf(serviceTier);
  const word = tier && dialect.serviceTiers[tier];
  if (word === undefined || !takes(dialect, 'service_tier')) losses.drop('service_tier');
  else body.service_tier = word;
};

const encodeStop = (
  { stop }: ModelRequest,
  dialect: ChatDialect,
  { losses }: RequestContext,
  body: JsonDraft,
): void => {
  if (!stop) return;
  if (!takes(dialect, 'stop')) {
    losses.drop('stop');
    return;
  }
  if (stop.length > dialect.maxStops) losses.approximate('stop', `the first ${dialect.maxStops} of ${stop.length}`);
  body.stop = stop.slice(0, dialect.maxStops);
};

const encodeUser = (
  { user }: ModelRequest,
  dialect: ChatDialect,
  { losses }: RequestContext,
  body: JsonDraft,
): void => {
  if (user === undefined) return;
  if (dialect.user) body[dialect.user.field] = wireUserId(user, dialect.user.fits, losses);
  else losses.drop('user');
};

/** `response_format`, and an instruction where the vendor has no member for the format. */
interface EncodedOutput {
  readonly format?: JsonObject;
  readonly note?: string;
}

/** Output format → `response_format`. A schema becomes an instruction if the vendor accepts none. */
const encodeOutput = (request: ModelRequest, dialect: ChatDialect, losses: Losses): EncodedOutput => {
  const { output } = request;
  if (!output || output.type === 'text') return {};
  if (output.type === 'json') {
    if (dialect.jsonMode) {
      const format = { type: 'json_object' };
      if (!dialect.jsonWord || saysJson(request)) return { format };
      losses.approximate('response_format', 'with an instruction: the prompt must contain the word');
      return { format, note: 'Answer in JSON.' };
    }
    losses.approximate('response_format', 'an instruction');
    return { note: 'Answer with one JSON object and nothing else.' };
  }
  const { schema, name, description, strict } = output;
  if (dialect.jsonSchema) {
    const named = { name: safeName(name), ...(description !== undefined && { description }) };
    const { subset } = dialect.toolSchema;
    const written = subset ? subset(schema, 'response_format.json_schema.schema', losses) : schema;
    const json_schema = { ...named, schema: written, ...(strict !== undefined && { strict }) };
    return { format: { type: 'json_schema', json_schema } };
  }
  losses.approximate('response_format', 'the schema became an instruction');
  const note = `Answer with one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  return dialect.jsonMode ? { format: { type: 'json_object' }, note } : { note };
};

/** A schema name needs 1 to 64 safe characters. Source: OpenAI API reference, "Create chat completion". */
const safeName = (name: string | undefined): string =>
  (name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'answer';

/** Up to the first user turn: what comes later must not change the instructions, or no cache matches. */
const saysJson = ({ system, turns }: ModelRequest): boolean => {
  const beginning = turns.slice(0, turns.findIndex(({ role }) => role === 'user') + 1);
  return [...system, ...beginning.flatMap(({ parts }) => parts)].some(partSaysJson);
};

const partSaysJson = (part: Part): boolean => {
  if (part.type === 'tool-result') return part.content.some(partSaysJson);
  return part.type === 'text' && /json/i.test(part.text);
};
