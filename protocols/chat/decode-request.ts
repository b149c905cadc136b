import type { JsonObject } from '../../engine/model/json.ts';
import type { Extra, ModelRequest } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';
import { cacheMark } from './decode-content.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { unknownMembers } from './extra.ts';
import { refusedFields, refuseUnsupported } from './refuse-unsupported.ts';
import { ChatRequest } from './schema.ts';

const chatRequest = reader(ChatRequest);
const knownMembers = new Set([...Object.keys(ChatRequest.properties), ...refusedFields]);
const streamMembers = new Set(['include_usage']);

/**
 * A `POST /chat/completions` body → request. Throws an `invalid-request` fault for what breaks the format and an `unsupported`
 * one for what this route can't carry. Null counts as absent.
 */
export const decodeRequest = (body: JsonObject): ModelRequest => {
  refuseUnsupported(body);
  const asked = chatRequest.read(body);
  const { system, turns } = decodeMessages(asked.messages);
  return {
    model: asked.model,
    system,
    turns,
    tools: decodeTools(asked.tools ?? [], asked.web_search_options),
    toolChoice: decodeToolChoice(asked.tool_choice),
    parallelToolCalls: asked.parallel_tool_calls ?? undefined,
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

const wantsUsage = ({ stream_options }: ChatRequest): boolean | undefined =>
  stream_options?.include_usage === true ? true : undefined;

const stopList = (stop: ChatRequest['stop']): readonly string[] | undefined => {
  const list = typeof stop === 'string' ? [stop] : (stop ?? []);
  return list.length > 0 ? list : undefined;
};

const outputFormat = ({ response_format }: ChatRequest): ModelRequest['output'] => {
  if (!response_format) return undefined;
  return { type: response_format.type === 'json_object' ? 'json' : 'text' };
};

/** Unknown members, and of known ones what the model has no second place for. */
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
