import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import { leaveOut } from '../../engine/model/leave-out.ts';
import type { CustomTool, FunctionTool, HostedTool, ModelRequest, WebSearchTool } from '../../engine/model/request.ts';
import { encodeChoice } from './encode-choice.ts';
import { encodeFunction } from './encode-function.ts';
import { encodeHosted } from './encode-hosted.ts';
import type { ContentContext } from './encode-parts.ts';

/** What the body says of tools; members are absent where there is nothing to say. */
export interface WireTools {
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

/** Tools and the choice among them → wire: one object declares all functions, one more stands for each tool of the vendor's. */
export const encodeTools = (request: ModelRequest, context: ContentContext): WireTools => {
  const { losses } = context;
  const { functions, own } = chooseTools(request, context);
  const declarations = functions.map((tool) => encodeFunction(tool, context));
  const hosted = new Map<string, JsonObject>();
  for (const tool of own) {
    const wire = encodeHosted(tool, context);
    const kind = Object.keys(wire ?? {}).join();
    if (hosted.has(kind)) losses.drop(tool.at ?? 'tools', 'a second one of the same kind');
    else if (wire) hosted.set(kind, wire);
  }
  const calling = encodeChoice(
    request.toolChoice,
    {
      functions: functions.map(({ name }) => name),
      hosted: hosted.size > 0,
      leftOut: functions.length + hosted.size < request.tools.length,
    },
    context,
  );
  const tools = [...(functions.length > 0 ? [{ functionDeclarations: declarations }] : []), ...hosted.values()];
  if (request.parallelToolCalls === false) losses.drop('parallel_tool_calls');
  if (tools.length === 0) return {};
  const toolConfig: JsonDraft = {};
  if (calling) toolConfig.functionCallingConfig = calling;
  // Beside functions, the vendor runs its own tools only when their calls may be shown.
  if (functions.length > 0 && hosted.size > 0) toolConfig.includeServerSideToolInvocations = true;
  return { tools, ...(Object.keys(toolConfig).length > 0 && { toolConfig }) };
};

interface Chosen {
  readonly functions: readonly (FunctionTool | CustomTool)[];
  readonly own: readonly (WebSearchTool | HostedTool)[];
}

/** The tools that this model can be given together. */
const chooseTools = ({ tools, toolChoice: choice }: ModelRequest, { losses, dialect }: ContentContext): Chosen => {
  const declared = tools.filter((tool) => tool.type === 'function' || tool.type === 'custom');
  // The vendor's own tools can't be held back but by leaving them out.
  const offered = tools.filter((tool) => tool.type === 'web-search' || tool.type === 'hosted');
  const own = choice?.type === 'none' ? [] : offered;
  if (choice?.type === 'none') {
    for (const tool of offered) leaveOut(tool, 'none may be called', losses);
  }
  const narrows = choice?.type === 'allowed' && !choice.required;
  const functions = narrows ? declared.filter(({ name }) => choice.names.includes(name)) : declared;
  if (functions.length < declared.length) losses.approximate('tool_choice', 'the other tools are left out');
  for (const tool of declared) {
    if (!functions.includes(tool)) leaveOut(tool, 'not among the tools that may be called', losses);
  }
  if (functions.length === 0 || own.length === 0 || dialect.mixedTools) return { functions, own };
  const named = choice?.type === 'tool' && !functions.some(({ name }) => name === choice.name);
  const forcesOwn = named || choice?.type === 'opaque';
  for (const tool of forcesOwn ? functions : own) {
    leaveOut(tool, 'this model takes functions or tools of the vendor, not both', losses);
  }
  return forcesOwn ? { functions: [], own } : { functions, own: [] };
};
