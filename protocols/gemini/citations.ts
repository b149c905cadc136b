import type { Citation } from '../../engine/model/request.ts';
import type { GroundingMetadata } from './schema.ts';

/** A text block of the answer, among the answer's whole text. */
export interface CitedText {
  /** The answer's text before the block. */
  readonly before: string;
  readonly text: string;
  /** Up to which byte of the answer's text the sources are known to the client. */
  readonly citedBytes: number;
}

/**
 * The sources of a text block, with positions in UTF-16 units of its text. What belongs to an earlier block that has closed
 * since, and what doesn't match the text, comes without a position.
 */
export const citationsOf = (grounding: GroundingMetadata, { before, text, citedBytes }: CitedText): Citation[] => {
  const supports = grounding.groundingSupports ?? [];
  if (supports.length === 0) {
    const chunks = citedBytes === 0 ? (grounding.groundingChunks ?? []) : [];
    return chunks.flatMap((_, chunk) => source(grounding, chunk) ?? []);
  }
  const base = Buffer.byteLength(before);
  const units = unitOffsets(text);
  const last = units.length - 1;
  return supports.flatMap(({ segment, groundingChunkIndices }) => {
    const from = (segment?.startIndex ?? 0) - base;
    const to = (segment?.endIndex ?? 0) - base;
    const earlier = to <= 0 && from + base >= citedBytes;
    if (!earlier && (from < 0 || from > last)) return [];
    const place = earlier ? {} : placeOf(text, units[from], units[to], segment?.text);
    return (groundingChunkIndices ?? []).flatMap((chunk) => {
      const cited = source(grounding, chunk);
      return cited ? { ...cited, ...place } : [];
    });
  });
};

/** Where the last segment ends, in bytes of the answer's text. */
export const groundedBytes = ({ groundingSupports }: GroundingMetadata): number =>
  (groundingSupports ?? []).reduce((most, { segment }) => Math.max(most, segment?.endIndex ?? 0), 0);

const source = ({ groundingChunks }: GroundingMetadata, chunk: number): Citation | undefined => {
  const { web, retrievedContext, maps } = groundingChunks?.[chunk] ?? {};
  const found = web ?? retrievedContext ?? maps;
  return found?.uri ? { type: 'url', url: found.uri, title: found.title ?? undefined } : undefined;
};

const placeOf = (
  text: string,
  start: number | undefined,
  end: number | undefined,
  segment: string | null | undefined,
): { start?: number; end?: number } => {
  if (start === undefined || end === undefined || end < start) return {};
  return typeof segment === 'string' && text.slice(start, end) !== segment ? {} : { start, end };
};

/** For each byte of the text as UTF-8, and for its end: the UTF-16 unit where the character begins. */
const unitOffsets = (text: string): Uint32Array => {
  const offsets = new Uint32Array(Buffer.byteLength(text) + 1);
  let byte = 0;
  let unit = 0;
  for (const character of text) {
    for (let width = Buffer.byteLength(character); width > 0; width -= 1) {
      offsets[byte] = unit;
      byte += 1;
    }
    unit += character.length;
  }
  offsets[byte] = unit;
  return offsets;
};
