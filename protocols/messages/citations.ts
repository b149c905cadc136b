import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Citation } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';
import { WebCitation } from './schema-request.ts';

const web = reader(WebCitation);

/** A citation of the wire → model. One of a web page can be told to other protocols; the others stay as they are. */
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

/** A citation → wire; `undefined` when only another wire format knows it. `at` is where losses say it stood. */
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
