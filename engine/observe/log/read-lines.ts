import type { FileHandle } from 'node:fs/promises';
import { parseJson } from '../../model/json/json.ts';

/** Block size of reads in bytes. */
const blockBytes = 256 * 1024;

/** Bounds on the end of a file to read. */
export interface Tail {
  readonly maxBytes: number;
  /** Maximum number of lines; absent: all. */
  readonly maxLines: number | undefined;
  /** Byte offset to start from; absent: 0. A shorter file was started again and is read from its beginning. */
  readonly after?: number | undefined;
}

/** Byte offset after the last complete line; continue reading here. At least `floor`. */
export const findLinesEnd = async (file: FileHandle, floor: number, to: number): Promise<number> => {
  for (let end = to; end > floor; end -= blockBytes) {
    const from = Math.max(floor, end - blockBytes);
    const at = (await readBlock(file, from, end)).lastIndexOf(newline);
    if (at >= 0) return from + at + 1;
  }
  return floor;
};

/** A byte range of a file. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Finds the newest lines of a file. `from` may be inside a line, which `readLines` then omits. */
export const findTail = async (file: FileHandle, { maxBytes, maxLines, after = 0 }: Tail): Promise<Span> => {
  const to = (await file.stat()).size;
  const floor = Math.max(0, to - maxBytes, after > to ? 0 : after);
  if (maxLines === undefined) return { from: floor, to };
  // The line feed at the end of the last line doesn't count.
  let ends = -1;
  for (let end = to; end > floor; end -= blockBytes) {
    const from = Math.max(floor, end - blockBytes);
    const block = await readBlock(file, from, end);
    if (end === to && block.at(-1) !== newline) ends = 0;
    for (let at = block.lastIndexOf(newline); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(newline, at - 1)) {
      ends += 1;
      if (ends === maxLines) return { from: from + at + 1, to };
    }
  }
  return { from: floor, to };
};

/**
 * Reads the lines of a byte range, in batches of one block. Omits blank lines, a first line that starts before the range, and
 * a last line without a line feed unless it is JSON: it is still being written.
 */
export async function* readLines(file: FileHandle, { from, to }: Span): AsyncGenerator<readonly string[]> {
  // The byte before decides whether a line starts here.
  let skipping = from > 0;
  let pieces: Buffer[] = [];
  for (let at = Math.max(0, from - 1); at < to; ) {
    const block = await readBlock(file, at, Math.min(to, at + blockBytes));
    if (block.length === 0) break;
    at += block.length;
    const first = block.indexOf(newline);
    if (first < 0) {
      if (!skipping) pieces.push(block);
      continue;
    }
    const last = block.lastIndexOf(newline);
    if (!skipping) pieces.push(block.subarray(0, last));
    else if (last > first) pieces.push(block.subarray(first + 1, last));
    skipping = false;
    const lines = Buffer.concat(pieces)
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    pieces = [block.subarray(last + 1)];
    if (lines.length > 0) yield lines;
  }
  const rest = Buffer.concat(pieces).toString('utf8');
  if (parseJson(rest) !== undefined) yield [rest];
}

const newline = 10;

/** Reads a range; returns fewer bytes when the file has been truncated. */
const readBlock = async (file: FileHandle, from: number, to: number): Promise<Buffer> => {
  const block = Buffer.allocUnsafe(to - from);
  const { bytesRead } = await file.read(block, 0, block.length, from);
  return block.subarray(0, bytesRead);
};
