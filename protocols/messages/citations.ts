import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Citation } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';
import { WebCitation } from './schema-request.ts';

const web = reader(WebCitation);

/** Decodes a citation. Web citations have a counterpart in other formats; the others stay opaque. */
export const decodeCitation = (value: JsonObject): Citation =>
  web.matches(value)
    ? {
        type: 'url',
        url: value.url,
        title: value.title ?? undefined,
        quote: value.cited_text ?? undefined,
        raw: { wire: 'messages', value },
      }
    : { type: 'opaque', wire: 'messages', value };

/** Encodes a citation; `undefined` for one of another format. `at` is its block's path, for losses. */
export const encodeCitation = (citation: Citation, at: string, losses: Losses): JsonObject | undefined => {
  if (citation.type === 'opaque') {
    if (citation.wire === 'messages') return citation.value;
    losses.drop(`${at}.citations`);
    return undefined;
  }
  if (citation.raw?.wire === 'messages') return citation.raw.value;
  losses.approximate(`${at}.citations`, 'no encrypted_index');
  return {
    type: 'web_search_result_location',
    url: citation.url,
    title: citation.title ?? null,
    encrypted_index: '',
    cited_text: citation.quote ?? '',
  };
};
