import test from 'ava';
import { lastValueFrom } from 'rxjs';
import { inSlices, RecordBound } from '../../../engine/operators/bound-answer.ts';

/** Bytes after the last empty line, however the text is split. */
const cases: readonly (readonly [string, string, number])[] = [
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

for (const [title, text, pending] of cases) {
  test(`what is left of a record: ${title}`, (t) => {
    const bytes = Buffer.from(text);
    const crossing = (cuts: readonly number[]): number => {
      const bound = new RecordBound();
      for (const [index, cut] of cuts.entries()) bound.add(bytes.subarray(cut, cuts[index + 1] ?? bytes.length));
      return bound.pendingBytes;
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
  const bound = new RecordBound();
  for (let line = 0; line < 100; line += 1) for (const chunk of ['data: a\r', '\n']) bound.add(Buffer.from(chunk));
  t.is(bound.pendingBytes, 900);
});

test('other work of the event loop runs between two slices', async (t) => {
  const order: string[] = [];
  const work = (function* () {
    for (const slice of ['1', '2', '3']) {
      order.push(slice);
      yield undefined;
    }
    return 'done';
  })();
  const other = (): void => {
    order.push('other');
    if (order.at(-2) !== '3') setImmediate(other);
  };
  const result = lastValueFrom(inSlices('decode-reply', () => work.next()));
  setImmediate(other);
  t.is(await result, 'done');
  t.deepEqual(order.slice(0, 6), ['1', 'other', '2', 'other', '3', 'other']);

  const failing = inSlices('decode-reply', () => {
    throw new Error('boom');
  });
  await t.throwsAsync(lastValueFrom(failing), { message: 'boom' });

  let slices = 0;
  const abandoned = inSlices('decode-reply', () => {
    slices += 1;
    return { done: false, value: undefined };
  }).subscribe();
  await new Promise((resolve) => setImmediate(resolve));
  abandoned.unsubscribe();
  const until = slices;
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  t.is(slices, until, 'nobody waits for the rest');
});
