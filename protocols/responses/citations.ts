import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { Citation } from '../../engine/model/request.ts';

/**
 * Decodes an annotation; a position that ends before it starts is none. Source: OpenAI API reference, "Responses", output text
 * annotations.
 */
export const decodeCitation = (value: JsonObject): Citation => {
  const { type, url, title, start_index, end_index } = value;
  if (type !== 'url_citation' || typeof url !== 'string') return { type: 'opaque', wire: 'responses', value };
  const placed = typeof start_index === 'number' && typeof end_index === 'number' && start_index <= end_index;
  return {
    type: 'url',
    url,
    title: typeof title === 'string' ? title : undefined,
    ...(placed && { start: start_index, end: end_index }),
    raw: { wire: 'responses', value },
  };
};

/** Decodes a list of annotations; anything but an object is left out. */
export const decodeCitations = (list: readonly unknown[] | null | undefined): readonly Citation[] =>
  (list ?? []).filter(isJsonObject).map(decodeCitation);

/**
 * Encodes a citation; `undefined` for one of another format. Both indices are required, so a citation without a
 * position covers the whole text, `length` UTF-16 units long.
 */
export const encodeCitation = (citation: Citation, length: number): JsonObject | undefined => {
  if (citation.type === 'opaque') return citation.wire === 'responses' ? citation.value : undefined;
  if (citation.raw?.wire === 'responses') return citation.raw.value;
  return {
    type: 'url_citation',
    url: citation.url,
    title: citation.title ?? citation.url,
    start_index: citation.start ?? 0,
    end_index: citation.end ?? length,
  };
};

/** Whether a citation can be written before its text is complete. */
export const isPlaced = (citation: Citation): boolean =>
  citation.type === 'opaque' ||
  citation.raw?.wire === 'responses' ||
  (citation.start !== undefined && citation.end !== undefined);
