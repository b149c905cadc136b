import type { RequestContext } from '../../../engine/model/context.ts';
import { unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import { recordDropped, recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type { CustomTool, FunctionTool, ModelRequest, Tool, ToolChoice } from '../../../engine/model/request.ts';
import { describedTool } from '../../../engine/model/wire/described-tool.ts';
import {
  parametersPath,
  strictToolSchema,
  type ToolSchemaForm,
  toolSchema,
} from '../../../engine/model/wire/tool-schema.ts';
import { type ChatDialect, cacheMember, takes } from '../dialect.ts';
import { wireName } from '../tool-names.ts';
import { refusesUnknown, writeExtra } from './encode-content.ts';
import { encodeChoice } from './encode-tool-choice.ts';
import { encodeWebSearch } from './encode-web-search.ts';

/**
 * Tools and their controls → `tools`, `tool_choice`, `parallel_tool_calls` and web search members. Without tools,
 * servers reject the controls, so they are left out.
 */
export const encodeTools = (request: ModelRequest, dialect: ChatDialect, context: RequestContext): JsonObject => {
  const { losses } = context;
  if (leavesOutTools(request, dialect)) {
    for (const tool of request.tools) recordDropped(tool, 'none may be called', losses);
    if (request.parallelToolCalls === false) losses.drop('parallel_tool_calls', 'no call is allowed');
    return {};
  }
  const body: JsonDraft = {};
  const tools: JsonObject[] = [];
  const left = new Set<string>();
  const served = new Set<Tool>();
  for (const tool of request.tools) {
    const at = tool.at ?? 'tools';
    switch (tool.type) {
      case 'function':
        tools.push(encodeFunction(tool, dialect, context));
        break;
      case 'custom':
        tools.push(encodeCustom(tool, dialect, context));
        break;
      case 'web-search':
        if (left.has('web_search') || !encodeWebSearch(tool, dialect, losses, body)) losses.drop(at);
        else served.add(tool);
        left.add('web_search');
        break;
      case 'hosted':
        if (clientRun.test(tool.kind)) unsupported(at, `${at}: this provider has no tool of the type ${tool.kind}.`);
        losses.drop(at, tool.kind);
        left.add(tool.name ?? tool.kind);
        break;
      default:
        tool satisfies never;
    }
  }
  if (tools.length > 0) body.tools = tools;
  const choice = encodeChoice(request, dialect, context, left, served);
  const wanted = request.toolChoice?.type;
  if (choice !== undefined && tools.length > 0) {
    if (choice !== 'auto' || !dialect.omitsDefaults) body.tool_choice = choice;
  } else if (wanted !== undefined && wanted !== 'auto' && wanted !== 'none') losses.drop('tool_choice');
  const parallel = request.parallelToolCalls;
  if (parallel !== undefined && !(parallel && dialect.omitsDefaults)) {
    if (tools.length > 0 && takes(dialect, 'parallel_tool_calls')) body.parallel_tool_calls = parallel;
    // Nothing is lost of the default.
    else if (!parallel) losses.drop('parallel_tool_calls');
  }
  const only = onlyTools(request.toolChoice, dialect);
  if (body.tools && only) {
    const names = new Set(only.map((name) => wireName(context.names, name)));
    body.tools = tools.filter((tool) => names.has(toolName(tool)));
    const allowed = new Set(only);
    for (const tool of request.tools) {
      if ((tool.type === 'function' || tool.type === 'custom') && !allowed.has(tool.name)) {
        recordDropped(tool, 'not among the tools that may be called', losses);
      }
    }
  }
  return body;
};

/** Whether no call is allowed, and the dialect can say so only by leaving out the tools. */
const leavesOutTools = ({ toolChoice }: ModelRequest, { toolChoices }: ChatDialect): boolean =>
  toolChoice?.type === 'none' && !toolChoices.has('none');

/** The only tools that may be declared, because the dialect can't select some of them. */
const onlyTools = (choice: ToolChoice | undefined, dialect: ChatDialect): readonly string[] | undefined => {
  if (choice?.type === 'allowed' && !takes(dialect, 'allowed_tools')) return choice.names;
  const { toolChoices } = dialect;
  return choice?.type === 'tool' && !toolChoices.has('named') && toolChoices.has('required')
    ? [choice.name]
    : undefined;
};

/**
 * Tools that the client runs but that have no schema to declare: without them it would wait for calls that never
 * come. Source: Anthropic API reference, "Tools".
 */
const clientRun = /^(?:bash|text_editor|computer|memory)_\d/;

const toolName = (tool: JsonObject): string => {
  const inner = tool.function ?? tool.custom;
  return isJsonObject(inner) && typeof inner.name === 'string' ? inner.name : '';
};

const encodeFunction = (tool: FunctionTool, dialect: ChatDialect, { names, losses }: RequestContext): JsonObject => {
  const body: JsonDraft = { name: wireName(names, tool.name) };
  const about = describedTool(tool);
  if (about !== undefined) body.description = about;
  if (tool.parameters !== undefined || dialect.requiresParameters) {
    const form = tool.strict ? strictForm(dialect.toolSchema) : dialect.toolSchema;
    body.parameters = toolSchema(tool.parameters, form, parametersPath(tool.at), losses);
  }
  if (tool.strict !== undefined && (tool.strict || !dialect.omitsDefaults)) {
    if (takes(dialect, 'strict')) body.strict = tool.strict;
    // Without it, a schema isn't enforced.
    else if (tool.strict) losses.drop(`${tool.at ?? 'tools'}.strict`);
  }
  const marked = dialect.cacheMarks === 'prompt_cache_breakpoint' ? { ...dialect, cacheMarks: undefined } : dialect;
  const wire: JsonDraft = {
    type: 'function',
    function: body,
    ...cacheMember(tool.cache, marked, tool.at ?? 'tools', losses),
  };
  writeExtra(wire, tool.extra, losses, refusesUnknown(dialect));
  return wire;
};

/** Strict tools accept no alternatives at the root. */
const strictForm = (form: ToolSchemaForm): ToolSchemaForm => ({ ...form, rootUnion: strictToolSchema.rootUnion });

const encodeCustom = (tool: CustomTool, dialect: ChatDialect, { names, losses }: RequestContext): JsonObject => {
  const name = wireName(names, tool.name);
  if (takes(dialect, 'custom_tools')) {
    const custom: JsonDraft = { name };
    const about = describedTool(tool);
    if (about !== undefined) custom.description = about;
    if (tool.format) custom.format = nestedFormat(tool.format);
    const wire: JsonDraft = { type: 'custom', custom };
    writeExtra(wire, tool.extra, losses, refusesUnknown(dialect));
    return wire;
  }
  losses.approximate(tool.at ?? 'tools', 'a function with one string `input`');
  recordExtraLoss(tool.extra, losses);
  const description = [describedTool(tool), formatNote(tool.format)].filter((text) => text).join('\n\n');
  return {
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters: inputSchema },
  };
};

const inputSchema = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
} as const satisfies JsonObject;

/** This format nests a grammar's members in an object. */
const nestedFormat = (format: JsonObject): JsonObject => {
  if (format.type !== 'grammar' || isJsonObject(format.grammar)) return format;
  const { type, ...grammar } = format;
  return { type, grammar };
};

const formatNote = (format: JsonObject | undefined): string =>
  typeof format?.definition === 'string'
    ? `\`input\` must follow this ${typeof format.syntax === 'string' ? format.syntax : ''} grammar:\n${format.definition}`
    : '';
