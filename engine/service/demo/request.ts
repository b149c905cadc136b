import { Type } from 'typebox';
import { reader } from '../../model/schema.ts';

const Text = Type.Object({ type: Type.Literal('text'), text: Type.String() });
const Image = Type.Object({ type: Type.Literal('image_url'), image_url: Type.Object({ url: Type.String() }) });
const Other = Type.Object({ type: Type.String() });
const Call = Type.Object({ id: Type.String(), function: Type.Object({ name: Type.String() }) });

const Message = Type.Object({
  role: Type.String(),
  content: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Union([Text, Image, Other])), Type.Null()])),
  tool_calls: Type.Optional(Type.Union([Type.Array(Call), Type.Null()])),
  tool_call_id: Type.Optional(Type.String()),
});
export type Message = Type.Static<typeof Message>;

const DemoTool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), parameters: Type.Optional(Type.Unknown()) }),
});
export type DemoTool = Type.Static<typeof DemoTool>;

const Named = Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) });
const Allowed = Type.Object({
  type: Type.Literal('allowed_tools'),
  allowed_tools: Type.Object({ mode: Type.String(), tools: Type.Array(Named) }),
});

/** The members of a Chat Completions request that the demo reads. Source: OpenAI API reference, "Create chat completion". */
export const DemoRequest = Type.Object({
  model: Type.String(),
  messages: Type.Array(Message, { minItems: 1 }),
  tools: Type.Optional(Type.Union([Type.Array(Type.Union([DemoTool, Other])), Type.Null()])),
  tool_choice: Type.Optional(Type.Union([Type.String(), Named, Allowed])),
  parallel_tool_calls: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  stream_options: Type.Optional(
    Type.Union([Type.Object({ include_usage: Type.Optional(Type.Boolean()) }), Type.Null()]),
  ),
  reasoning_effort: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  enable_thinking: Type.Optional(Type.Boolean()),
  thinking: Type.Optional(Type.Object({ type: Type.String() })),
  max_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
  max_completion_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
  response_format: Type.Optional(Type.Object({ type: Type.String() })),
});
export type DemoRequest = Type.Static<typeof DemoRequest>;

/** Validates a request. Throws an `invalid-request` fault that names the invalid field. */
export const readDemoRequest = reader(DemoRequest).read;

/** The function tools of a request. */
export const toolsOf = ({ tools }: DemoRequest): readonly DemoTool[] =>
  (tools ?? []).flatMap((tool) => ('function' in tool && tool.type === 'function' ? [tool] : []));

/** A message's text parts, joined by line feeds. */
export const textOf = ({ content }: Message): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).flatMap((part) => ('text' in part && part.type === 'text' ? [part.text] : [])).join('\n');

/** URLs of a message's images. */
export const imagesOf = ({ content }: Message): readonly string[] =>
  typeof content === 'string'
    ? []
    : (content ?? []).flatMap((part) => ('image_url' in part ? [part.image_url.url] : []));
