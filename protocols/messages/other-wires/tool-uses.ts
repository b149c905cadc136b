import { unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import type { FunctionTool, HostedTool, Tool } from '../../../engine/model/request.ts';
import { cacheMark } from '../decode-request/decode-content.ts';
import { decodeClientTool } from '../decode-request/decode-tools.ts';

/** The vendor's tool types, without their dates. Source: Anthropic API reference, "Create a Message", `tools`. */
type ToolKind =
  | 'advisor'
  | 'bash'
  | 'browser_toolset'
  | 'code_execution'
  | 'computer'
  | 'computer_toolset'
  | 'mcp_toolset'
  | 'memory'
  | 'text_editor'
  | 'tool_search_tool_bm25'
  | 'tool_search_tool_regex'
  | 'web_fetch';

/** The conversion of a vendor's tool to another format. */
type ToolUse =
  /** The vendor runs it: the upstream's counterpart, or a loss. */
  | 'vendor-run'
  /** Finds deferred tools: those are all declared instead. */
  | 'search'
  /** The client runs it, and its schema is published. */
  | PublishedTool
  /** Rejected: the client waits for calls that nothing else can declare or run. */
  | 'refused';

/** A tool that the client runs, as the vendor's documentation describes it. */
interface PublishedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

const text = (description: string) => ({ type: 'string', description });

/** Source: Anthropic documentation, "Bash tool". */
const bash: PublishedTool = {
  name: 'bash',
  description: 'Runs commands in a bash shell, which keeps its state from call to call.',
  parameters: {
    type: 'object',
    properties: {
      command: text('The command to run. Required unless the shell is restarted.'),
      restart: { type: 'boolean', description: 'Restarts the shell.' },
    },
  },
};

/** Source: Anthropic documentation, "Memory tool". */
const memory: PublishedTool = {
  name: 'memory',
  description:
    'Reads and writes files in the directory /memories, which outlive the conversation. View the directory before you start, ' +
    'and keep there what later conversations need.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      path: text('A file or directory below /memories. For every command but rename.'),
      view_range: {
        type: 'array',
        items: { type: 'integer' },
        description: 'For view: the first and the last line.',
      },
      file_text: text('For create: the content of the file.'),
      old_str: text('For str_replace: the text to replace, which must occur once.'),
      new_str: text('For str_replace: the new text.'),
      insert_line: { type: 'integer', description: 'For insert: the line after which to insert; 0 for the start.' },
      insert_text: text('For insert: the text to insert.'),
      old_path: text('For rename: the present path.'),
      new_path: text('For rename: the new path.'),
    },
    required: ['command'],
  },
};

const uses: Readonly<Record<ToolKind, ToolUse>> = {
  advisor: 'vendor-run',
  bash,
  browser_toolset: 'refused',
  code_execution: 'vendor-run',
  computer: 'refused',
  computer_toolset: 'refused',
  mcp_toolset: 'refused',
  memory,
  text_editor: 'refused',
  tool_search_tool_bm25: 'search',
  tool_search_tool_regex: 'search',
  web_fetch: 'vendor-run',
};

const byKind: ReadonlyMap<string, ToolUse> = new Map(Object.entries(uses));

const toolUse = ({ kind }: HostedTool): ToolUse => byKind.get(kind.replace(/_\d{6,8}$/, '')) ?? 'refused';

/** Whether the vendor's own search finds deferred tools for the model. */
export const isToolSearch = (tool: Tool): boolean =>
  tool.type === 'hosted' && tool.wire === 'messages' && toolUse(tool) === 'search';

/**
 * A tool in terms of other formats; `undefined`, with a loss, if it is left out. Throws an `unsupported` fault for one that nothing
 * else can declare or run.
 */
export const expressTool = (tool: Tool, losses: Losses): Tool | undefined => {
  if (tool.type !== 'hosted' || tool.wire !== 'messages') return tool;
  const at = tool.at ?? 'tools';
  // A newer kind of client tool.
  if (tool.name !== undefined && isJsonObject(tool.raw.input_schema)) return decodeClientTool(tool.raw, at);
  const use = toolUse(tool);
  if (use === 'vendor-run') return tool;
  if (use === 'search') {
    losses.drop(at, 'the deferred tools are declared instead');
    return undefined;
  }
  if (use === 'refused') {
    return unsupported(at, `${at}: this provider has no tool of the type ${tool.kind}; declare it as a function.`);
  }
  losses.approximate(at, 'a function');
  return publishedFunction(tool, use, at);
};

const publishedFunction = ({ name, raw }: HostedTool, published: PublishedTool, at: string): FunctionTool => ({
  type: 'function',
  ...published,
  ...(name !== undefined && { name }),
  cache: isJsonObject(raw.cache_control) ? cacheMark(raw.cache_control) : undefined,
  at,
});
