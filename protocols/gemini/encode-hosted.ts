import { dropExtra } from '../../engine/model/drop-extra.ts';
import { fail } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { HostedTool, WebSearchTool } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import { wireFormat } from './call-id.ts';
import type { ContentContext } from './encode-parts.ts';

/**
 * Another vendor's own tool → this one's of the same kind; `undefined`, and a loss, where there is none. Throws an `unsupported`
 * fault for a tool that the client itself would run but that has no schema to declare it by.
 */
export const encodeHosted = (tool: WebSearchTool | HostedTool, { losses }: ContentContext): JsonObject | undefined => {
  const at = tool.at ?? 'tools';
  dropExtra(tool.extra, losses);
  if (tool.type === 'web-search') return encodeWebSearch(tool, at, { losses });
  if (tool.wire === wireFormat) return tool.raw;
  if (clientRun.test(tool.kind)) {
    fail('unsupported', `${at}: this provider has no tool of the type ${tool.kind}; declare it as a function.`, {
      param: at,
    });
  }
  const same = counterparts.find(([kinds]) => kinds.test(tool.kind));
  if (!same) losses.drop(at, tool.kind);
  else losses.approximate(at, same[1]);
  return same && { [same[1]]: {} };
};

/** Without a schema, and run by the client. Source: Anthropic API reference, "Tools". */
const clientRun = /^(?:bash|text_editor|computer|memory)_\d/;

/** Source: Gemini API reference, "Tool". */
const counterparts: readonly (readonly [kinds: RegExp, name: string])[] = [
  [/^web_fetch/, 'urlContext'],
  [/^code_(?:execution|interpreter)/, 'codeExecution'],
];

const encodeWebSearch = (tool: WebSearchTool, at: string, { losses }: Pick<ContentContext, 'losses'>): JsonObject => {
  const uncarried = {
    max_uses: tool.maxUses,
    allowed_domains: tool.allowedDomains,
    // The field for these is Vertex AI's alone.
    blocked_domains: tool.blockedDomains,
    user_location: tool.userLocation,
    search_context_size: tool.contextSize,
  };
  for (const [name, value] of Object.entries(uncarried)) if (value !== undefined) losses.drop(memberPath(at, name));
  return { googleSearch: {} };
};
