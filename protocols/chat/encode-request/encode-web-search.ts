import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type { WebSearchTool } from '../../../engine/model/request.ts';
import type { ChatDialect } from '../dialect.ts';

/** Adds a hosted web search to the body in the dialect's form. Returns `false` if the model has none. */
export const encodeWebSearch = (
  tool: WebSearchTool,
  { webSearch }: ChatDialect,
  losses: Losses,
  body: JsonDraft,
): boolean => {
  if (!webSearch) return false;
  const at = tool.at ?? 'tools';
  const lost = (member: string, given: unknown): void => {
    if (given !== undefined) losses.drop(`${at}.${member}`);
  };
  // A client's own `web_search_options` are kept whole.
  const own = webSearch === 'web_search_options' && at === 'web_search_options' ? tool.raw.value : undefined;
  if (!own) recordExtraLoss(tool.extra, losses);
  switch (webSearch) {
    case 'web_search_options': {
      lost('max_uses', tool.maxUses);
      lost('allowed_domains', tool.allowedDomains);
      lost('blocked_domains', tool.blockedDomains);
      body.web_search_options = own ?? {
        ...(tool.contextSize && { search_context_size: tool.contextSize }),
        ...(tool.userLocation && { user_location: nestedLocation(tool.userLocation) }),
      };
      return true;
    }
    case 'plugins':
      lost('max_uses', tool.maxUses);
      lost('user_location', tool.userLocation);
      lost('search_context_size', tool.contextSize);
      body.plugins = [
        {
          id: 'web',
          ...(tool.allowedDomains && { include_domains: tool.allowedDomains }),
          ...(tool.blockedDomains && { exclude_domains: tool.blockedDomains }),
        },
      ];
      return true;
    case 'search_settings':
      lost('max_uses', tool.maxUses);
      lost('search_context_size', tool.contextSize);
      if (tool.userLocation) losses.approximate(`${at}.user_location`, 'only the country');
      body.search_settings = {
        ...(tool.allowedDomains && { include_domains: tool.allowedDomains }),
        ...(tool.blockedDomains && { exclude_domains: tool.blockedDomains }),
        ...(typeof tool.userLocation?.country === 'string' && { country: tool.userLocation.country }),
      };
      return true;
    default:
      return webSearch satisfies never;
  }
};

const nestedLocation = ({ type, ...place }: JsonObject): JsonObject => ({
  type: type ?? 'approximate',
  approximate: place,
});
