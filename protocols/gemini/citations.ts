import type { Citation } from '../../engine/model/request.ts';
import type { GroundingMetadata } from './schema-reply.ts';

type Support = NonNullable<GroundingMetadata['groundingSupports']>[number];

/** The sources of a reply, with segments sorted for lookup by position: there may be as many blocks as segments. */
export interface Grounding {
  readonly metadata: GroundingMetadata;
  readonly supports: readonly PlacedSupport[];
  /** The end of the last segment, in UTF-8 bytes of the reply's text. */
  readonly bytes: number;
}

interface PlacedSupport {
  readonly support: Support;
  /** Its index in the vendor's list. */
  readonly order: number;
  /** UTF-8 bytes of the reply's text. */
  readonly start: number;
  readonly end: number;
}

export const indexGrounding = (metadata: GroundingMetadata): Grounding => {
  const supports = (metadata.groundingSupports ?? []).map((support, order) => {
    const { startIndex, endIndex } = support.segment ?? {};
    return { support, order, start: startIndex ?? 0, end: endIndex ?? 0 };
  });
  supports.sort((one, other) => one.start - other.start);
  return { metadata, supports, bytes: supports.reduce((most, { end }) => Math.max(most, end), 0) };
};

/** A text block, and its position in the reply's whole text. */
interface CitedText {
  /** The start of the block, in UTF-8 bytes of the reply's text. */
  readonly from: number;
  readonly text: string;
  /** The client knows the sources up to this byte of the reply's text. */
  readonly citedBytes: number;
}

/**
 * The sources of a text block, with positions in UTF-16 units of its text. Sources of an earlier, closed block and
 * sources that don't match the text have no position.
 */
export const citationsOf = (
  { metadata, supports }: Grounding,
  { from: base, text, citedBytes }: CitedText,
): Citation[] => {
  if (supports.length === 0) {
    const chunks = citedBytes === 0 ? (metadata.groundingChunks ?? []) : [];
    return chunks.flatMap((_, chunk) => source(metadata, chunk) ?? []);
  }
  const units = unitOffsets(text);
  const last = units.length - 1;
  return startingIn(supports, citedBytes, base + last).flatMap(({ support, start, end }) => {
    const from = start - base;
    const to = end - base;
    const earlier = to <= 0;
    if (!earlier && from < 0) return [];
    const place = earlier ? {} : placeOf(text, units[from], units[to], support.segment?.text);
    return (support.groundingChunkIndices ?? []).flatMap((chunk) => {
      const cited = source(metadata, chunk);
      return cited ? { ...cited, ...place } : [];
    });
  });
};

/** The segments that start between byte `from` and byte `to`, in the vendor's order. */
const startingIn = (supports: readonly PlacedSupport[], from: number, to: number): readonly PlacedSupport[] => {
  let first = 0;
  for (let end = supports.length; first < end; ) {
    const middle = (first + end) >>> 1;
    if ((supports[middle]?.start ?? 0) < from) first = middle + 1;
    else end = middle;
  }
  const found: PlacedSupport[] = [];
  for (let at = first; ; at += 1) {
    const placed = supports[at];
    if (placed === undefined || placed.start > to) break;
    found.push(placed);
  }
  return found.sort((one, other) => one.order - other.order);
};

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

/** For each byte of the text as UTF-8, and for its end: the UTF-16 offset of the character. */
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
