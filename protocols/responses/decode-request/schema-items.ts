import Type from 'typebox';
import { Members, orNull } from './schema-request.ts';

/**
 * Every type of input item, with today's and older names. `decodeItem` knows each; a new one needs a row in its table. Sources:
 * OpenAI API reference, "Create a model response", `input`; the types of OpenAI's client library; recorded agents.
 */
export type ItemType =
  | 'message'
  | 'reasoning'
  | 'function_call'
  | 'function_call_output'
  | 'custom_tool_call'
  | 'custom_tool_call_output'
  | 'additional_tools'
  | 'tool_search_call'
  | 'tool_search_output'
  | 'local_shell_call'
  | 'local_shell_call_output'
  | 'shell_call'
  | 'shell_call_output'
  | 'apply_patch_call'
  | 'apply_patch_call_output'
  | 'computer_call'
  | 'computer_call_output'
  | 'configuration_update'
  | 'agent_message'
  | 'multi_agent_call'
  | 'multi_agent_call_output'
  | 'compaction'
  | 'compaction_summary'
  | 'compaction_trigger'
  | 'item_reference'
  | 'program'
  | 'program_output'
  | 'web_search_call'
  | 'file_search_call'
  | 'code_interpreter_call'
  | 'image_generation_call'
  | 'mcp_list_tools'
  | 'mcp_call'
  | 'mcp_approval_request'
  | 'mcp_approval_response';

/**
 * Every type of tool; a dated web search counts as `web_search`. Sources: OpenAI API reference, "Create a model response", `tools`;
 * the types of OpenAI's client library.
 */
export type ToolType =
  | 'function'
  | 'custom'
  | 'namespace'
  | 'tool_search'
  | 'local_shell'
  | 'shell'
  | 'apply_patch'
  | 'web_search'
  | 'web_search_preview'
  | 'file_search'
  | 'code_interpreter'
  | 'computer'
  | 'computer_use_preview'
  | 'image_generation'
  | 'mcp'
  | 'programmatic_tool_calling';

const CallId = Type.String({ minLength: 1 });

/** An item that declares tools. */
export const ToolsItem = Type.Object({ tools: Type.Array(Members) });

/** An item that runs on the client, or at the vendor. */
export const ExecutedItem = Type.Object({ execution: orNull(Type.String()) });

/** A call of the client's tool search. Its arguments are an object, unlike those of functions. */
export const SearchCallItem = Type.Object({ call_id: orNull(CallId), id: orNull(CallId), arguments: Type.Unknown() });

/** A call of a tool of the vendor's that the client runs. Older clients name calls by the item's id. */
export const BuiltInCallItem = Type.Object({
  call_id: orNull(CallId),
  id: orNull(CallId),
  /** The command of a shell. */
  action: orNull(Members),
  /** The change of a patch. */
  operation: orNull(Members),
  environment: orNull(Type.Object({ type: orNull(Type.String()) })),
});

export const BuiltInOutputItem = Type.Object({
  call_id: orNull(CallId),
  id: orNull(CallId),
  status: orNull(Type.String()),
});

/** A message between agents. */
export const AgentMessageItem = Type.Object({
  author: orNull(Type.String()),
  recipient: orNull(Type.String()),
  content: Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))]),
});

/** A part of such a message, sealed by the vendor or plain text. */
export const SealedContent = Type.Object({ encrypted_content: Type.String() });

/** A call that the vendor made to an MCP server. */
export const McpCallItem = Type.Object({
  name: Type.String(),
  server_label: orNull(Type.String()),
  arguments: orNull(Type.String()),
  output: orNull(Type.String()),
});
