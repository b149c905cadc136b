import test from 'ava';
import fc from 'fast-check';
import { StreamTail } from '../../../engine/operators/pass-records.ts';

const text = fc.array(fc.constantFrom('a', 'data: x', '\n', '\n\n', '\r\n\r\n', 'long '.repeat(20)), { maxLength: 90 });

/** Where the record begins that has this many behind it. */
const recordStart = (whole: string, behind: number): number => {
  const starts = [0, ...[...whole.matchAll(/\n\r?\n/g)].map(({ index }) => index + 1)].filter(
    (at) => at < whole.length - 2,
  );
  return starts.at(-1 - behind) ?? 0;
};

test('what is kept has the last bytes, and the last records whole unless they are too long', (t) => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(4000), { maxLength: 40 }), fc.nat(100), (pieces, cuts, least) => {
      const all = Buffer.from(pieces.join(''));
      const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
      let overflows = 0;
      const tail = new StreamTail(least, 1500, () => {
        overflows += 1;
      });
      places.slice(1).forEach((to, index) => {
        tail.add(all.subarray(places[index], to));
      });
      const kept = tail.bytes;
      t.true(kept.equals(all.subarray(all.length - kept.length)), 'it is the end');
      t.is(tail.cut, kept.length < all.length);
      t.true(kept.length >= Math.min(least, all.length), 'enough of it');
      if (overflows === 0) t.true(kept.length >= all.length - recordStart(all.toString(), 2), 'with the last records');
    }),
    { numRuns: 2000 },
  );
});

test('of a long stream of short records little more is kept than is asked for', (t) => {
  const tail = new StreamTail(1000, 1_000_000);
  for (let count = 0; count < 10_000; count += 1) tail.add(Buffer.from(`data: ${'x'.repeat(92)}\n\n`));
  t.true(tail.bytes.length >= 1000 && tail.bytes.length <= 8_192, String(tail.bytes.length));
});

test('a record that is too long is reported while it passes, and not kept', (t) => {
  const seen: string[] = [];
  const tail = new StreamTail(10, 10_000, ({ bytes }) => seen.push(bytes.toString()));
  tail.add(Buffer.from('data: a\n\n'));
  tail.add(Buffer.from('data: begins '));
  for (let count = 0; count < 1000; count += 1) tail.add(Buffer.from('x'.repeat(100)));
  t.true(seen[0]?.startsWith('data: a\n\ndata: begins '));
  t.true(tail.bytes.length <= 50_000);
});
