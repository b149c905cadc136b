import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Citation, UrlCitation } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';
import { WireAnnotation } from './schema-reply.ts';

const wireAnnotation = reader(WireAnnotation);

/** An entry of `annotations` → citation; `undefined` for anything but a web source. */
export const decodeCitation = (raw: JsonObject): UrlCitation | undefined => {
  if (!wireAnnotation.matches(raw) || raw.type !== 'url_citation' || !raw.url_citation) return undefined;
  const { url, title, content, start_index, end_index } = raw.url_citation;
  // Servers that don't know the position send zeros. A position that ends before it starts is none.
  const placed =
    typeof start_index === 'number' && typeof end_index === 'number' && end_index > 0 && start_index <= end_index;
  return {
    type: 'url',
    url,
    title: title ?? undefined,
    quote: content ?? undefined,
    ...(placed && { start: start_index, end: end_index }),
    raw: { wire: 'chat', value: raw },
  };
};

/**
 * Citation → an entry of `annotations`; `undefined` if this format can't express it. `from` and `to`, in UTF-16
 * units, replace a missing position.
 */
export const encodeCitation = (citation: Citation, from: number, to: number): JsonObject | undefined => {
  if (citation.type === 'opaque') return citation.wire === 'chat' ? citation.value : undefined;
  if (citation.raw?.wire === 'chat') return citation.raw.value;
  const { url, title = '', start = from, end = to } = citation;
  return { type: 'url_citation', url_citation: { url, title, start_index: start, end_index: end } };
};
