/** One frame of zstd data, as its headers tell before anything is decompressed. */
export interface ZstdFrame {
  /** Bytes of the frame within the data. */
  readonly from: number;
  readonly to: number;
  /** Bytes that its writer says it holds, where it says so. */
  readonly contentBytes: number | undefined;
  /** Bytes of history that decompressing it takes. */
  readonly windowBytes: number;
  readonly blocks: number;
}

/**
 * Finds the frames without decompressing: sizes in their headers are what a hostile body lies about to take up memory.
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
