import test from 'ava';
import { readUsageQuery, usageCsv, usageReport } from '../../../../engine/features/usage/report.ts';
import type { UsageReport } from '../../../../engine/features/usage/schema.ts';
import type { Sums, UsageUnit } from '../../../../engine/store/usage.ts';
import { usageIn } from '../../../../engine/store/usage-cells.ts';
import { type UsageRow, withUsage } from '../../../support/store-here.ts';

type UsageParams = Parameters<typeof readUsageQuery>[0];

const nowMs = Date.parse('2026-03-01T12:30:00Z');

type Row = UsageRow['series'] & Partial<Sums>;

const row = (more: Row): Row => ({ scenario: 'default', provider: 'p', model: 'm', requests: 1, ...more });

type Units = Readonly<Record<string, readonly Row[]>>;

const rowsOf = (unit: UsageUnit, units: Units): readonly UsageRow[] =>
  Object.entries(units).flatMap(([at, rows]) =>
    rows.map(({ protocol = 'chat', scenario = '', provider = '', model = '', client = '', ...sums }) => ({
      ...{ unit, at, sums, times: undefined },
      series: { protocol, scenario, provider, model, client },
    })),
  );

const reportOf = (query: ReturnType<typeof readUsageQuery>, ofHours: Units, ofMinutes: Units = {}): UsageReport => {
  const db = withUsage(':memory:', [...rowsOf('hour', ofHours), ...rowsOf('minute', ofMinutes)]);
  try {
    return usageReport(query, usageIn(db, query));
  } finally {
    db.close();
  }
};

const hours = {
  '2026-02-27T23': [row({ cost: 5, client: 'a' }), row({ cost: 9, model: 'n', scenario: 'think' })],
  '2026-02-28T00': [row({ cost: 1, provider: '', model: '', scenario: '', protocol: 'messages', unpriced: 1 })],
  '2026-03-01T12': [row({ cost: 2, provider: 'q' }), row({ cost: 3, client: 'a' })],
};

const minutes = {
  '2026-02-27T12:30': [row({ cost: 40 })],
  '2026-03-01T11:29': [row({ cost: 10 })],
  '2026-03-01T11:30': [row({ cost: 20 })],
  '2026-03-01T12:29': [row({ cost: 30 })],
};

/** Parameters, and the rows as `from name requests cost`. */
const reports: readonly (readonly [params: UsageParams, rows: readonly string[]])[] = [
  [{}, ['- p,n 1 9', '- p,m 2 8', '- q,m 1 2', '- null 1 1']],
  [{ by: 'provider' }, ['- p 3 17', '- q 1 2', '- null 1 1']],
  [{ by: 'client' }, ['- null 3 12', '- a 2 8']],
  [{ by: 'scenario' }, ['- default 3 10', '- think 1 9', '- null 1 1']],
  [
    { by: 'protocol', step: 'month' },
    ['2026-02-01T00 chat 2 14', '2026-02-01T00 messages 1 1', '2026-03-01T00 chat 2 5'],
  ],
  [{ by: 'protocol', step: 'day', from: '36h' }, ['2026-02-28T00 messages 1 1', '2026-03-01T00 chat 2 5']],
  [
    { by: 'protocol', step: 'day', offset: '60' },
    ['2026-02-27T23 chat 2 14', '2026-02-27T23 messages 1 1', '2026-02-28T23 chat 2 5'],
  ],
  [
    { by: 'protocol', step: 'month', offset: '-600' },
    ['2026-02-01T10 chat 2 14', '2026-02-01T10 messages 1 1', '2026-03-01T10 chat 2 5'],
  ],
  [{ by: 'protocol', step: 'hour', from: '2026-02-27', to: '2026-02-28' }, ['2026-02-27T23 chat 2 14']],
  [
    { by: 'protocol', step: 'day', from: '2026-02-28T00:59Z', to: '2026-02-28T01:00:00.000Z' },
    ['2026-02-28T00 messages 1 1'],
  ],
  [{ by: 'protocol', from: '7h' }, ['- chat 2 5']],
  [{ by: 'protocol', from: '6h' }, ['- chat 3 60']],
  [{ by: 'protocol', from: '1h' }, ['- chat 2 50']],
  [
    { by: 'protocol', step: 'minute', from: '2026-03-01T11:29:59Z', to: '2026-03-01T11:30:00.001Z' },
    ['2026-03-01T11:29 chat 1 10', '2026-03-01T11:30 chat 1 20'],
  ],
  [{ by: 'protocol', step: 'minute', from: '48h', to: '2026-03-01' }, ['2026-02-27T12:30 chat 1 40']],
];

for (const [params, expected] of reports) {
  test(`sums by ${JSON.stringify(params)}`, (t) => {
    const { rows, total } = reportOf(readUsageQuery(params, nowMs), hours, minutes);
    const shown = rows.map(
      ({ from, name, requests, cost }) => `${from?.replace(/(:00)?:00\.000Z$/, '') ?? '-'} ${name} ${requests} ${cost}`,
    );
    t.deepEqual(shown, expected);
    t.is(
      total.cost,
      rows.reduce((sum, { cost }) => sum + cost, 0),
    );
  });
}

test('names are split by a second one, in the answer, its total and CSV', (t) => {
  const query = readUsageQuery({ by: 'client,model' }, nowMs);
  const report = reportOf(query, hours);
  t.deepEqual(
    report.rows.map(({ name, part, cost }) => [name, part, cost]),
    [
      [null, 'p,n', 9],
      ['a', 'p,m', 8],
      [null, 'q,m', 2],
      [null, null, 1],
    ],
  );
  t.is(report.total.cost, 20);
  t.like(report, { by: 'client', part: 'model' });
  const [head, first] = usageCsv(report).split('\r\n');
  t.regex(head ?? '', /^from,client,model,requests,/);
  t.regex(first ?? '', /^,,"p,n",1,/);
});

const refused: readonly (readonly [params: UsageParams, message: RegExp])[] = [
  [{ from: 'yesterday' }, /^since must be a time/],
  [{ from: '' }, /^since must be a time/],
  [{ from: '2026-02-31T99:00Z' }, /^since must be a time/],
  [{ to: '7' }, /^to must be a time/],
  [{ from: '2026-03-01', to: '2026-03-01' }, /^since must be before to/],
  [{ by: 'models' }, /^by must be one of model, provider/],
  [{ by: 'client,' }, /^by must be one of .*, or two, as client,model/],
  [{ by: 'client,model,provider' }, /^by must be one of/],
  [{ offset: '841' }, /^offset must be whole minutes from -840 to 840/],
  [{ offset: '1.5' }, /^offset must be whole minutes/],
  [{ step: 'week' }, /^step must be one of 5s, minute, hour/],
  [{ step: 'hour', from: '40d' }, /^step must be day, month or none beyond 31 days/],
  [{ step: '5s', from: '2h' }, /^step must be minute, hour, day, month or none beyond the last hour/],
  [{ step: 'minute', from: '49h' }, /^step must be hour, day, month or none beyond the last 2 days/],
  [{ step: 'minute', from: '50h', to: '2026-03-01' }, /^step must be hour/],
  [{ step: 'minute', from: '1d', to: '2026-03-05' }, /^step must be hour/],
];

for (const [params, message] of refused) {
  test(`refuses ${JSON.stringify(params)}`, (t) => {
    t.throws(() => readUsageQuery(params, nowMs, { from: 'since' }), { message });
  });
}

test('CSV: names can neither break a row nor become a formula', (t) => {
  const names = ['=1+1', '+1', '-1', '@x', 'a"b', 'a,b', 'a\nb', '\ttab', 'plain'];
  const rows = names.map((client, cost) => row({ client, cost: 100 - cost }));
  const report = reportOf(readUsageQuery({ by: 'client' }, nowMs), { '2026-03-01T12': rows });
  const [head, ...lines] = usageCsv(report).trimEnd().split('\r\n');
  t.is(
    head,
    'from,client,requests,errors,retries,losses,input,cacheRead,cacheWrite,output,reasoning,unpriced,uncompared,uncounted,costUsd,savedUsd,' +
      'firstByteMs.p50,firstByteMs.p95,firstByteMs.p99,durationMs.p50,durationMs.p95,durationMs.p99,' +
      'overheadMs.p50,overheadMs.p95,overheadMs.p99',
  );
  t.deepEqual(
    lines.map((line) => line.slice(1, line.indexOf(',1,0,0'))),
    ["'=1+1", "'+1", "'-1", "'@x", '"a""b"', '"a,b"', '"a\nb"', "'\ttab", 'plain'],
  );
  t.regex(lines[0] ?? '', /,0\.000000100,0\.000000000,{9}$/);
});

test('a report has 20,000 rows of their own; what comes beyond is summed up', (t) => {
  const day = (n: number): string => new Date(Date.UTC(2026, 1, 1) + n * 3_600_000).toISOString().slice(0, 13);
  const many = Object.fromEntries(
    Array.from({ length: 24 }, (_, n) => [day(n), Array.from({ length: 1_000 }, (_, m) => row({ model: `m${m}` }))]),
  );
  const query = readUsageQuery({ step: 'hour' }, nowMs);
  const { rows, total } = reportOf(query, many);
  t.is(total.requests, 24_000);
  t.is(
    rows.reduce((sum, { requests }) => sum + requests, 0),
    24_000,
  );
  t.true(rows.length <= 20_024, String(rows.length));
  t.true(rows.some(({ name }) => name === 'other'));
});
