import Type, { type Static, type TSchema } from 'typebox';

/** A member that may be absent or null; null counts as absent. */
export const orNull = <const S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

const words = <W extends string>(...all: W[]) => Type.Enum(all);

/** Any JSON object; its decoder checks the members. */
export const Members = Type.Record(Type.String(), Type.Unknown());

/** A kind of answer; its decoder checks the other members. */
const Format = Type.Object({ type: Type.String() });

const Effort = words('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');

/**
 * The request body. `input`, `tools` and `tool_choice` are checked item by item, so that a fault names the exact
 * path. Source: OpenAI API reference, "Create a model response".
 */
export const Body = Type.Object({
  /** Absent, as in some agents' follow-up requests: the routing rules decide. */
  model: orNull(Type.String({ minLength: 1 })),
  input: orNull(Type.Union([Type.String(), Type.Array(Members)])),
  instructions: orNull(Type.String()),
  tools: orNull(Type.Array(Members)),
  tool_choice: orNull(Type.Union([words('auto', 'none', 'required'), Members])),
  parallel_tool_calls: orNull(Type.Boolean()),
  /** Visible and reasoning tokens together. */
  max_output_tokens: orNull(Type.Integer({ minimum: 1 })),
  temperature: orNull(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: orNull(Type.Number({ minimum: 0, maximum: 1 })),
  stream: orNull(Type.Boolean()),
  stream_options: orNull(Members),
  store: orNull(Type.Boolean()),
  background: orNull(Type.Boolean()),
  previous_response_id: orNull(Type.String()),
  include: orNull(Type.Array(Type.String())),
  text: orNull(
    Type.Object({
      format: orNull(Format),
      verbosity: orNull(words('low', 'medium', 'high')),
    }),
  ),
  reasoning: orNull(
    Type.Object({
      effort: orNull(Effort),
      summary: orNull(words('auto', 'concise', 'detailed', 'none')),
      /** The older name of `summary`. */
      generate_summary: orNull(words('auto', 'concise', 'detailed', 'none')),
    }),
  ),
  metadata: orNull(Type.Record(Type.String(), Type.String())),
  user: orNull(Type.String()),
  safety_identifier: orNull(Type.String()),
  prompt_cache_key: orNull(Type.String()),
  service_tier: orNull(Type.String()),
});
export type Body = Static<typeof Body>;

/** Settings for the rest of the conversation. */
export const ConfigurationItem = Type.Object({
  reasoning: orNull(Type.Object({ effort: orNull(Effort) })),
  text: orNull(Type.Object({ format: orNull(Format) })),
});
export type ConfigurationItem = Static<typeof ConfigurationItem>;

/** `text.format` of the kind `json_schema`; flat here, unlike in chat completions. */
export const SchemaFormat = Type.Object({
  name: Type.String(),
  schema: Members,
  description: orNull(Type.String()),
  strict: orNull(Type.Boolean()),
});

/** A message; `type` may be absent. */
export const MessageItem = Type.Object({
  role: words('user', 'assistant', 'system', 'developer'),
  content: Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))]),
});
export type MessageItem = Static<typeof MessageItem>;

export const FunctionCallItem = Type.Object({
  call_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  arguments: Type.String(),
  namespace: orNull(Type.String()),
});

export const CustomCallItem = Type.Object({
  call_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  input: Type.String(),
  namespace: orNull(Type.String()),
});

/**
 * A `function_call_output` or `custom_tool_call_output`. A plain JSON object, which some clients send, counts as its
 * text.
 */
export const CallOutputItem = Type.Object({
  /** Null for the output of a call outside the conversation. */
  call_id: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  name: orNull(Type.String()),
  output: orNull(Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() })), Members])),
});

const Texts = orNull(Type.Array(Type.Object({ text: Type.String() })));

export const ReasoningItem = Type.Object({
  summary: Texts,
  content: Texts,
  encrypted_content: orNull(Type.String()),
});

export const ReferenceItem = Type.Object({ id: Type.String() });

export const TextContent = Type.Object({
  text: Type.String(),
  annotations: orNull(Type.Array(Members)),
});

export const RefusalContent = Type.Object({ refusal: Type.String() });

export const ImageContent = Type.Object({
  /** An https or data URL; a string here, an object in chat completions. */
  image_url: orNull(Type.String()),
  file_id: orNull(Type.String()),
  detail: orNull(words('auto', 'low', 'high', 'original')),
});

export const FileContent = Type.Object({
  /** A data URL, or plain base64. */
  file_data: orNull(Type.String()),
  file_url: orNull(Type.String()),
  file_id: orNull(Type.String()),
  filename: orNull(Type.String()),
});

export const AudioContent = Type.Object({
  input_audio: Type.Object({ data: Type.String(), format: Type.String() }),
});

/** The common members of tools. */
export const AnyTool = Type.Object({ type: Type.String({ minLength: 1 }) });

/** A function tool; its members aren't nested. */
export const FunctionToolItem = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: orNull(Type.String()),
  parameters: orNull(Members),
  strict: orNull(Type.Boolean()),
});

export const CustomToolItem = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: orNull(Type.String()),
  format: orNull(Members),
});

export const NamespaceToolItem = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: orNull(Type.String()),
  tools: Type.Array(Members),
});

export const WebSearchToolItem = Type.Object({
  filters: orNull(
    Type.Object({
      allowed_domains: orNull(Type.Array(Type.String())),
      blocked_domains: orNull(Type.Array(Type.String())),
    }),
  ),
  search_context_size: orNull(words('low', 'medium', 'high')),
  user_location: orNull(Members),
});

/** A forced tool. */
export const NamedChoice = Type.Object({ name: Type.String(), namespace: orNull(Type.String()) });

export const AllowedChoice = Type.Object({
  mode: words('auto', 'required'),
  tools: Type.Array(Type.Object({ type: Type.String(), name: orNull(Type.String()) })),
});
