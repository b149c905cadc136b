import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { WebSearchTool } from '../../engine/model/request.ts';
import type { ChatDialect } from './dialect.ts';

/** Writes a hosted web search into the body in the dialect's form. `false` when the dialect or the model has none. */
export const encodeWebSearch = (
  tool: WebSearchTool,
  model: string,
  { webSearch }: ChatDialect,
  losses: Losses,
  body: JsonDraft,
): boolean => {
  if (!webSearch?.models.test(model)) return false;
  const at = tool.at ?? 'tools';
  const lost = (member: string, given: unknown): void => {
    if (given !== undefined) losses.drop(`${at}.${member}`);
  };
  // A client's own `web_search_options` go out whole.
  const own = webSearch.form === 'web_search_options' && at === 'web_search_options' ? tool.raw.value : undefined;
  if (!own) dropExtra(tool.extra, losses);
  switch (webSearch.form) {
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
      if (tool.userLocation) losses.approximate(`${at}.user_location`, 'the country alone');
      body.search_settings = {
        ...(tool.allowedDomains && { include_domains: tool.allowedDomains }),
        ...(tool.blockedDomains && { exclude_domains: tool.blockedDomains }),
        ...(typeof tool.userLocation?.country === 'string' && { country: tool.userLocation.country }),
      };
      return true;
    default:
      return webSearch.form satisfies never;
  }
};

const nestedLocation = ({ type, ...place }: JsonObject): JsonObject => ({
  type: type ?? 'approximate',
  approximate: place,
});
