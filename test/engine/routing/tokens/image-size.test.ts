import { Buffer } from 'node:buffer';
import test from 'ava';
import fc from 'fast-check';
import { imageSize } from '../../../../engine/routing/tokens/image-size.ts';

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

const be16 = (value: number): number[] => [value >> 8, value & 255];
const le16 = (value: number): number[] => [value & 255, value >> 8];
const le24 = (value: number): number[] => [value & 255, (value >> 8) & 255, value >> 16];
const pad = new Array<number>(40).fill(0);

const segment = (marker: number, length: number): number[] => [
  0xff,
  marker,
  ...be16(length),
  ...new Array<number>(length - 2).fill(0),
];
const frame = (marker: number): number[] => [0xff, marker, ...be16(17), 8, ...be16(600), ...be16(800), 3, ...pad];

const cases = [
  ['PNG', bytes('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, ...be16(800), 0, 0, ...be16(600)], pad)],
  ['GIF', bytes('GIF89a', le16(800), le16(600), pad)],
  ['WebP with loss', bytes('RIFF\0\0\0\0WEBPVP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a], le16(800), le16(600), pad)],
  [
    'WebP without loss',
    bytes('RIFF\0\0\0\0WEBPVP8L', [0, 0, 0, 0, 0x2f], le24((799 | (599 << 14)) & 0xffffff), [(599 << 14) >> 24], pad),
  ],
  ['WebP with extras', bytes('RIFF\0\0\0\0WEBPVP8X', [10, 0, 0, 0, 0, 0, 0, 0], le24(799), le24(599), pad)],
  ['JPEG', bytes([0xff, 0xd8], segment(0xe0, 16), frame(0xc0))],
  ['progressive JPEG with tables first', bytes([0xff, 0xd8], segment(0xdb, 67), segment(0xc4, 31), frame(0xc2))],
  [
    'JPEG with a long preview and fill bytes',
    bytes([0xff, 0xd8], segment(0xe1, 65_535), segment(0xe2, 60_000), [0xff, 0xff], frame(0xc0)),
  ],
] as const;
for (const [title, image] of cases) {
  test(`the size of a ${title}`, (t) => t.deepEqual(imageSize(image.toString('base64')), { width: 800, height: 600 }));
}

const unknown = [
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('this is no image at all')],
  ['a PNG that ends early', cases[0][1].subarray(0, 20)],
  ['a JPEG that ends early', cases[5][1].subarray(0, 22)],
  ['a JPEG without a frame', bytes([0xff, 0xd8], segment(0xe0, 16), [0xff, 0xd9, 0, 0], pad)],
  ['an image without pixels', bytes('GIF89a', le16(0), le16(600), pad)],
] as const;
for (const [title, image] of unknown) {
  test(`no size: ${title}`, (t) => t.is(imageSize(image.toString('base64')), undefined));
}

test('no bytes make it throw', (t) => {
  const heads = fc.constantFrom('\xff\xd8', '\x89PNG', 'GIF89a', 'RIFF\0\0\0\0WEBPVP8X', '');
  fc.assert(
    fc.property(heads, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
      imageSize(bytes(head, [...tail]).toString('base64'));
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void imageSize(text)));
  t.pass();
});
