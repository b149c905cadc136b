import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { Citation } from '../../engine/model/request.ts';

/** Decodes an annotation. Source: OpenAI API reference, "Responses", output text annotations. */
export const decodeCitation = (value: JsonObject): Citation =>
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
