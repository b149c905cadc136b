import { unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import type { DecodeSettings } from '../../../engine/model/protocol.ts';
import type { Extra, FunctionTool, ModelRequest, Tool, ToolChoice } from '../../../engine/model/request.ts';
import { reader } from '../../../engine/model/schema.ts';
import { cacheMark, unknownMembers, unsupportedWhileStrict } from './decode-content.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { decodeFunctionChoice, decodeFunctions } from './legacy-functions.ts';
import { ChatRequest, JsonSchemaFormat } from './schema-request.ts';

/** Whether a field's value requests something; null never does. */
const refusals: Readonly<Record<string, (value: Json) => boolean>> = {
  n: (value) => value !== 1,
  logprobs: (value) => value !== false,
  top_logprobs: (value) => value !== 0,
  audio: () => true,
  modalities: (value) => !Array.isArray(value) || value.some((modality) => modality !== 'text'),
  store: (value) => value !== false,
  prediction: () => true,
  previous_response_id: () => true,
  conversation: () => true,
};

/** Refused only with `CHAT_STRICT`. */
const strictRefusals: typeof refusals = {
  functions: (value) => !Array.isArray(value) || value.length > 0,
  function_call: (value) => value !== 'none',
};

/** Fields that this endpoint refuses unless they are absent, null or at their default. */
const refusedFields: ReadonlySet<string> = new Set(Object.keys(refusals));

const chatRequest = reader(ChatRequest);
const jsonSchemaFormat = reader(JsonSchemaFormat);
const knownMembers = new Set([...Object.keys(ChatRequest.properties), ...refusedFields]);
/** Settings for callers without a configuration. */
const strictly: DecodeSettings = { chatStrict: true };
const streamMembers = new Set(['include_usage']);

/**
 * Decodes a `POST /chat/completions` body. Throws an `invalid-request` fault for an invalid body, an `unsupported`
 * one for a feature that this endpoint doesn't support. Null counts as absent.
 */
export const decodeRequest = (body: JsonObject, { chatStrict: strict } = strictly): ModelRequest => {
  refuseUnsupported(body, strict);
  const asked = chatRequest.read(body);
  const { system, turns } = decodeMessages(asked.messages, strict);
  return {
    model: asked.model,
    system,
    turns,
    tools: toolsOf(asked),
    toolChoice: toolChoiceOf(asked),
    // The older format allows one call only.
    parallelToolCalls: readsFunctionCalls(body) ? false : (asked.parallel_tool_calls ?? undefined),
    maxTokens: asked.max_completion_tokens ?? asked.max_tokens ?? undefined,
    temperature: asked.temperature ?? undefined,
    topP: asked.top_p ?? undefined,
    topK: asked.top_k ?? undefined,
    stop: stopList(asked.stop),
    seed: asked.seed ?? undefined,
    presencePenalty: asked.presence_penalty ?? undefined,
    frequencyPenalty: asked.frequency_penalty ?? undefined,
    logitBias: asked.logit_bias ?? undefined,
    reasoning: asked.reasoning_effort ? { effort: asked.reasoning_effort, wire: 'chat' } : undefined,
    output: outputFormat(asked),
    verbosity: asked.verbosity ?? undefined,
    stream: asked.stream ?? false,
    streamUsage: wantsUsage(asked),
    user: asked.safety_identifier ?? asked.user ?? undefined,
    metadata: asked.metadata ?? undefined,
    serviceTier: asked.service_tier ?? undefined,
    promptCacheKey: asked.prompt_cache_key ?? undefined,
    cache: asked.cache_control ? cacheMark({ type: 'ephemeral', ttl: asked.cache_control.ttl ?? null }) : undefined,
    extra: requestExtra(body, asked),
  };
};

const toolsOf = ({ tools, functions, web_search_options: search }: ChatRequest): readonly Tool[] => {
  const older = functions?.length ? decodeFunctions(functions) : noFunctions;
  return tools?.length || search || older.length > 0 ? decodeTools(tools ?? [], search, older) : older;
};

const noFunctions: readonly FunctionTool[] = [];

const toolChoiceOf = ({ tool_choice, functions, function_call }: ChatRequest): ToolChoice | undefined => {
  if (tool_choice !== undefined && tool_choice !== null) return decodeToolChoice(tool_choice);
  return functions?.length ? decodeFunctionChoice(function_call) : undefined;
};

const wantsUsage = ({ stream_options }: ChatRequest): boolean | undefined =>
  stream_options?.include_usage === true ? true : undefined;

const stopList = (stop: ChatRequest['stop']): readonly string[] | undefined => {
  const list = typeof stop === 'string' ? [stop] : (stop ?? []);
  return list.length > 0 ? list : undefined;
};

const outputFormat = ({ response_format }: ChatRequest): ModelRequest['output'] => {
  if (!response_format) return undefined;
  if (response_format.type === 'json_schema') {
    const { schema, name, description, strict } = jsonSchemaFormat.read(
      response_format.json_schema ?? {},
      'response_format.json_schema',
    );
    return {
      type: 'json-schema',
      schema: schema ?? {},
      name: name ?? undefined,
      description: description ?? undefined,
      strict: strict ?? undefined,
    };
  }
  return { type: response_format.type === 'json_object' ? 'json' : 'text' };
};

/** Unknown members, and known ones that the model holds no copy of. */
const requestExtra = (body: JsonObject, asked: ChatRequest): Extra | undefined => {
  const unknown = unknownMembers(body, knownMembers);
  const streaming = asked.stream_options ? unknownMembers(asked.stream_options, streamMembers) : undefined;
  const secondUser = asked.safety_identifier && asked.user ? asked.user : undefined;
  const secondLimit = asked.max_completion_tokens && asked.max_tokens ? asked.max_tokens : undefined;
  if (!unknown && !streaming && secondUser === undefined && secondLimit === undefined) return undefined;
  const fields = {
    ...unknown,
    ...(streaming && { stream_options: streaming }),
    ...(secondUser !== undefined && { user: secondUser }),
    ...(secondLimit !== undefined && { max_tokens: secondLimit }),
  };
  return { wire: 'chat', at: '', fields };
};

/** Whether the client declares tools in the older format only, so that it reads calls in that format too. */
export const readsFunctionCalls = ({ functions, tools }: JsonObject): boolean =>
  Array.isArray(functions) && functions.length > 0 && !(Array.isArray(tools) && tools.length > 0);

/** Whether the body uses the older format, which most vendors reject. */
export const usesFunctions = (body: JsonObject): boolean =>
  (Array.isArray(body.functions) && body.functions.length > 0) ||
  (Array.isArray(body.messages) &&
    body.messages.some(
      (message) => isJsonObject(message) && (message.role === 'function' || isJsonObject(message.function_call)),
    ));

/** Refuses a request for a feature that would get lost silently. Throws an `unsupported` fault. */
const refuseUnsupported = (body: JsonObject, strict: boolean): void => {
  for (const field in refusals) {
    const value = body[field];
    if (value !== undefined && value !== null && refusals[field]?.(value)) unsupported(field);
  }
  if (strict) refuseStrictly(body);
  const moderation = body.moderation;
  if (isJsonObject(moderation) && isJsonObject(moderation.policy)) unsupported('moderation.policy');
};

const refuseStrictly = (body: JsonObject): void => {
  for (const field in strictRefusals) {
    const value = body[field];
    if (value !== undefined && value !== null && strictRefusals[field]?.(value)) unsupportedWhileStrict(field);
  }
  const format = body.response_format;
  if (isJsonObject(format) && format.type === 'json_schema') {
    unsupportedWhileStrict('response_format.type', 'response_format.type "json_schema"');
  }
};
