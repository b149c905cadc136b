import test from 'ava';
import fc from 'fast-check';
import { type Family, FamilyChanges, FamilySums, renderFamilies } from '../../../../engine/observe/families.ts';

const family = (
  name: string,
  type: Family['type'],
  series: Readonly<Record<string, number>>,
  across: Family['across'] = 'sum',
): Family => ({ name, help: 'h', type, across, series: Object.entries(series) });

test('counters are sums that keep the last word of the ended; gauges are those of the living', (t) => {
  const sums = new FamilySums();
  const tell = (member: number, requests: number, streams: number, level: number) =>
    sums.take(member, [
      family('requests', 'counter', { 'requests{a="1"}': requests }),
      family('streams', 'gauge', { streams }),
      family('level', 'gauge', { level }, 'max'),
      family('since', 'gauge', { since: level }, 'min'),
    ]);
  tell(1, 5, 2, 0);
  tell(2, 7, 1, 2);
  tell(1, 6, 3, 1);
  const shown = () => Object.fromEntries(sums.all().flatMap(({ series }) => series));
  t.deepEqual(shown(), { 'requests{a="1"}': 13, streams: 4, level: 2, since: 1 });
  sums.leave(2);
  t.deepEqual(shown(), { 'requests{a="1"}': 13, streams: 3, level: 1, since: 1 });
  sums.take(1, [family('level', 'gauge', {})]);
  t.false('level' in shown(), "a gauge's series may vanish");
  t.true(renderFamilies(sums.all()).startsWith('# HELP requests h\n# TYPE requests counter\nrequests{a="1"} 13\n\n'));
});

test('only what has changed is told, and gauges whole', (t) => {
  const changes = new FamilyChanges();
  const told = (requests: Readonly<Record<string, number>>) =>
    changes
      .since([family('requests', 'counter', requests), family('streams', 'gauge', { streams: 1, mean: Number.NaN })])
      .map(({ name, series }) => [name, Object.fromEntries(series)]);
  t.deepEqual(told({ a: 1, b: 0 }), [
    ['requests', { a: 1, b: 0 }],
    ['streams', { streams: 1 }],
  ]);
  t.deepEqual(told({ a: 2, b: 0 })[0], ['requests', { a: 2 }]);
  t.deepEqual(told({ a: 2, b: 0 }), [['streams', { streams: 1 }]]);
});

test('a counter never falls and ends as the sum, whichever processes tell what and leave in between', (t) => {
  const step = fc.oneof(
    fc.record({ member: fc.nat(4), add: fc.nat(9) }),
    fc.record({ member: fc.nat(4), leaves: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const sums = new FamilySums();
      const members = new Map<number, { id: number; count: number; changes: FamilyChanges }>();
      let [ids, expected, before] = [0, 0, 0];
      for (const one of steps) {
        let member = members.get(one.member);
        if (!member) {
          ids += 1;
          member = { id: ids, count: 0, changes: new FamilyChanges() };
          members.set(one.member, member);
        }
        if ('leaves' in one) {
          sums.leave(member.id);
          members.delete(one.member);
        } else {
          member.count += one.add;
          expected += one.add;
          sums.take(member.id, member.changes.since([family('requests', 'counter', { a: member.count })]));
        }
        const now = sums.all()[0]?.series[0]?.[1] ?? 0;
        if (now < before || now !== expected) return false;
        before = now;
      }
      return true;
    }),
  );
  t.pass();
});
