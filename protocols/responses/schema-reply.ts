import Type, { type Static } from 'typebox';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { copied } from '../../engine/model/schema.ts';
import { orNull } from './decode-request/schema-request.ts';

const Texts = orNull(Type.Array(Type.Object({ text: orNull(Type.String()) })));

const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}));
const Count = copied(Type.Number());
const Name = copied(Type.String());
const Index = copied(Type.Integer({ minimum: 0 }));

/** Token counts of a reply; `input_tokens` includes cached tokens. */
export const UsageCounts = Type.Object({
  input_tokens: Count,
  input_tokens_details: copied(Type.Object({ cached_tokens: Count, cache_write_tokens: Count })),
  output_tokens: Count,
  output_tokens_details: copied(Type.Object({ reasoning_tokens: Count })),
});
export type UsageCounts = Static<typeof UsageCounts>;

/** A response object, complete or not. Source: OpenAI API reference, "The response object". */
export const ResponseObject = Type.Object({
  id: Name,
  model: Name,
  status: orNull(Type.String()),
  output: orNull(Type.Array(Type.Object({ type: Type.String() }))),
  usage: copied(UsageCounts),
  error: Type.Optional(Type.Unknown()),
  incomplete_details: copied(Type.Object({ reason: Name })),
  service_tier: Name,
  input_transformations: Type.Optional(Type.Unknown()),
});
export type ResponseObject = Static<typeof ResponseObject>;

/** An event of a stream; its members depend on its type. Source: OpenAI API reference, "Streaming events". */
export const StreamEvent = Type.Object({
  output_index: Index,
  content_index: Index,
  summary_index: Index,
  item_id: Name,
  delta: orNull(Type.String()),
  /** The whole text of a completed part. */
  text: orNull(Type.String()),
  refusal: orNull(Type.String()),
  arguments: orNull(Type.String()),
  input: orNull(Type.String()),
  item: orNull(Type.Object({ type: Type.String(), id: Name })),
  part: copied(Type.Object({ type: Name })),
  annotation: copied(Type.Record(Type.String(), Type.Unknown())),
});
export type StreamEvent = Static<typeof StreamEvent>;

export const ReplyMessage = Type.Object({
  content: orNull(
    Type.Array(
      Type.Object({
        type: Type.String(),
        text: orNull(Type.String()),
        refusal: orNull(Type.String()),
        annotations: copied(Type.Array(Type.Unknown())),
      }),
    ),
  ),
});
export type ReplyMessage = Static<typeof ReplyMessage>;

export const ReplyReasoning = Type.Object({
  summary: Texts,
  content: Texts,
  encrypted_content: orNull(Type.String()),
});
export type ReplyReasoning = Static<typeof ReplyReasoning>;

/** A `function_call` or `custom_tool_call`. */
export const ReplyCall = Type.Object({
  type: Type.String(),
  id: Name,
  call_id: Name,
  name: orNull(Type.String()),
  namespace: orNull(Type.String()),
  arguments: orNull(Type.Union([Type.String(), AnyObject])),
  input: orNull(Type.String()),
});
export type ReplyCall = Static<typeof ReplyCall>;
