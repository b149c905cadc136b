import { Decompress, decompress } from 'fzstd';

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
  /** Window size in bytes. */
  readonly windowBytes: number;
  readonly blocks: number;
}

/**
 * Finds the frames without decompressing them, to check declared sizes first: a hostile body declares huge ones.
 * Throws a `RangeError` for data that is cut off or isn't zstd. Source: RFC 8878, "Frames", "Blocks", "Skippable Frames".
 */
export const zstdFrames = (data: Uint8Array): readonly ZstdFrame[] => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const frames: ZstdFrame[] = [];
  for (let at = 0; at < data.length; ) {
    const magic = view.getUint32(at, true);
    if (magic >>> 4 === skippable) at += 8 + view.getUint32(at + 4, true);
    else if (magic === zstd) {
      const frame = readFrame(view, at);
      frames.push(frame);
      at = frame.to;
    } else throw new RangeError('not zstd');
    if (at > data.length) throw new RangeError('cut off');
  }
  return frames;
};

const zstd = 0xfd2fb528;
const skippable = 0x184d2a5;

const readFrame = (view: DataView, from: number): ZstdFrame => {
  const descriptor = view.getUint8(from + 4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const sizeAt = from + 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const contentBytes = readSize(view, sizeAt, sizeBytes);
  const windowBytes = isSingleSegment ? (contentBytes ?? 0) : windowSize(view.getUint8(from + 5));
  const { to, blocks } = skipBlocks(view, sizeAt + sizeBytes);
  const checksumBytes = (descriptor & 4) !== 0 ? 4 : 0;
  return { from, to: to + checksumBytes, contentBytes, windowBytes, blocks };
};

const readSize = (view: DataView, at: number, bytes: number): number | undefined => {
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  if (bytes === 4) return view.getUint32(at, true);
  return bytes === 8 ? Number(view.getBigUint64(at, true)) : undefined;
};

const windowSize = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
};

const skipBlocks = (view: DataView, from: number): { readonly to: number; readonly blocks: number } => {
  let blocks = 0;
  for (let at = from; ; ) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const isRepeatedByte = ((header >> 1) & 3) === 1;
    at += 3 + (isRepeatedByte ? 1 : header >> 3);
    blocks += 1;
    if ((header & 1) === 1) return { to: at, blocks };
  }
};
