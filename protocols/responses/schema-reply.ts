import Type, { type Static } from 'typebox';
import { orNull } from './schema-request.ts';

const Texts = orNull(Type.Array(Type.Object({ text: orNull(Type.String()) })));

/** Token counts of a reply; `input_tokens` includes cached tokens. */
export const UsageCounts = Type.Object({
  input_tokens: orNull(Type.Number()),
  input_tokens_details: orNull(
    Type.Object({ cached_tokens: orNull(Type.Number()), cache_write_tokens: orNull(Type.Number()) }),
  ),
  output_tokens: orNull(Type.Number()),
  output_tokens_details: orNull(Type.Object({ reasoning_tokens: orNull(Type.Number()) })),
});
export type UsageCounts = Static<typeof UsageCounts>;

/** A response object, complete or not. Source: OpenAI API reference, "The response object". */
export const ResponseObject = Type.Object({
  id: orNull(Type.String()),
  model: orNull(Type.String()),
  status: orNull(Type.String()),
  output: orNull(Type.Array(Type.Object({ type: Type.String() }))),
  usage: orNull(UsageCounts),
  error: Type.Optional(Type.Unknown()),
  incomplete_details: orNull(Type.Object({ reason: orNull(Type.String()) })),
  service_tier: orNull(Type.String()),
});
export type ResponseObject = Static<typeof ResponseObject>;

/** An event of a stream; its members depend on its type. Source: OpenAI API reference, "Streaming events". */
export const StreamEvent = Type.Object({
  output_index: orNull(Type.Integer({ minimum: 0 })),
  content_index: orNull(Type.Integer({ minimum: 0 })),
  summary_index: orNull(Type.Integer({ minimum: 0 })),
  item_id: orNull(Type.String()),
  delta: orNull(Type.String()),
  /** The whole text of a completed part. */
  text: orNull(Type.String()),
  refusal: orNull(Type.String()),
  arguments: orNull(Type.String()),
  input: orNull(Type.String()),
  item: orNull(Type.Object({ type: Type.String(), id: orNull(Type.String()) })),
  part: orNull(Type.Object({ type: orNull(Type.String()) })),
  annotation: orNull(Type.Record(Type.String(), Type.Unknown())),
});
export type StreamEvent = Static<typeof StreamEvent>;

export const ReplyMessage = Type.Object({
  content: orNull(
    Type.Array(
      Type.Object({
        type: Type.String(),
        text: orNull(Type.String()),
        refusal: orNull(Type.String()),
        annotations: orNull(Type.Array(Type.Unknown())),
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
  id: orNull(Type.String()),
  call_id: orNull(Type.String()),
  name: orNull(Type.String()),
  namespace: orNull(Type.String()),
  arguments: orNull(Type.String()),
  input: orNull(Type.String()),
});
export type ReplyCall = Static<typeof ReplyCall>;
