import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { RequestContext } from '../../engine/model/protocol.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import type { ChatDialect, ChatField } from './dialect.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeOutput } from './encode-output.ts';
import { encodeReasoning } from './encode-reasoning.ts';
import { encodeTools } from './encode-tools.ts';
import { writeExtra } from './extra.ts';
import { cacheMember, takes } from './takes.ts';

/**
 * Request → a `POST /chat/completions` body as the dialect has it. Throws an `unsupported` fault for content and tools that
 * the client must not lose unnoticed.
 */
export const encodeRequest =
  (dialect: ChatDialect) =>
  (request: ModelRequest, context: RequestContext): JsonObject => {
    const { losses } = context;
    // Declared names come first, so that a call in the history is written as its tool is.
    const tools = encodeTools(request, dialect, context);
    const output = encodeOutput(request, dialect, losses);
    const body: JsonDraft = {
      model: request.model,
      messages: encodeMessages(request, dialect, context, output.note),
      ...tools,
    };
    if (request.maxTokens !== undefined) body[dialect.maxTokens] = request.maxTokens;
    for (const [field, value] of plainFields(request)) {
      if (value === undefined) continue;
      if (takes(dialect, request.model, field)) body[field] = value;
      // Models that take no temperature still have one: the default.
      else if (field !== 'temperature' || value !== 1) losses.drop(field);
    }
    encodeTier(request, dialect, context, body);
    encodeStop(request, dialect, context, body);
    if (output.format) body.response_format = output.format;
    Object.assign(body, encodeReasoning(request, dialect, losses));
    encodeUser(request, dialect, context, body);
    if (request.store) losses.drop('store');
    if (request.cache) {
      if (dialect.cacheMarks?.form === 'cache_control') {
        Object.assign(body, cacheMember(request.cache, dialect, request.model, '', losses));
      } else losses.drop('cache_control');
    }
    if (request.stream) {
      body.stream = true;
      // Usage comes only when it is asked for; the client's half shows it or not, unless the reply is relayed as it comes.
      if (!context.relaysReply || request.streamUsage) body.stream_options = { include_usage: true };
    }
    writeExtra(body, request.extra, losses, refusedExtra(dialect, request.stream));
    return body;
  };

const plainFields = (request: ModelRequest): readonly (readonly [ChatField, JsonObject[string]])[] => [
  ['temperature', request.temperature],
  ['top_p', request.topP],
  ['top_k', request.topK],
  ['seed', request.seed],
  ['presence_penalty', request.presencePenalty],
  ['frequency_penalty', request.frequencyPenalty],
  ['logit_bias', request.logitBias],
  ['verbosity', request.verbosity],
  ['metadata', request.metadata],
  ['prompt_cache_key', request.promptCacheKey],
];

const refusedExtra =
  (dialect: ChatDialect, stream: boolean) =>
  (name: string): boolean =>
    dialect.refusedExtra.has(name) ||
    (dialect.takenExtra !== undefined && !dialect.takenExtra.has(name)) ||
    // One limit is enough, and the newer name's counts.
    name === 'max_tokens' ||
    // Refused upstream where nothing is streamed.
    (name === 'stream_options' && !stream);

const encodeTier = (
  { serviceTier, model }: ModelRequest,
  dialect: ChatDialect,
  { losses }: RequestContext,
  body: JsonDraft,
): void => {
  if (serviceTier === undefined) return;
  const word = dialect.serviceTiers[serviceTier];
  if (word === undefined || !takes(dialect, model, 'service_tier')) losses.drop('service_tier');
  else body.service_tier = word;
};

const encodeStop = (
  { stop, model }: ModelRequest,
  dialect: ChatDialect,
  { losses }: RequestContext,
  body: JsonDraft,
): void => {
  if (!stop) return;
  if (!takes(dialect, model, 'stop')) {
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
  if (dialect.user?.fits.test(user)) body[dialect.user.field] = user;
  else losses.drop('user');
};
