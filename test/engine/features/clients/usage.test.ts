import test from 'ava';
import { nextPeriodMs, UsageLedger } from '../../../../engine/features/clients/usage.ts';
import { type KeptUse, nothingUsed, type Used } from '../../../../engine/store/client-use.ts';

const used = (more: Partial<Used>): Used => ({ ...nothingUsed, ...more });

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

test('what the store has takes the place of what was counted here, once; what it lacks goes on counting', (t) => {
  let nowMs = at('2026-01-31T23:00:00Z');
  const ledger = new UsageLedger(() => nowMs);
  const [one, three] = [used({ requests: 1, input: 1 }), used({ requests: 3, input: 21 })];
  const told = (all: KeptUse['all'], added: KeptUse['all']): void => ledger.kept({ all, added, restates: true });
  ledger.add('a', one);
  ledger.add('a', one);
  t.is(ledger.used('a', 'day').requests, 2);
  // Another process has used 2 and 20.
  told({ '2026-01-31': { a: three }, '2026-01': { a: three } }, { '2026-01-31': { a: one }, '2026-01': { a: one } });
  t.deepEqual(ledger.used('a', 'day'), used({ requests: 4, input: 22 }));
  told({ '2026-01-31': { a: three }, '2026-01': { a: three } }, {});
  t.is(ledger.used('a', 'month').requests, 4, 'a request that the store had to drop still counts');
  nowMs += 3_600_000;
  told({ '2026-01': { a: three } }, { '2026-01': { a: one } });
  t.deepEqual(ledger.used('a', 'month'), used({}), 'of another month');
  ledger.add('a', one);
  t.is(ledger.used('a', 'day').requests, 1);
});

test('a store that has lost its counters gets them from the process that restates them', (t) => {
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
  ledger.kept({ all: { '2026-01': { a: used({ requests: 1, input: 8, cost: 2 }) } }, added: {}, restates: true });
  t.deepEqual(
    [...restate()],
    [
      ['2026-01 a tokens', 10],
      ['2026-01 a cost', 7],
    ],
  );
});
