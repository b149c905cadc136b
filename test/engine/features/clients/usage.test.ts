import test from 'ava';
import { nextPeriodMs, UsageLedger } from '../../../../engine/features/clients/usage.ts';

const at = (text: string): number => Date.parse(text);

for (const [now, day, month] of [
  ['2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  ['2026-12-31T00:00:00Z', '2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['2028-02-28T12:00:00Z', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z'],
] as const) {
  test(`after ${now} the next day and month begin in UTC`, (t) => {
    t.is(nextPeriodMs('day', at(now)), at(day));
    t.is(nextPeriodMs('month', at(now)), at(month));
  });
}

test('use is summed by client; a day and a month begin anew', (t) => {
  let nowMs = at('2026-01-30T23:00:00Z');
  const ledger = new UsageLedger(() => nowMs);
  ledger.add('a', { requests: 1 });
  ledger.add('a', { input: 10, output: 5 });
  ledger.add('__proto__', { requests: 7 });
  t.deepEqual(ledger.used('a', 'day'), { requests: 1, input: 10, output: 5, cost: 0, unpriced: 0 });
  t.is(ledger.used('__proto__', 'day').requests, 7);
  t.is(ledger.used('b', 'month').requests, 0);
  t.deepEqual(ledger.next('day'), { atMs: at('2026-01-31T00:00:00Z'), inMs: 3_600_000 });
  nowMs += 3_600_000;
  t.is(ledger.used('a', 'day').requests, 0);
  ledger.add('a', { requests: 2 });
  t.is(ledger.used('a', 'month').requests, 3);
  nowMs += 24 * 3_600_000;
  t.is(ledger.used('a', 'month').requests, 0);
});

test('what others have counted in the same period is added; a record of another period is not', (t) => {
  const now = (): number => at('2026-01-30T12:00:00Z');
  const [one, other, third] = [new UsageLedger(now), new UsageLedger(now), new UsageLedger(now)];
  one.add('a', { requests: 1, input: 1 });
  other.add('a', { requests: 2, input: 20 });
  const old = { day: { key: '2026-01-29', clients: other.record.day.clients }, month: other.record.month };
  one.learn([other.record, old]);
  t.deepEqual(one.used('a', 'day'), { requests: 3, input: 21, output: 0, cost: 0, unpriced: 0 });
  t.deepEqual(one.used('a', 'month'), { requests: 5, input: 41, output: 0, cost: 0, unpriced: 0 });
  one.learn([other.record]);
  t.is(one.used('a', 'day').requests, 3, 'the same record again counts once');
  third.resume(other.record);
  third.add('a', { requests: 1 });
  t.is(third.used('a', 'day').requests, 3);
  third.resume(old);
  t.is(third.used('a', 'day').requests, 3);
});

test('the clients that are remembered have a bound', (t) => {
  const ledger = new UsageLedger(() => 0);
  for (let n = 0; n < 6_000; n += 1) ledger.add(`client-${n}`, { requests: 1 });
  t.is(Object.keys(ledger.record.day.clients).length, 5_000);
  t.is(ledger.used('client-5999', 'day').requests, 1);
});
