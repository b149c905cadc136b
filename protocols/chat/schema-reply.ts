import Type, { type Static } from 'typebox';
import { copied } from '../../engine/model/schema.ts';
import { AnyObject, maybe } from './decode-request/schema-request.ts';

const Count = copied(Type.Number());
const Name = copied(Type.String());

/**
 * Token counts, including those of compatible servers. Source: OpenAI API reference, "The chat completion object";
 * recordings.
 */
export const WireUsage = Type.Object({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: copied(Type.Object({ cached_tokens: Count, cache_write_tokens: Count })),
  completion_tokens_details: copied(Type.Object({ reasoning_tokens: Count })),
  /** Of servers that don't count by details. */
  cached_tokens: Count,
  reasoning_tokens: Count,
  prompt_cache_hit_tokens: Count,
  prompt_cache_miss_tokens: Count,
  server_tool_use_details: copied(Type.Object({ web_search_requests: Count })),
  /** USD; some servers have an object here. */
  cost: Type.Optional(Type.Unknown()),
  is_byok: Type.Optional(Type.Unknown()),
  cost_details: Type.Optional(Type.Unknown()),
});
export type WireUsage = Static<typeof WireUsage>;

/** A tool call, whole or a fragment. */
export const WireCall = Type.Object({
  index: Count,
  id: Name,
  type: Name,
  function: maybe(
    Type.Object({ name: maybe(Type.String()), arguments: maybe(Type.Union([Type.String(), AnyObject])) }),
  ),
  custom: maybe(Type.Object({ name: maybe(Type.String()), input: maybe(Type.String()) })),
});
export type WireCall = Static<typeof WireCall>;

/** An entry of `annotations`. */
export const WireAnnotation = Type.Object({
  type: Name,
  url_citation: maybe(
    Type.Object({ url: Type.String(), title: Name, content: Name, start_index: Count, end_index: Count }),
  ),
});
export type WireAnnotation = Static<typeof WireAnnotation>;

/** A chunk's `delta` and a reply's `message`: the same members, in pieces or whole. */
export const WireMessage = Type.Object({
  /** Text, or a list of parts, of which servers have several kinds. */
  content: Type.Optional(Type.Unknown()),
  refusal: maybe(Type.String()),
  /** Readable reasoning, under one of several names; each may be a text or a list of parts. */
  reasoning_content: Type.Optional(Type.Unknown()),
  reasoning: Type.Optional(Type.Unknown()),
  reasoning_text: Type.Optional(Type.Unknown()),
  thinking: Type.Optional(Type.Unknown()),
  reasoning_details: copied(Type.Array(AnyObject)),
  tool_calls: maybe(Type.Array(WireCall)),
  /** A call in the older format. */
  function_call: maybe(Type.Object({ name: maybe(Type.String()), arguments: maybe(Type.String()) })),
  annotations: copied(Type.Array(AnyObject)),
  audio: Type.Optional(Type.Unknown()),
  images: Type.Optional(Type.Unknown()),
});
export type WireMessage = Static<typeof WireMessage>;

const Choice = Type.Object({
  delta: maybe(WireMessage),
  finish_reason: maybe(Type.String()),
  /** The word of the model's own vendor, behind a host that serves many. */
  native_finish_reason: Type.Optional(Type.Unknown()),
  error: Type.Optional(Type.Unknown()),
  usage: copied(WireUsage),
});
/** A choice of a chunk. */
export type Choice = Static<typeof Choice>;

/** One `chat.completion.chunk`. Unknown members are allowed. Source: OpenAI API reference, "Chat streaming". */
export const Chunk = Type.Object({
  id: Name,
  model: Name,
  choices: maybe(Type.Array(Choice)),
  usage: copied(WireUsage),
  service_tier: Name,
});
export type Chunk = Static<typeof Chunk>;

const Chance = { token: Type.String(), logprob: Type.Number() };
/** A token of an answer and what might have stood in its place. */
export const WireToken = Type.Object({ ...Chance, top_logprobs: maybe(Type.Array(Type.Object(Chance))) });

/** A whole `chat.completion`. A filtered choice may have no message. Source: OpenAI API reference; recordings. */
export const ChatReply = Type.Object({
  id: Name,
  model: Name,
  choices: Type.Array(
    Type.Object({
      message: maybe(WireMessage),
      finish_reason: maybe(Type.String()),
      native_finish_reason: Type.Optional(Type.Unknown()),
      error: Type.Optional(Type.Unknown()),
      usage: copied(WireUsage),
      /** Read of decisions alone; servers have several forms. */
      logprobs: Type.Optional(Type.Unknown()),
    }),
    { minItems: 1 },
  ),
  usage: copied(WireUsage),
  service_tier: Name,
});
export type ChatReply = Static<typeof ChatReply>;
