import { isJsonObject } from '../json/json.ts';
import type { HostedTool, ModelRequest, WebSearchTool } from '../request.ts';

/** The hosted tool that a request forces, by its name or its type; absent: it forces none of those that it declares. */
export const hostedChoice = ({ toolChoice: choice, tools }: ModelRequest): WebSearchTool | HostedTool | undefined => {
  if (choice?.type === 'tool') {
    const { name } = choice;
    if (tools.some((tool) => (tool.type === 'function' || tool.type === 'custom') && tool.name === name))
      return undefined;
    return hostedNamed(name, tools) ?? hostedOfType(name, tools);
  }
  const value = choice?.type === 'opaque' && isJsonObject(choice.value) ? choice.value : {};
  return typeof value.type === 'string' ? hostedOfType(value.type, tools) : undefined;
};

const hostedNamed = (name: string, tools: ModelRequest['tools']): WebSearchTool | HostedTool | undefined => {
  for (const tool of tools) {
    if (tool.type === 'web-search' && (tool.raw.value.name ?? 'web_search') === name) return tool;
    if (tool.type === 'hosted' && tool.name === name) return tool;
  }
  return undefined;
};

const hostedOfType = (type: string, tools: ModelRequest['tools']): WebSearchTool | HostedTool | undefined => {
  for (const tool of tools) {
    if (tool.type === 'web-search' && type.startsWith('web_search')) return tool;
    if (tool.type === 'hosted' && tool.kind === type) return tool;
  }
  return undefined;
};
