import { Buffer } from 'node:buffer';

/** Width and height in pixels. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Bytes searched for a JPEG's size, which may follow profiles and previews. In base64 characters; a multiple of four. */
const maxHead = 512 * 1024;
/** Enough for most JPEGs. */
const usualHead = 16 * 1024;
const shortHead = 64;

/**
 * Reads the size of a PNG, GIF, WebP or JPEG image from its first bytes; `undefined` for other data. Ignores the declared
 * media type. Source: the four formats' specifications (PNG "IHDR", GIF89a "Logical
 * Screen Descriptor", WebP "VP8", "VP8L" and "VP8X" chunks, ITU T.81 "Frame header").
 */
export const imageSize = (base64: string): ImageSize | undefined => {
  const head = Buffer.from(base64.slice(0, shortHead), 'base64');
  if (head.length < 10) return undefined;
  if (head.toString('latin1', 1, 4) === 'PNG') return pngSize(head);
  if (head.toString('latin1', 0, 3) === 'GIF') return sized(head.readUInt16LE(6), head.readUInt16LE(8));
  if (head.toString('latin1', 0, 4) === 'RIFF') return webpSize(head);
  if (head.readUInt16BE(0) === 0xffd8) return jpegSizeIn(base64, usualHead) ?? jpegSizeIn(base64, maxHead);
  return undefined;
};

const sized = (width: number, height: number): ImageSize | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined;

const pngSize = (head: Buffer): ImageSize | undefined =>
  head.length < 24 ? undefined : sized(head.readUInt32BE(16), head.readUInt32BE(20));

const webpSize = (head: Buffer): ImageSize | undefined => {
  if (head.length < 30) return undefined;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return sized(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return sized(head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
};

const jpegSizeIn = (base64: string, characters: number): ImageSize | undefined =>
  jpegSize(Buffer.from(base64.slice(0, characters), 'base64'));

/** Skips segments up to the frame header. */
const jpegSize = (head: Buffer): ImageSize | undefined => {
  let at = 2;
  while (at + 9 <= head.length) {
    if (head[at] !== 0xff) return undefined;
    const marker = head[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (isFrame(marker)) return sized(head.readUInt16BE(at + 7), head.readUInt16BE(at + 5));
    else at += 2 + head.readUInt16BE(at + 2);
  }
  return undefined;
};

/** Start of a frame: 0xC0 to 0xCF except DHT, JPG and DAC. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
