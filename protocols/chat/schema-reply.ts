import Type, { type Static } from 'typebox';
import { AnyObject, maybe } from './schema-request.ts';

const Count = maybe(Type.Number());

/**
 * Token counts, including those of compatible servers. Source: OpenAI API reference, "The chat completion object";
 * recordings.
 */
export const WireUsage = Type.Object({
  prompt_tokens: Count,
  completion_tokens: Count,
  prompt_tokens_details: maybe(Type.Object({ cached_tokens: Count, cache_write_tokens: Count })),
  completion_tokens_details: maybe(Type.Object({ reasoning_tokens: Count })),
  prompt_cache_hit_tokens: Count,
  prompt_cache_miss_tokens: Count,
  server_tool_use_details: maybe(Type.Object({ web_search_requests: Count })),
  /** USD; some servers have an object here. */
  cost: Type.Optional(Type.Unknown()),
  is_byok: Type.Optional(Type.Unknown()),
  cost_details: Type.Optional(Type.Unknown()),
});
export type WireUsage = Static<typeof WireUsage>;

/** A tool call, whole or a fragment. */
export const WireCall = Type.Object({
  index: Count,
  id: maybe(Type.String()),
  type: maybe(Type.String()),
  function: maybe(
    Type.Object({ name: maybe(Type.String()), arguments: maybe(Type.Union([Type.String(), AnyObject])) }),
  ),
  custom: maybe(Type.Object({ name: maybe(Type.String()), input: maybe(Type.String()) })),
});
export type WireCall = Static<typeof WireCall>;

/** An entry of `annotations`. */
export const WireAnnotation = Type.Object({
  type: maybe(Type.String()),
  url_citation: maybe(
    Type.Object({
      url: Type.String(),
      title: maybe(Type.String()),
      content: maybe(Type.String()),
      start_index: Count,
      end_index: Count,
    }),
  ),
});
export type WireAnnotation = Static<typeof WireAnnotation>;

/** A chunk's `delta` and a reply's `message`: the same members, in pieces or whole. */
export const WireMessage = Type.Object({
  content: maybe(Type.Union([Type.String(), Type.Array(Type.Object({ text: maybe(Type.String()) }))])),
  refusal: maybe(Type.String()),
  reasoning_content: maybe(Type.String()),
  reasoning: maybe(Type.String()),
  reasoning_details: maybe(Type.Array(AnyObject)),
  tool_calls: maybe(Type.Array(WireCall)),
  /** A call in the older format. */
  function_call: maybe(Type.Object({ name: maybe(Type.String()), arguments: maybe(Type.String()) })),
  annotations: maybe(Type.Array(AnyObject)),
  audio: Type.Optional(Type.Unknown()),
  images: Type.Optional(Type.Unknown()),
});
export type WireMessage = Static<typeof WireMessage>;

const Choice = Type.Object({
  delta: maybe(WireMessage),
  finish_reason: maybe(Type.String()),
  error: Type.Optional(Type.Unknown()),
});
/** A choice of a chunk. */
export type Choice = Static<typeof Choice>;

/** One `chat.completion.chunk`. Unknown members are allowed. Source: OpenAI API reference, "Chat streaming". */
export const Chunk = Type.Object({
  id: maybe(Type.String()),
  model: maybe(Type.String()),
  choices: maybe(Type.Array(Choice)),
  usage: maybe(WireUsage),
  service_tier: maybe(Type.String()),
});
export type Chunk = Static<typeof Chunk>;

/** A whole `chat.completion`. A filtered choice may have no message. Source: OpenAI API reference; recordings. */
export const ChatReply = Type.Object({
  id: maybe(Type.String()),
  model: maybe(Type.String()),
  choices: Type.Array(
    Type.Object({
      message: maybe(WireMessage),
      finish_reason: maybe(Type.String()),
      error: Type.Optional(Type.Unknown()),
    }),
    { minItems: 1 },
  ),
  usage: maybe(WireUsage),
  service_tier: maybe(Type.String()),
});
export type ChatReply = Static<typeof ChatReply>;
