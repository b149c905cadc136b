/*
 * The headers of zstd frames and blocks. They declare what decoding costs, which is checked first: hostile data declares huge sizes.
 * Reading beyond the view throws a `RangeError`. Source: RFC 8878, sections 3.1.1 and 3.1.2.
 */

const zstd = 0xfd2fb528;
const skippable = 0x184d2a5;
export const blockHeadBytes = 3;
/** The longest header of a frame, in bytes. */
export const maxFrameHeadBytes = 18;

/** The frame at this offset: a frame, or one without content. Throws a `RangeError` for other data. */
export const frameKind = (view: DataView, at: number): 'content' | 'skippable' => {
  const magic = view.getUint32(at, true);
  if (magic === zstd) return 'content';
  if (magic >>> 4 === skippable) return 'skippable';
  throw new RangeError('not zstd');
};

/** Bytes of a skippable frame after its header of 8 bytes. */
export const skippableBytes = (view: DataView, at: number): number => view.getUint32(at + 4, true);

/** Bytes of a frame's header; `descriptor`: its fifth byte. */
export const frameHeadBytes = (descriptor: number): number => sizeAt(descriptor) + sizeBytes(descriptor);

/** A frame's header. `contentBytes`: the decompressed size, if any; the checksum follows the last block. */
export const readFrameHead = (view: DataView, at: number) => {
  const descriptor = view.getUint8(at + 4);
  const contentBytes = readSize(view, at + sizeAt(descriptor), sizeBytes(descriptor));
  return {
    headBytes: frameHeadBytes(descriptor),
    contentBytes,
    windowBytes: isSingleSegment(descriptor) ? (contentBytes ?? 0) : windowSize(view.getUint8(at + 5)),
    checksumBytes: (descriptor & 4) !== 0 ? 4 : 0,
  };
};

/** A block's header. `bytes`: those of the block after its header. */
export const readBlockHead = (view: DataView, at: number) => {
  const head = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  const isRepeatedByte = ((head >> 1) & 3) === 1;
  return { bytes: isRepeatedByte ? 1 : head >> 3, isLast: (head & 1) === 1 };
};

const isSingleSegment = (descriptor: number): boolean => (descriptor & 0x20) !== 0;

const sizeAt = (descriptor: number): number =>
  5 + (isSingleSegment(descriptor) ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);

const sizeBytes = (descriptor: number): number => [isSingleSegment(descriptor) ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;

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
