import { Decompress, decompress } from 'fzstd';
import { blockHeadBytes, frameKind, readBlockHead, readFrameHead, skippableBytes } from '../model/wire/zstd-heads.ts';

/** The decompressed data exceeds its limit. */
export class TooMuchData extends Error {
  override readonly name = 'TooMuchData';
}

/**
 * Decompresses zstd for Node.js before 22.15. Throws `TooMuchData` when the result would exceed `maxBytes`, and other errors
 * for broken data. Calls `grow` with the number of bytes before keeping them; errors from `grow` propagate.
 */
export const unzstd = (data: Uint8Array, maxBytes: number, grow: (bytes: number) => void = () => {}): Uint8Array => {
  const pieces: Uint8Array[] = [];
  let left = maxBytes;
  for (const frame of zstdFrames(data)) {
    const piece = unzstdFrame(data.subarray(frame.from, frame.to), frame, left, grow);
    left -= piece.length;
    pieces.push(piece);
  }
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
};

const unzstdFrame = (
  data: Uint8Array,
  { contentBytes, windowBytes, blocks }: ZstdFrame,
  left: number,
  grow: (bytes: number) => void,
): Uint8Array => {
  if ((contentBytes ?? 0) > left || windowBytes > maxWindowBytes) throw new TooMuchData();
  if (contentBytes) {
    grow(contentBytes);
    return decompress(data);
  }
  // Without a declared size the library moves the whole window for each block.
  if (blocks * windowBytes > maxMovedBytes) throw new TooMuchData();
  const pieces: Uint8Array[] = [];
  let size = 0;
  const stream = new Decompress((piece) => {
    size += piece.length;
    if (size > left) throw new TooMuchData();
    grow(piece.length);
    pieces.push(piece);
  });
  stream.push(data, true);
  return Buffer.concat(pieces, size);
};

const maxWindowBytes = 128 * 1024 * 1024;
/** About one second of work. */
const maxMovedBytes = 8 * 1024 * 1024 * 1024;

/** One frame of zstd data, as its headers declare. */
interface ZstdFrame {
  /** Byte range of the frame. */
  readonly from: number;
  readonly to: number;
  /** Declared decompressed size in bytes, if any. */
  readonly contentBytes: number | undefined;
  readonly windowBytes: number;
  readonly blocks: number;
}

/** Finds the frames without decompressing them. Throws a `RangeError` for data that is cut off or isn't zstd. */
export const zstdFrames = (data: Uint8Array): readonly ZstdFrame[] => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const frames: ZstdFrame[] = [];
  for (let at = 0; at < data.length; ) {
    if (frameKind(view, at) === 'skippable') at += 8 + skippableBytes(view, at);
    else {
      const frame = readFrame(view, at);
      frames.push(frame);
      at = frame.to;
    }
    if (at > data.length) throw new RangeError('cut off');
  }
  return frames;
};

const readFrame = (view: DataView, from: number): ZstdFrame => {
  const { headBytes, contentBytes, windowBytes, checksumBytes } = readFrameHead(view, from);
  let blocks = 0;
  for (let at = from + headBytes; ; ) {
    const { bytes, isLast } = readBlockHead(view, at);
    at += blockHeadBytes + bytes;
    blocks += 1;
    if (isLast) return { from, to: at + checksumBytes, contentBytes, windowBytes, blocks };
  }
};
