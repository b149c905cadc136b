import Type, { type Static, type TSchema } from 'typebox';
import type { JsonObject } from '../../../engine/model/json/json.ts';

/** A member that may be absent or null; null counts as absent. */
export const maybe = <const S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

/** Any JSON object; its decoder checks the members. */
export const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}));

/** The reasoning effort. Source: OpenAI API reference, "Create chat completion", `reasoning_effort`. */
const EffortWord = Type.Union([
  Type.Literal('none'),
  Type.Literal('minimal'),
  Type.Literal('low'),
  Type.Literal('medium'),
  Type.Literal('high'),
  Type.Literal('xhigh'),
  Type.Literal('max'),
]);

/** The decoded members of a request body. Source: OpenAI API reference, "Create chat completion". */
export const ChatRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(AnyObject, { minItems: 1 }),
  max_tokens: maybe(Type.Integer({ minimum: 1 })),
  max_completion_tokens: maybe(Type.Integer({ minimum: 1 })),
  temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
  /** Not in the reference, but accepted by many compatible servers. */
  top_k: maybe(Type.Integer({ minimum: 0 })),
  stop: maybe(Type.Union([Type.String(), Type.Array(Type.String())])),
  seed: maybe(Type.Integer()),
  presence_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: maybe(Type.Record(Type.String(), Type.Number())),
  tools: maybe(Type.Array(AnyObject)),
  tool_choice: maybe(Type.Union([Type.String(), AnyObject])),
  parallel_tool_calls: maybe(Type.Boolean()),
  /** The older format of `tools` and `tool_choice`. */
  functions: maybe(Type.Array(AnyObject)),
  function_call: maybe(Type.Union([Type.String(), AnyObject])),
  response_format: maybe(
    Type.Object({
      type: Type.Union([Type.Literal('text'), Type.Literal('json_object'), Type.Literal('json_schema')]),
      json_schema: maybe(AnyObject),
    }),
  ),
  reasoning_effort: maybe(EffortWord),
  verbosity: maybe(Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')])),
  stream: maybe(Type.Boolean()),
  stream_options: maybe(Type.Unsafe<JsonObject>(Type.Object({ include_usage: maybe(Type.Boolean()) }))),
  user: maybe(Type.String()),
  safety_identifier: maybe(Type.String()),
  metadata: maybe(Type.Record(Type.String(), Type.String())),
  service_tier: maybe(Type.String()),
  prompt_cache_key: maybe(Type.String()),
  web_search_options: maybe(AnyObject),
  cache_control: maybe(
    Type.Object({ type: Type.String(), ttl: maybe(Type.Union([Type.Literal('5m'), Type.Literal('1h')])) }),
  ),
});
export type ChatRequest = Static<typeof ChatRequest>;

/** `cache_control` as in the Messages protocol; some clients set it on parts and tools. */
export const CacheControl = Type.Object({
  type: Type.Literal('ephemeral'),
  ttl: maybe(Type.Union([Type.Literal('5m'), Type.Literal('1h')])),
});
export type CacheControl = Static<typeof CacheControl>;

const Content = Type.Union([Type.String(), Type.Array(AnyObject)]);

/** A system, developer or user message. */
export const PlainMessage = Type.Object({ role: Type.String(), content: Content, name: maybe(Type.String()) });

export const AssistantMessage = Type.Object({
  content: maybe(Content),
  name: maybe(Type.String()),
  refusal: maybe(Type.String()),
  tool_calls: maybe(Type.Array(AnyObject)),
  function_call: maybe(AnyObject),
  /** Reasoning of a compatible vendor, returned by the client. */
  reasoning_content: maybe(Type.String()),
  reasoning: maybe(Type.String()),
  reasoning_details: maybe(Type.Array(AnyObject)),
});
export type AssistantMessage = Static<typeof AssistantMessage>;

/** The JSON Schema member of `response_format`. */
export const JsonSchemaFormat = Type.Object({
  name: maybe(Type.String()),
  description: maybe(Type.String()),
  schema: maybe(AnyObject),
  strict: maybe(Type.Boolean()),
});

/** An entry of `functions`. */
export const LegacyFunction = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: maybe(Type.String()),
  parameters: maybe(AnyObject),
});

/** An assistant's `function_call`. */
export const LegacyCall = Type.Object({ name: Type.String({ minLength: 1 }), arguments: maybe(Type.String()) });

/** A message with the role `function`. */
export const LegacyResult = Type.Object({ name: Type.String({ minLength: 1 }), content: maybe(Content) });

/** `function_call` of a request, where it forces a function. */
export const LegacyChoice = Type.Object({ name: Type.String({ minLength: 1 }) });

export const ToolMessage = Type.Object({ content: Content, tool_call_id: Type.String({ minLength: 1 }) });

export const TextPartBody = Type.Object({ text: Type.String(), cache_control: maybe(CacheControl) });

export const ImagePartBody = Type.Object({
  image_url: Type.Unsafe<{ url: string; detail?: 'auto' | 'low' | 'high' | 'original' | null } & JsonObject>(
    Type.Object({
      url: Type.String({ minLength: 1 }),
      detail: maybe(
        Type.Union([Type.Literal('auto'), Type.Literal('low'), Type.Literal('high'), Type.Literal('original')]),
      ),
    }),
  ),
  cache_control: maybe(CacheControl),
});

export const RefusalPartBody = Type.Object({ refusal: Type.String() });

export const FunctionCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: maybe(Type.String()) }),
});

export const FunctionToolBody = Type.Object({
  function: Type.Unsafe<
    { name: string; description?: string | null; parameters?: JsonObject | null; strict?: boolean | null } & JsonObject
  >(
    Type.Object({
      name: Type.String({ minLength: 1 }),
      description: maybe(Type.String()),
      parameters: maybe(AnyObject),
      strict: maybe(Type.Boolean()),
    }),
  ),
  cache_control: maybe(CacheControl),
});

/** The decoded members of a hosted web search: a typed tool or `web_search_options`. */
export const WebSearchBody = Type.Object({
  search_context_size: maybe(Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')])),
  user_location: maybe(AnyObject),
  filters: maybe(
    Type.Object({
      allowed_domains: maybe(Type.Array(Type.String())),
      blocked_domains: maybe(Type.Array(Type.String())),
    }),
  ),
  max_uses: maybe(Type.Integer({ minimum: 1 })),
});

/** An object form of `tool_choice`. */
export const NamedChoice = Type.Object({ function: Type.Object({ name: Type.String({ minLength: 1 }) }) });
export const AllowedChoice = Type.Object({
  allowed_tools: Type.Object({
    mode: Type.Union([Type.Literal('auto'), Type.Literal('required')]),
    tools: Type.Array(AnyObject),
  }),
});
