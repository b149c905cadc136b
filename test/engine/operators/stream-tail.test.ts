import test from 'ava';
import fc from 'fast-check';
import { StreamTail } from '../../../engine/operators/stream-tail.ts';

const text = fc.array(fc.constantFrom('a', 'data: x', '\n', '\n\n', '\r\n\r\n', 'long '.repeat(20)), { maxLength: 60 });

test('what is kept has the last bytes, and the last record whole unless it is too long', (t) => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(2000), { maxLength: 30 }), fc.nat(100), (pieces, cuts, least) => {
      const all = Buffer.from(pieces.join(''));
      const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
      let overflows = 0;
      const tail = new StreamTail(least, 800, () => {
        overflows += 1;
      });
      places.slice(1).forEach((to, index) => {
        const chunk = all.subarray(places[index], to);
        if (chunk.length > 0) tail.add(chunk);
      });
      const kept = tail.bytes;
      t.true(kept.equals(all.subarray(all.length - kept.length)), 'it is the end');
      t.is(tail.cut, kept.length < all.length);
      t.true(kept.length >= Math.min(least, all.length), 'enough of it');
      const whole = all.toString();
      const lastRecord = Math.max(whole.lastIndexOf('\n\n'), whole.lastIndexOf('\n\r\n'));
      if (overflows === 0) t.true(kept.length >= all.length - lastRecord - 1, 'with the last record');
    }),
    { numRuns: 1000 },
  );
});

test('of records that end where chunks do, no more is kept than is asked for', (t) => {
  const tail = new StreamTail(1000, 1_000_000);
  for (let count = 0; count < 1000; count += 1) tail.add(Buffer.from(`data: ${'x'.repeat(92)}\n\n`));
  t.is(tail.bytes.length, 1000);
});

test('a record that is too long is told of once, whole so far', (t) => {
  const seen: string[] = [];
  const tail = new StreamTail(10, 1000, ({ bytes }) => seen.push(bytes.toString()));
  tail.add(Buffer.from('data: a\n\n'));
  tail.add(Buffer.from('data: begins '));
  for (let count = 0; count < 100; count += 1) tail.add(Buffer.from('x'.repeat(100)));
  t.is(seen.length, 1);
  t.true(seen[0]?.includes('data: begins '));
  t.true(tail.bytes.length <= 1100);
});
