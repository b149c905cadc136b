import type { FileHandle } from 'node:fs/promises';

/** Block size of reads in bytes. A line is shorter. */
const blockBytes = 64 * 1024;

const newline = 10;

/** A line of a file, and the byte at which it begins. */
export interface KeptLine {
  readonly offset: number;
  readonly endedAtMs: number;
  readonly text: string;
}

/** `{"endedAt":1764000000000,`. */
const timeForm = /^\{"endedAt":(\d{1,16}),/;

/** The time at the beginning of a line; `undefined` for anything else. */
const timeOf = (text: string): number | undefined => {
  const digits = timeForm.exec(text.slice(0, 40))?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** Reads the lines of a file that begin before `to`, last one first. Omits those without a time, and one that is longer than a block. */
export async function* linesBackwards(file: FileHandle, to: number): AsyncGenerator<KeptLine> {
  let end = to;
  while (end > 0) {
    const from = Math.max(0, end - blockBytes);
    const block = await readBlock(file, from, end);
    if (block.length === 0) return;
    // A line that begins before the block is read with the next one.
    const first = from === 0 ? 0 : block.indexOf(newline) + 1;
    if (from > 0 && (first === 0 || first >= block.length)) {
      end = first === 0 ? from : from + first - 1;
      continue;
    }
    let stop = block.length;
    while (stop > first) {
      const textEnd = block[stop - 1] === newline ? stop - 1 : stop;
      const at = textEnd > first ? Math.max(first, block.lastIndexOf(newline, textEnd - 1) + 1) : first;
      const text = block.toString('utf8', at, textEnd);
      const endedAtMs = timeOf(text);
      if (endedAtMs !== undefined) yield { offset: from + at, endedAtMs, text };
      stop = at;
    }
    end = from + first;
  }
}

/** A byte offset so that all lines up to a time begin before it; by halves, since a file's times never go back. */
export const offsetAfter = async (file: FileHandle, size: number, endedAtMs: number): Promise<number> => {
  let low = 0;
  let high = size;
  while (high - low > blockBytes) {
    const middle = Math.floor((low + high) / 2);
    const block = await readBlock(file, middle, Math.min(size, middle + blockBytes));
    const at = block.indexOf(newline) + 1;
    const time = at === 0 ? undefined : timeOf(block.toString('utf8', at, at + 40));
    if (time === undefined || time > endedAtMs) high = middle;
    else low = middle;
  }
  return Math.min(size, high + blockBytes);
};

const readBlock = async (file: FileHandle, from: number, to: number): Promise<Buffer> => {
  const block = Buffer.allocUnsafe(to - from);
  const { bytesRead } = await file.read(block, 0, block.length, from);
  return block.subarray(0, bytesRead);
};
