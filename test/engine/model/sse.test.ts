import test from 'ava';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { runWhole } from '../../../engine/model/machine.ts';
import { RecordCutter, readSseRecords, recordEnds } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { replyContext } from '../../support/context.ts';
import { recordsOf } from '../../support/events.ts';
import { recordingsOf } from '../../support/upstreams/recordings.ts';

/** What stands outside the framing has tests of its own. */
const framed = (...chunks: readonly Uint8Array[]): readonly SseRecord[] =>
  recordsOf(...chunks).filter(({ outside }) => outside === undefined);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const cases: readonly (readonly [title: string, text: string, records: readonly SseRecord[]])[] = [
  ['data alone', 'data: a\n\n', [{ event: '', data: 'a' }]],
  ['event and data', 'event: e\ndata: a\n\n', [{ event: 'e', data: 'a' }]],
  [
    'only one blank is taken off',
    'data:  a\n\ndata:b\n\n',
    [
      { event: '', data: ' a' },
      { event: '', data: 'b' },
    ],
  ],
  ['CRLF', 'event: e\r\ndata: a\r\n\r\n', [{ event: 'e', data: 'a' }]],
  ['CR alone', 'event: e\rdata: a\r\r', [{ event: 'e', data: 'a' }]],
  ['comments and unknown fields', ': hi\nid: 1\nretry: 5\ndata: a\nfoo: x\n\n', [{ event: '', data: 'a' }]],
  ['several data lines', 'data: a\ndata\ndata: b\n\n', [{ event: '', data: 'a\n\nb' }]],
  ['an indented field does not continue JSON', 'data: [\n data: z\n\n', [{ event: '', data: '[' }]],
  [
    'JSON at the beginning of a line does not continue a record that broke off',
    'data: [1,\n{"error":2}\n\n',
    [{ event: '', data: '[1,' }],
  ],
  ['a byte order mark', '\ufeffdata: a\n\n', [{ event: '', data: 'a' }]],
  ['a byte order mark further on is text', '\ufeffdata: a\ufeff\n\n', [{ event: '', data: 'a\ufeff' }]],
  ['no empty line at the end', 'data: a', [{ event: '', data: 'a' }]],
  ['an event without data is none', 'event: e\n\ndata: a\n\n', [{ event: '', data: 'a' }]],
  ['letters of several bytes', 'data: żółw 🐢 日本\n\n', [{ event: '', data: 'żółw 🐢 日本' }]],
];

for (const [title, text, records] of cases) {
  test(title, (t) => {
    const all = bytes(text);
    t.deepEqual(framed(all), records);
    t.deepEqual(framed(...[...all].map((byte) => Uint8Array.of(byte))), records, 'byte by byte');
    for (let at = 0; at <= all.length; at += 1) {
      t.deepEqual(framed(all.subarray(0, at), all.subarray(at)), records, `cut at ${at}`);
    }
  });
}

const line = fc.oneof(
  fc.constantFrom('', 'data', 'data:', 'data: a', 'event: e', ': c', 'id: 7', 'data: 🐢é', 'x: y'),
  fc.string().map((text) => `data: ${text.replace(/[\r\n\ufeff\0]/g, '')}`),
);

test('any lines at any split read as an independent parser reads them', (t) => {
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(400)), (lines, end, cuts) => {
      const text = `${lines.join(end)}${end}${end}`;
      const expected: SseRecord[] = [];
      const parser = createParser({ onEvent: ({ event, data }) => expected.push({ event: event ?? '', data }) });
      parser.feed(text);
      const all = bytes(text);
      const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
      const chunks = places.slice(1).map((to, index) => all.subarray(places[index], to));
      t.deepEqual(
        framed(...chunks),
        expected.filter(({ data }) => data.trim() !== ''),
      );
    }),
    { numRuns: 500 },
  );
});

const byte = fc.oneof(
  fc.constantFrom(...bytes('data: a\n\n'), ...bytes('\ufeffé🐢'), 0xff, 0xc3, 0xe2),
  fc.integer({ min: 0, max: 255 }),
);

test('bytes that are no text, at any split, are replaced as a decoder of the whole replaces them', (t) => {
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 60 }), fc.array(fc.nat(60)), (tail, cuts) => {
      const all = Uint8Array.from([...bytes('data: '), ...tail]);
      const expected = recordsOf(bytes(new TextDecoder().decode(all)));
      const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
      const chunks = places.slice(1).map((to, index) => all.subarray(places[index], to));
      t.deepEqual(recordsOf(...chunks), expected);
    }),
    { numRuns: 3000 },
  );
});

test('a long line in tiny pieces costs linear time', (t) => {
  const piece = bytes('x'.repeat(10));
  const chunks = [bytes('data: '), ...Array.from({ length: 200_000 }, () => piece), bytes('\n\n')];
  const [record] = runWhole(readSseRecords, replyContext(), chunks);
  t.is(record?.data.length, 2_000_000);
});

/** As `recordsOf`, for more pieces than a call may have arguments. */
const recordsIn = (pieces: readonly Uint8Array[]) => runWhole(readSseRecords, replyContext(), pieces);

/** Random splits of each recording; `SPLITS=10000` is the size that the bar names. */
const splits = Number(process.env.SPLITS ?? 15);

test(`R5 ${splits} random splits of each recording, and all of one byte, give the same records`, (t) => {
  t.timeout(900_000);
  const folders = ['anthropic', 'openai-chat', 'openai-responses', 'deepseek', 'gemini', 'groq', 'openrouter'];
  const recordings = folders.flatMap(recordingsOf).filter(({ streamed }) => streamed);
  let seed = 1;
  // Numerical Recipes' generator: the same splits in every run.
  const below = (limit: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * limit);
  };
  for (const { format, name, bytes } of recordings) {
    const whole = JSON.stringify(recordsOf(bytes));
    t.false(whole.includes('\ufffd'), `${format}/${name}`);
    t.is(JSON.stringify(recordsIn(Array.from(bytes, (byte) => Uint8Array.of(byte)))), whole, `${format}/${name}`);
    for (let split = 0; split < splits; split += 1) {
      const places = Array.from({ length: 1 + below(12) }, () => below(bytes.length)).sort((a, b) => a - b);
      const pieces = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
      if (JSON.stringify(recordsIn(pieces)) !== whole) t.fail(`${format}/${name} split at ${places}`);
    }
  }
  t.true(recordings.length > 50);
});

/** Bytes after the last empty line, however the text is split. */
const openCases: readonly (readonly [string, string, number])[] = [
  ['nothing ended', 'data: a', 7],
  ['one ended', 'data: a\n\n', 0],
  ['the next one has begun', 'data: a\n\ndata: bc', 8],
  ['lines without an empty one', 'data: a\ndata: b\n', 16],
  ['CRLF without an empty line', 'data: a\r\ndata: b\r\n', 18],
  ['CRLF', 'data: a\r\n\r\nxy', 2],
  ['CR', 'data: a\r\rxy', 2],
  ['CR without an empty line', 'data: a\rxy', 10],
  ['LF, then CRLF', 'data: a\n\r\nxy', 2],
];

for (const [title, text, pending] of openCases) {
  test(`what is left of a record: ${title}`, (t) => {
    const bytes = Buffer.from(text);
    const crossing = (cuts: readonly number[]): number => {
      const cutter = new RecordCutter();
      for (const [index, cut] of cuts.entries()) cutter.take(bytes.subarray(cut, cuts[index + 1] ?? bytes.length));
      return cutter.pendingBytes;
    };
    const single = Array.from(bytes, (_, index) => index);
    // The line feed of a CRLF may be counted with what follows it.
    for (const cuts of [[0], single, ...single.slice(1).map((cut) => [0, cut])]) {
      const counted = crossing(cuts);
      t.true(counted >= pending && counted <= pending + 1, `${cuts}: ${counted}`);
    }
  });
}

test('a line end split between two chunks isn’t an empty line', (t) => {
  const cutter = new RecordCutter();
  for (let line = 0; line < 100; line += 1) for (const chunk of ['data: a\r', '\n']) cutter.take(Buffer.from(chunk));
  t.is(cutter.pendingBytes, 900);
});

test('records end where a line by line reading finds their ends', (t) => {
  const text = fc.array(fc.constantFrom('a', 'data: x', '\n', '\n\n', '\r\n\r\n', '\r\r', '\r', 'żółw'), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(text, (pieces) => {
      const all = Buffer.from(`${pieces.join('')}z`);
      const whole = all.toString('latin1');
      const expected = [...whole.matchAll(/(?:\r\n|(?<!\r)\n|\r(?!\n)){2,}/g)].map(
        ({ index, 0: gap }) => index + gap.length,
      );
      const ends = new Set<number>();
      // A further empty line may belong to the next record.
      for (const at of recordEnds(all)) {
        if (at < all.length) ends.add(at + (/^[\r\n]*/.exec(whole.slice(at))?.[0].length ?? 0));
      }
      t.deepEqual([...ends], expected);
    }),
    { numRuns: 2_000 },
  );
});
