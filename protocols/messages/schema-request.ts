import { type TSchema, Type } from 'typebox';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';

/** A member that may be absent or null: the vendor's SDKs send both. */
const optional = <const S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}));
const Texts = Type.Union([Type.String(), Type.Array(Type.Unknown())]);
const Items = Type.Array(Type.Unknown());
const Name = Type.String({ minLength: 1 });

const shared = {
  model: Name,
  messages: Type.Array(Type.Unknown(), { minItems: 1 }),
  system: optional(Texts),
  stream: optional(Type.Boolean()),
  temperature: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: 0 })),
  stop_sequences: optional(Type.Array(Type.String())),
  tools: optional(Items),
  tool_choice: optional(AnyObject),
  thinking: optional(AnyObject),
  output_config: optional(AnyObject),
  output_format: optional(AnyObject),
  metadata: optional(AnyObject),
  service_tier: optional(Type.String()),
  cache_control: optional(AnyObject),
  /** Asks for a summary in place of an answer. Source: Anthropic documentation, "Compaction", beta of September 2026. */
  compaction: Type.Optional(Type.Unsafe<Json>(Type.Unknown())),
};

/** The request for a summary on demand. */
export const Summarize = Type.Object({ type: Type.Literal('summarize'), instructions: optional(Type.String()) });

/** The body of `POST /v1/messages`. Source: Anthropic API reference, "Create a Message". */
export const MessagesBody = Type.Object({ ...shared, max_tokens: Type.Integer({ minimum: 0 }) });

/** The body of `POST /v1/messages/count_tokens`. Source: Anthropic API reference, "Count tokens in a Message". */
export const CountBody = Type.Object({ ...shared, max_tokens: optional(Type.Integer({ minimum: 0 })) });

/** An entry of `messages`. `system` in mid-conversation is a newer role. */
export const Message = Type.Object({
  role: Type.Union([Type.Literal('user'), Type.Literal('assistant'), Type.Literal('system')]),
  content: Texts,
});

/** Content block types that the decoder turns into parts. */
export type DecodedBlock =
  | 'text'
  | 'image'
  | 'document'
  | 'search_result'
  | 'thinking'
  | 'redacted_thinking'
  | 'tool_use'
  | 'tool_result';

/**
 * All known content block types; unknown ones are kept as they are, like those without a decoder. Source: Anthropic API
 * reference, "Create a Message", and the types of the vendor's SDK 1.14.
 */
export type BlockType =
  | DecodedBlock
  | 'tool_reference'
  | 'tool_addition'
  | 'tool_removal'
  | 'compaction'
  | 'container_upload'
  | 'fallback'
  | 'server_tool_use'
  | 'web_search_tool_result'
  | 'web_fetch_tool_result'
  | 'code_execution_tool_result'
  | 'bash_code_execution_tool_result'
  | 'text_editor_code_execution_tool_result'
  | 'tool_search_tool_result'
  | 'advisor_tool_result'
  | 'mcp_tool_use'
  | 'mcp_tool_result'
  | 'mcp_tool_listing';

/** The common members of content blocks and sources. */
export const Typed = Type.Unsafe<JsonObject & { readonly type: string }>(Type.Object({ type: Type.String() }));

// Content blocks by type; unknown types are kept. Source: Anthropic API reference, "Create a Message".
const cacheable = { type: Type.String(), cache_control: optional(AnyObject) };

/** Text, with citations in an earlier reply. */
export const TextBlock = Type.Object({ ...cacheable, text: Type.String(), citations: optional(Type.Array(AnyObject)) });
/** An image; its source has several types. */
export const ImageBlock = Type.Object({ ...cacheable, source: Typed });
const Citing = optional(Type.Object({ enabled: optional(Type.Boolean()) }));
/** A document; its source has several types. */
export const DocumentBlock = Type.Object({
  ...cacheable,
  source: Typed,
  title: optional(Type.String()),
  context: optional(Type.String()),
  citations: Citing,
});
/** A search result from the client. */
export const SearchResultBlock = Type.Object({
  ...cacheable,
  source: Type.String(),
  title: Type.String(),
  content: Items,
  citations: Citing,
});
/** Readable reasoning of an earlier reply. */
export const ThinkingBlock = Type.Object({
  type: Type.String(),
  thinking: Type.String(),
  /** Required by the vendor; absent if a client replays another vendor's reasoning. */
  signature: optional(Type.String()),
});
/** Encrypted reasoning of an earlier reply. */
export const RedactedThinkingBlock = Type.Object({ type: Type.String(), data: Type.String() });
/** The model's call of a client tool. */
export const ToolUseBlock = Type.Object({ ...cacheable, id: Name, name: Name, input: AnyObject });
/** The result of such a call. */
export const ToolResultBlock = Type.Object({
  ...cacheable,
  tool_use_id: Name,
  content: optional(Texts),
  is_error: optional(Type.Boolean()),
});

/** A tool that a search found. */
export const ToolReferenceBlock = Type.Object({ type: Type.String(), tool_name: Name });
/** A tool that is added or removed in mid-conversation. */
export const ToolChangeBlock = Type.Object({ type: Type.String(), tool: Typed });
/** The tool of a change, by its name among the request's tools. */
export const NamedReference = Type.Object({ type: Type.String(), name: Name });
/** The tool of a change, by value. */
export const ToolDefinition = Type.Object({ type: Type.String(), definition: AnyObject });
/** A summary that replaces what stands before it; without a text if there was nothing to summarize. */
export const CompactionBlock = Type.Object({
  type: Type.String(),
  content: optional(Type.String()),
  encrypted_content: optional(Type.String()),
});

/** A source with inline data. */
export const Base64Data = Type.Object({ type: Type.String(), media_type: Type.String(), data: Type.String() });
/** A source with a URL. */
export const UrlData = Type.Object({ type: Type.String(), url: Type.String() });
/** A source with a file uploaded to the vendor. */
export const FileData = Type.Object({ type: Type.String(), file_id: Type.String() });
/** A document source with plain text. */
export const TextData = Type.Object({ type: Type.String(), media_type: optional(Type.String()), data: Type.String() });
/** A document source with content blocks. */
export const ContentData = Type.Object({ type: Type.String(), content: Texts });

/** A citation of a web page; other types stay opaque. */
export const WebCitation = Type.Object({
  type: Type.Literal('web_search_result_location'),
  url: Type.String(),
  title: optional(Type.String()),
  cited_text: optional(Type.String()),
});

/** The common members of tools. */
export const AnyTool = Type.Unsafe<JsonObject>(
  Type.Object({ type: optional(Type.String()), name: optional(Type.String()) }),
);

/** A tool that the client runs. Source: Anthropic API reference, "Create a Message", `tools`. */
export const ClientTool = Type.Object({
  type: optional(Type.String()),
  name: Name,
  description: optional(Type.String()),
  input_schema: AnyObject,
  strict: optional(Type.Boolean()),
  cache_control: optional(AnyObject),
});

/** The vendor's web search: the members that other vendors have too. */
export const WebSearch = Type.Object({
  type: Type.String(),
  /** The same for all searches. */
  name: optional(Type.String()),
  max_uses: optional(Type.Integer()),
  allowed_domains: optional(Type.Array(Type.String())),
  blocked_domains: optional(Type.Array(Type.String())),
  user_location: optional(AnyObject),
});

/** `tool_choice` of any type. */
export const ToolChoiceBody = Type.Object({
  type: Type.String(),
  name: optional(Type.String()),
  disable_parallel_tool_use: optional(Type.Boolean()),
});
/** A `tool_choice` that forces one tool. */
export const NamedChoice = Type.Object({ type: Type.Literal('tool'), name: Name });

/** `thinking` of any type. */
export const ThinkingBody = Type.Object({ type: Type.String(), display: optional(Type.String()) });
/** `thinking` with a budget. Source: Anthropic documentation, "Extended thinking". */
export const ManualThinking = Type.Object({
  type: Type.Literal('enabled'),
  budget_tokens: Type.Integer({ minimum: 0 }),
  display: optional(Type.String()),
});

/** `output_config`: effort and output format. */
export const OutputConfig = Type.Object({ effort: optional(Type.String()), format: optional(AnyObject) });
/** The only output format besides plain text. */
export const SchemaFormat = Type.Object({ type: Type.Literal('json_schema'), schema: AnyObject });
export const Metadata = Type.Object({ user_id: optional(Type.String()) });
