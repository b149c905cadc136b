import { Buffer } from 'node:buffer';
import { masked, spellings } from './mask-text.ts';

/** Takes certain secrets out of what people want to see as it was: word for word, also JSON- or URL-encoded, and nothing else. */
export interface WordMask {
  readonly text: (text: string) => string;
  /** The same for a stream's pieces; one that lies across several is masked in the piece in which it begins. */
  readonly pieces: (pieces: readonly Uint8Array[]) => readonly Uint8Array[];
}

/** A mask for these secrets; what is shorter than six characters would be found in ordinary words and isn't looked for. */
export const wordMask = (secrets: readonly string[]): WordMask => {
  // What is JSON inside JSON is encoded twice.
  const needles = spellings([...secrets, ...secrets.map((secret) => JSON.stringify(secret).slice(1, -1))]);
  return {
    text: (text) => needles.reduce((clean, needle) => clean.replaceAll(needle, masked), text),
    pieces(pieces) {
      const whole = Buffer.concat(pieces);
      const ranges = rangesIn(whole, needles);
      if (ranges.length === 0) return pieces;
      let at = 0;
      return pieces.map(({ length }) => {
        const from = at;
        at += length;
        return maskedPart(whole, ranges, from, at);
      });
    },
  };
};

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Where the needles are, in order and without overlaps. */
const rangesIn = (whole: Buffer, needles: readonly string[]): readonly Range[] => {
  const found: Range[] = [];
  for (const needle of needles) {
    const bytes = Buffer.from(needle);
    for (let from = whole.indexOf(bytes); from >= 0; from = whole.indexOf(bytes, from + bytes.length)) {
      found.push({ from, to: from + bytes.length });
    }
  }
  found.sort((one, other) => one.from - other.from);
  const merged: Range[] = [];
  for (const range of found) {
    const last = merged.at(-1);
    if (last && range.from < last.to) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else merged.push(range);
  }
  return merged;
};

const maskedPart = (whole: Buffer, ranges: readonly Range[], from: number, to: number): Buffer => {
  const parts: Uint8Array[] = [];
  let at = from;
  for (const range of ranges) {
    if (range.to <= from || range.from >= to) continue;
    if (range.from > at) parts.push(whole.subarray(at, range.from));
    if (range.from >= from) parts.push(Buffer.from(masked));
    at = range.to;
  }
  if (at < to) parts.push(whole.subarray(at, to));
  return Buffer.concat(parts);
};
