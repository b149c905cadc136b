import test from 'ava';
import { TooMuchData, unzstd, zstdFrames } from '../../../engine/http/zstd.ts';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';
import { echo, serve } from './rig.ts';

/** Written by zstd 1.5: `hello zstd hello zstd hello zstd` with and without its size, and 300 000 zero bytes. */
const sized = Buffer.from('KLUv/SQgjQAAWGhlbGxvIHpzdGQgAQD+ihcKAyKO', 'base64');
const streamed = Buffer.from('KLUv/QRYjQAAWGhlbGxvIHpzdGQgAQD+ihcKAyKO', 'base64');
const zeros = Buffer.from('KLUv/QRYVAAAEAAAAQD7/znAAgIAEAADnwQALSjeJg==', 'base64');
const words = 'hello zstd hello zstd hello zstd';
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

const block = (type: number, size: number, last: boolean, body: readonly number[]): Buffer => {
  const header = (size << 3) | (type << 1) | (last ? 1 : 0);
  return Buffer.from([header & 255, (header >> 8) & 255, header >> 16, ...body]);
};
const frame = (head: readonly number[], ...blocks: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...head]), ...blocks]);
const window = (descriptor: number): readonly number[] => [0, descriptor];
const last = block(0, 1, true, [65]);

const good: readonly (readonly [string, Buffer, string])[] = [
  ['a frame that tells its size', sized, words],
  ['a frame that does not', streamed, words],
  ['two frames', Buffer.concat([sized, streamed]), words + words],
  ['frames to skip', Buffer.concat([skippable, sized, skippable]), words],
  ['blocks of one repeated byte', zeros, '\0'.repeat(300_000)],
  ['a stored block', frame(window(0), last), 'A'],
  ['nothing', Buffer.alloc(0), ''],
];
for (const [title, data, expected] of good) {
  test(`unzstd reads ${title}`, (t) => t.is(Buffer.from(unzstd(data, 1_000_000)).toString(), expected));
}

const repeated = block(1, 131_072, false, [0]);
const tooMuch: readonly (readonly [string, Buffer])[] = [
  ['a bomb of repeated bytes', frame(window(0x38), ...Array.from({ length: 2000 }, () => repeated), last)],
  ['a size that is a lie', frame([0xe0, 0, 0, 0, 0, 0, 1, 0, 0], last)],
  ['a large window', frame(window(0xff), last)],
  ['a second frame with a large window', Buffer.concat([sized, frame(window(0xff), last)])],
  [
    'countless blocks in a large window',
    frame(window(0x88), ...Array.from({ length: 9000 }, () => block(0, 0, false, [])), last),
  ],
  ['frames that are too much together', Buffer.concat(Array.from({ length: 4 }, () => zeros))],
];
for (const [title, data] of tooMuch) {
  test(`unzstd refuses ${title} at once`, (t) => {
    const from = cpuTimeMs();
    t.throws(() => unzstd(data, 1_000_000), { instanceOf: TooMuchData });
    t.true(cpuTimeMs() - from < 3_000);
  });
}

test('unzstd rejects truncated data, and data that is not zstd', (t) => {
  for (let length = 1; length < streamed.length; length += 1) {
    t.throws(() => unzstd(streamed.subarray(0, length), 1000), undefined, String(length));
  }
  t.throws(() => unzstd(Buffer.from('hello'), 1000));
  t.throws(() => unzstd(Buffer.concat([sized, Buffer.from('rest')]), 1000));
  t.throws(() => unzstd(skippable.subarray(0, 9), 1000));
});

for (const [flag, dictionary] of [
  [1, [7]],
  [2, [7, 0]],
  [3, [7, 0, 0, 0]],
] as const) {
  test(`a frame with a dictionary's number in ${dictionary.length} bytes has its size`, (t) => {
    const data = frame([flag, 0, ...dictionary], last);
    t.deepEqual(zstdFrames(data), [
      { from: 0, to: data.length, contentBytes: undefined, windowBytes: 1024, blocks: 1 },
    ]);
  });
}

test('frames have their sizes', (t) => {
  const data = Buffer.concat([skippable, sized, zeros]);
  t.deepEqual(zstdFrames(data), [
    { from: 11, to: 41, contentBytes: 32, windowBytes: 32, blocks: 1 },
    { from: 41, to: data.length, contentBytes: undefined, windowBytes: 2_097_152, blocks: 3 },
  ]);
});

const single = 0x20;
const checked = 0x04;
const frameCases: readonly (readonly [
  head: readonly number[],
  contentBytes: number | undefined,
  windowBytes: number,
  checksum?: readonly number[],
])[] = [
  [[single, 5], 5, 5],
  [[single | 0x40, 1, 2], 0x0201 + 256, 0x0201 + 256],
  [[single | 0x80, 1, 2, 3, 4], 0x04030201, 0x04030201],
  [[single | 0xc0, 1, 0, 0, 0, 1, 0, 0, 0], 2 ** 32 + 1, 2 ** 32 + 1],
  [[0x40, 0, 1, 2], 0x0201 + 256, 1024],
  [window(0), undefined, 1024],
  [window(0x0b), undefined, 2048 + 3 * 256],
  [[checked, 0x07], undefined, 1024 + 7 * 128, [1, 2, 3, 4]],
];
test('what the heads of frames declare', (t) => {
  for (const [head, contentBytes, windowBytes, checksum = []] of frameCases) {
    const data = Buffer.concat([
      frame(head, block(1, 70_000, false, [65]), block(0, 300, true, Array(300).fill(65))),
      Buffer.from(checksum),
    ]);
    t.deepEqual(zstdFrames(data), [{ from: 0, to: data.length, contentBytes, windowBytes, blocks: 2 }], `${head}`);
  }
});

test('each piece is claimed before it is kept, up to exactly the limit', (t) => {
  const claimed: number[] = [];
  const twice = Buffer.concat([sized, streamed]);
  t.is(unzstd(twice, 64, (bytes) => claimed.push(bytes)).length, 64);
  t.deepEqual(
    claimed.filter((bytes) => bytes > 0),
    [32, 32],
  );
  for (const [data, most] of [
    [sized, 31],
    [streamed, 31],
    [twice, 63],
  ] as const) {
    t.throws(() => unzstd(data, most), { instanceOf: TooMuchData });
  }
  for (const data of [sized, streamed]) {
    t.throws(
      () =>
        unzstd(data, 64, () => {
          throw new RangeError('no memory');
        }),
      { message: 'no memory' },
    );
  }
});

for (const [title, body, status] of [
  ['good', streamed, 200],
  ['broken', streamed.subarray(0, 20), 400],
  ['too large', tooMuch[0]?.[1] ?? streamed, 413],
] as const) {
  test(`a zstd body that is ${title} gets ${status}`, async (t) => {
    const { port } = await serve(t, [{ method: 'POST', path: '/', endpoint: echo }]);
    const headers = { 'content-encoding': 'zstd' };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: Uint8Array.from(body) });
    t.is(answer.status, status);
    if (status === 200) t.is(await answer.text(), words);
  });
}
