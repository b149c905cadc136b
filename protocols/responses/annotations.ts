import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import type { Citation } from '../../engine/model/request.ts';

/** An annotation of a text → citation. Source: OpenAI API reference, "Responses", output text annotations. */
export const readAnnotation = (value: JsonObject): Citation =>
  value.type === 'url_citation' && typeof value.url === 'string'
    ? {
        type: 'url',
        url: value.url,
        title: typeof value.title === 'string' ? value.title : undefined,
        start: typeof value.start_index === 'number' ? value.start_index : undefined,
        end: typeof value.end_index === 'number' ? value.end_index : undefined,
        raw: { wire: 'responses', value },
      }
    : { type: 'opaque', wire: 'responses', value };

/** All readable annotations of a list that a provider or client sent. */
export const readAnnotations = (list: readonly unknown[] | null | undefined): readonly Citation[] =>
  (list ?? []).filter(isJsonObject).map(readAnnotation);

/**
 * A citation → annotation; `undefined` for a kind that only another wire format knows. Both indices are required here, so a
 * citation that names no place stands for the text as a whole, `length` UTF-16 units long.
 */
export const writeAnnotation = (citation: Citation, length: number): JsonObject | undefined => {
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

/** Whether the citation can be written before its text is complete. */
export const isPlaced = (citation: Citation): boolean =>
  citation.type === 'opaque' ||
  citation.raw?.wire === 'responses' ||
  (citation.start !== undefined && citation.end !== undefined);
