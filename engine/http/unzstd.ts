import { Decompress, decompress } from 'fzstd';
import { type ZstdFrame, zstdFrames } from './zstd-frames.ts';

/** Data would become larger than it may. */
export class TooMuchData extends Error {
  override readonly name = 'TooMuchData';
}

/**
 * Decompresses zstd where Node.js can't. Throws `TooMuchData` when more than `maxBytes` would come out, and other errors for
 * broken data.
 */
export const unzstd = (data: Uint8Array, maxBytes: number): Uint8Array => {
  const pieces: Uint8Array[] = [];
  let left = maxBytes;
  for (const frame of zstdFrames(data)) {
    const piece = unzstdFrame(data.subarray(frame.from, frame.to), frame, left);
    left -= piece.length;
    pieces.push(piece);
  }
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
};

const unzstdFrame = (data: Uint8Array, { contentBytes, windowBytes, blocks }: ZstdFrame, left: number): Uint8Array => {
  if ((contentBytes ?? 0) > left || windowBytes > maxWindowBytes) throw new TooMuchData();
  if (contentBytes) return decompress(data);
  // Without a size the library moves the whole window for each block.
  if (blocks * windowBytes > maxMovedBytes) throw new TooMuchData();
  const pieces: Uint8Array[] = [];
  let size = 0;
  const stream = new Decompress((piece) => {
    size += piece.length;
    if (size > left) throw new TooMuchData();
    pieces.push(piece);
  });
  stream.push(data, true);
  return Buffer.concat(pieces, size);
};

const maxWindowBytes = 128 * 1024 * 1024;
/** About a second's work. */
const maxMovedBytes = 8 * 1024 * 1024 * 1024;
