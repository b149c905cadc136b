import { unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import type { ModelRequest, OpaquePart, Part, Tool } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { decodeTool } from '../decode-request/decode-tools.ts';
import { NamedReference, ToolChangeBlock, ToolDefinition, ToolReferenceBlock } from '../schema-request.ts';
import { expressTool, isToolSearch } from './tool-uses.ts';

/**
 * The tools that the model may call at the end of the history, for a format without deferred tools and without tool changes:
 * those of the request that aren't deferred, and what the history loads, adds and removes, in its order. So a longer
 * conversation adds tools at the end, and the beginning of the prompt stays the same. Records those left out. Throws an
 * `unsupported` fault for a tool that can't be declared.
 */
export const declaredTools = (request: ModelRequest, losses: Losses): readonly Tool[] => {
  const { tools } = request;
  const declared = tools.some(isDeferred) || changesTools(request) ? toolsAfter(request, losses) : tools;
  return declared.some(({ type }) => type === 'hosted')
    ? declared.flatMap((tool) => expressTool(tool, losses) ?? [])
    : declared;
};

/**
 * Tools that say of themselves that they must not be called. Claude Code declares one, so that its list has a deferred tool
 * before any is loaded. Source: Claude Code 2.1.332.
 */
const placeholders: ReadonlySet<string> = new Set(['DeferredToolPlaceholder']);

/** Whether the model gets to see the tool only once something names it. */
const isDeferred = (tool: Tool): boolean => memberOf(tool, 'defer_loading') === true;

const memberOf = (tool: Tool, name: string): unknown => {
  if (tool.type === 'hosted') return tool.raw[name];
  return tool.type === 'web-search' ? tool.raw.value[name] : tool.extra?.fields[name];
};

const nameOf = (tool: Tool): string => {
  if (tool.type === 'web-search') return 'web_search';
  return tool.type === 'hosted' ? (tool.name ?? tool.kind) : tool.name;
};

const changesTools = ({ turns }: ModelRequest): boolean =>
  turns.some(({ parts }) =>
    parts.some((part) => part.type === 'opaque' && (isChange(part.raw) || part.raw.tool_changes !== undefined)),
  );

const isChange = ({ type }: JsonObject): boolean => type === 'tool_addition' || type === 'tool_removal';

const toolsAfter = (request: ModelRequest, losses: Losses): readonly Tool[] => {
  const { tools, turns, toolChoice } = request;
  const list = new ToolList(tools, tools.some(isToolSearch));
  for (const { parts } of turns) for (const part of parts) list.follow(part);
  if (toolChoice?.type === 'tool') list.load(toolChoice.name);
  const declared = list.declared();
  const kept = new Set(declared);
  for (const [index, tool] of tools.entries()) {
    if (!kept.has(tool)) losses.drop(tool.at ?? memberPath('tools', index), list.whyLeftOut(tool));
  }
  return declared;
};

const changeBlock = reader(ToolChangeBlock);
const namedReference = reader(NamedReference);
const definition = reader(ToolDefinition);
const searchReference = reader(ToolReferenceBlock);

/** The declared tools while the history goes on. */
class ToolList {
  /** Every tool that a name can mean; the last of a name counts. */
  readonly #known = new Map<string, Tool>();
  /** By name, in the order of declaration. The API rejects two tools of one name; here both stay. */
  readonly #declared = new Map<string, readonly Tool[]>();
  readonly #removed = new Set<string>();

  /** `loadsAll`: only the vendor's own search could find the deferred tools, so that all of them are declared. */
  constructor(tools: readonly Tool[], loadsAll: boolean) {
    for (const tool of tools) {
      const name = nameOf(tool);
      this.#known.set(name, tool);
      const starts = isDeferred(tool) ? loadsAll && !placeholders.has(name) : true;
      if (starts) this.#declared.set(name, [...(this.#declared.get(name) ?? []), tool]);
    }
  }

  declared(): readonly Tool[] {
    return [...this.#declared.values()].flat();
  }

  whyLeftOut(tool: Tool): string {
    const name = nameOf(tool);
    if (this.#removed.has(name)) return 'removed in the conversation';
    return this.#known.get(name) === tool ? 'deferred, and not yet loaded' : 'replaced in the conversation';
  }

  /** Declares a deferred tool that the history names. */
  load(name: string): void {
    const tool = this.#known.get(name);
    if (!tool || this.#declared.has(name) || this.#removed.has(name) || placeholders.has(name)) return;
    this.#declared.set(name, [tool]);
  }

  follow(part: Part): void {
    if (part.type === 'tool-call') this.load(part.name);
    else if (part.type === 'tool-result') for (const inner of part.content) this.follow(inner);
    else if (part.type === 'opaque') this.#followOpaque(part);
  }

  #followOpaque({ raw, at = 'messages' }: OpaquePart): void {
    if (isChange(raw)) this.#change(raw, at);
    else if (raw.type === 'tool_reference') this.load(searchReference.read(raw, at).tool_name);
    else if (raw.type === 'tool_search_tool_result') for (const name of foundNames(raw)) this.load(name);
    else if (Array.isArray(raw.tool_changes)) {
      // A compaction holds the changes of what it replaces.
      for (const [index, change] of raw.tool_changes.entries()) {
        const place = memberPath(memberPath(at, 'tool_changes'), index);
        if (isJsonObject(change) && isChange(change)) this.#change(change, place);
        else unsupported(place, `${place}: this change of tools can't be made for this provider.`);
      }
    }
  }

  #change(raw: JsonObject, at: string): void {
    const { type, tool } = changeBlock.read(raw, at);
    const place = memberPath(at, 'tool');
    if (type === 'tool_removal') this.#remove(tool, place);
    else this.#add(tool, place);
  }

  #add(tool: JsonObject, at: string): void {
    if (tool.type === 'tool_definition') {
      const added = decodeTool(definition.read(tool, at).definition, memberPath(at, 'definition'));
      this.#declare(nameOf(added), added);
      return;
    }
    if (tool.type !== 'tool_reference') {
      unsupported(at, `${at}: this provider can't add a tool by ${String(tool.type)}.`);
      return;
    }
    const { name } = namedReference.read(tool, at);
    const known = this.#known.get(name);
    if (known) this.#declare(name, known);
    else unsupported(memberPath(at, 'name'), `${memberPath(at, 'name')}: the request has no tool named '${name}'.`);
  }

  #declare(name: string, tool: Tool): void {
    this.#removed.delete(name);
    if (this.#known.get(name) === tool && this.#declared.has(name)) return;
    this.#known.set(name, tool);
    this.#declared.set(name, [tool]);
  }

  /** A tool of an MCP server isn't declared here, so nothing remains to be done. */
  #remove(tool: JsonObject, at: string): void {
    const { type, name } = tool;
    if (type === 'mcp_tool_reference' || type === 'mcp_toolset_reference') return;
    const removed = type === 'tool_definition' ? definition.read(tool, at).definition.name : name;
    if (typeof removed !== 'string') {
      unsupported(at, `${at}: this provider can't remove a tool by ${String(type)}.`);
      return;
    }
    this.#declared.delete(removed);
    this.#removed.add(removed);
  }
}

/** The names that the vendor's own search found. */
const foundNames = ({ content }: JsonObject): readonly string[] => {
  const found: unknown = isJsonObject(content) ? content.tool_references : undefined;
  return Array.isArray(found)
    ? found.flatMap((one) => (isJsonObject(one) && typeof one.tool_name === 'string' ? [one.tool_name] : []))
    : [];
};
