import test from 'ava';
import fc from 'fast-check';
import { RecordCutter } from '../../../engine/model/wire/sse.ts';
import { WholeRecords } from '../../../engine/operators/relay-records.ts';
import { chatClient } from '../../../protocols/chat/index.ts';

const text = fc.array(fc.constantFrom('a', 'data: x', '\n', '\n\n', '\r\n\r\n', '\r\r', '\r', 'żółw'), {
  maxLength: 60,
});

/** What passes on, and what is held back in the end. */
const pass = (all: Buffer, cuts: readonly number[], most?: number) => {
  const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
  const cutter = new RecordCutter();
  const records = new WholeRecords(cutter, most);
  const passed = places.slice(1).flatMap((to, index) => {
    const chunk = all.subarray(places[index], to);
    cutter.take(chunk);
    return records.take(chunk) ?? [];
  });
  return { passed, held: records.takeBuffered() };
};

test('however a stream is cut, whole records pass on as they came and the rest is held back', (t) => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(300), { maxLength: 20 }), (pieces, cuts) => {
      const all = Buffer.from(pieces.join(''));
      const { passed, held } = pass(all, cuts);
      t.true(Buffer.concat([...passed, held]).equals(all));
      for (const bytes of passed) t.regex(bytes.toString('latin1'), /[\r\n]$/);
      t.notRegex(
        held.toString('latin1').replaceAll('\r\n', '\n'),
        /[^\n][\n\r][\n\r][^\n\r]/,
        'no record is held back',
      );
    }),
    { numRuns: 2_000 },
  );
});

test('a record beyond the bound passes in pieces', (t) => {
  const { passed, held } = pass(Buffer.from(`data: ${'x'.repeat(100)}\n\ndata: y`), [10, 20, 40, 60], 30);
  t.deepEqual(
    passed.map(({ length }) => length),
    [40, 20, 48],
  );
  t.is(held.toString(), 'data: y');
});

test('the marker that most records are passed by matches where one of the two matches that it stands for', (t) => {
  const { marker, calls } = chatClient.ends;
  const word = fc.constantFrom(
    ...[
      '[DONE]',
      '"error"',
      '"finish_reason":',
      ' ',
      '"stop"',
      'null',
      '"code":',
      '"base_resp":',
      '"usage":',
      '{',
      '}',
    ],
    ...['"tool_calls"', '"function_call"', '"content":', 'x'],
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const record = words.join('');
      t.is(calls?.eitherMarker.test(record), marker.test(record) || calls?.marker.test(record), record);
    }),
    { numRuns: 2_000 },
  );
});
