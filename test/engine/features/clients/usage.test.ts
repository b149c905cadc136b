import test from 'ava';
import {
  ClientTotals,
  type ClientUsageRecord,
  nextPeriodMs,
  UsageLedger,
} from '../../../../engine/features/clients/usage.ts';

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

test('what other processes have counted in the same period is added; a record of another period is not', async (t) => {
  const now = (): number => at('2026-01-30T12:00:00Z');
  const kept = new ClientTotals(now);
  const keep = async (used: ClientUsageRecord) => {
    kept.add(used);
    return { all: kept.record, restates: true };
  };
  const [one, other] = [new UsageLedger(now), new UsageLedger(now)];
  one.add('a', { requests: 1, input: 1 });
  other.add('a', { requests: 2, input: 20 });
  await other.exchange(keep);
  t.is(one.used('a', 'day').requests, 1);
  await one.exchange(keep);
  t.deepEqual(one.used('a', 'day'), { requests: 3, input: 21, output: 0, cost: 0, unpriced: 0 });
  await one.exchange(keep);
  t.is(one.used('a', 'day').requests, 3, 'a second exchange counts nothing twice');
  kept.add({
    day: { key: '2026-01-29', clients: { a: { requests: 9, input: 0, output: 0 } } },
    month: kept.record.month,
  });
  await one.exchange(keep);
  t.is(one.used('a', 'day').requests, 3);
  t.is(one.used('a', 'month').requests, 6);
});

test('what can not be handed over is counted all the while, and handed over later', async (t) => {
  const ledger = new UsageLedger(() => 0);
  ledger.add('a', { requests: 1 });
  let refuse: (error: Error) => void = () => undefined;
  const failed = ledger.exchange(
    () =>
      new Promise((_, reject) => {
        refuse = reject;
      }),
  );
  ledger.add('a', { requests: 2 });
  t.is(ledger.used('a', 'day').requests, 3);
  refuse(new Error('hangs'));
  await t.throwsAsync(failed);
  t.is(ledger.used('a', 'day').requests, 3);
  let taken = 0;
  await ledger.exchange(async (used) => {
    taken += used.day.clients.a?.requests ?? 0;
    return { all: used, restates: true };
  });
  t.is(taken, 3);
  t.is(ledger.used('a', 'day').requests, 3);
});

test('a store that has lost its counters gets them from the process that restates them', async (t) => {
  let restate: () => Iterable<readonly [string, number]> = () => [];
  const shared = {
    add: () => undefined,
    total: () => 0,
    whenKnown: () => undefined,
    onLoss(next: typeof restate) {
      restate = next;
    },
  };
  const ledger = new UsageLedger(
    () => at('2026-01-30T12:00:00Z'),
    shared,
    () => [['a', 'month']],
  );
  ledger.add('a', { input: 2, cost: 5 }, 'month');
  t.deepEqual([...restate()], [], 'not before it is chosen');
  const clients = { a: { requests: 1, input: 10, output: 0, cost: 7, unpriced: 0 } };
  const all = { day: { key: '2026-01-30', clients: {} }, month: { key: '2026-01', clients } };
  await ledger.exchange(async () => ({ all, restates: true }));
  t.deepEqual(
    [...restate()],
    [
      ['2026-01 a tokens', 10],
      ['2026-01 a cost', 7],
    ],
  );
});

test('the clients that are remembered have a bound', (t) => {
  const totals = new ClientTotals(() => 0);
  for (let n = 0; n < 6_000; n += 1) totals.addTo(`client-${n}`, { requests: 1 });
  t.is(Object.keys(totals.record.day.clients).length, 5_000);
  t.is(totals.of('client-5999', 'day').requests, 1);
});
