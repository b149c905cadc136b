import test from 'ava';
import fc from 'fast-check';
import { sseReader } from '../../ui/src/api/requests/sse-records.ts';
import { bytes, count, counted, duration, rate, shortCount } from '../../ui/src/format/figures.ts';
import { readQuantity, showQuantity } from '../../ui/src/format/quantity.ts';
import { usedUpAt } from '../../ui/src/pages/clients/forecast.ts';
import { sessionTimes } from '../../ui/src/pages/request/session-times.ts';
import { diffValues } from '../../ui/src/parts/diff/diff-values.ts';
import { keptRequest } from '../engine/store/requests.ts';

const signs = { same: ' ', added: '+', removed: '-', 'left-out': '~' } as const;

const diff = (before: Parameters<typeof diffValues>[0], after: Parameters<typeof diffValues>[1]): string =>
  diffValues(before, after)
    .map(({ kind, depth, text }) => `${signs[kind]}${' '.repeat(depth)}${text}`)
    .join('\n');

const cases: readonly (readonly [
  title: string,
  before: Parameters<typeof diffValues>[0],
  after: Parameters<typeof diffValues>[1],
  expected: readonly string[],
])[] = [
  [
    'a changed field',
    { a: 1, b: 2, c: 3 },
    { a: 1, b: 5, c: 3 },
    [' {', '~ 1 unchanged field', '- "b": 2', '+ "b": 5', '~ 1 unchanged field', ' }'],
  ],
  ['fields that come and go', { a: 1 }, { b: { c: [] } }, [' {', '- "a": 1', '+ "b": {', '+  "c": []', '+ }', ' }']],
  ['an element in front', ['x', 'y'], ['new', 'x', 'y'], [' [', '+ "new"', '~ 2 unchanged elements', ' ]']],
  ['an element within', [1, 2, 3], [1, 3], [' [', '~ 1 unchanged element', '- 2', '~ 1 unchanged element', ' ]']],
  [
    'an element that changed',
    [{ role: 'user', text: 'a' }, { role: 'system' }],
    [{ role: 'user', text: 'b' }, { role: 'system' }],
    [' [', '  {', '~  1 unchanged field', '-  "text": "a"', '+  "text": "b"', '  }', '~ 1 unchanged element', ' ]'],
  ],
  [
    'a long text that changed in the middle',
    `${'<'.repeat(100)}old${'>'.repeat(100)}`,
    `${'<'.repeat(100)}new${'>'.repeat(100)}`,
    [`-"…${'<'.repeat(60)}old${'>'.repeat(60)}…"`, `+"…${'<'.repeat(60)}new${'>'.repeat(60)}…"`],
  ],
  ['a value of another kind', { a: [1] }, { a: 'text' }, [' {', '- "a": [', '-  1', '- ]', '+ "a": "text"', ' }']],
  ['null is a value', { a: null }, { a: 0 }, [' {', '- "a": null', '+ "a": 0', ' }']],
];

for (const [title, before, after, expected] of cases) {
  test(`the difference of two values: ${title}`, (t) => t.is(diff(before, after), expected.join('\n')));
}

test('a field named like an inherited property is compared', (t) => {
  t.is(diff({ valueOf: {} }, {}), ' {\n- "valueOf": {}\n }');
});

test('a diff has changes exactly if the values differ', (t) => {
  const values = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(values, values, (one, other) => {
      // As both come: read from a text.
      const [before, after] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))];
      const told = diffValues(before, after).some(({ kind }) => kind === 'added' || kind === 'removed');
      return told === (sorted(before) !== sorted(after));
    }),
    { numRuns: 500 },
  );
  const long = Array.from({ length: 900 }, (_, index) => index);
  t.is(
    diffValues(long, [-1, ...long]).filter(({ kind }) => kind === 'added').length > 0,
    true,
    'a list too long to be aligned',
  );
});

/** The order of an object's fields is no difference. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

test('records of a stream do not depend on its chunks', (t) => {
  const stream =
    ': hello\n\nevent: one\ndata: {"a":1}\n\ndata: x\r\ndata:y\r\n\r\nevent: three\rdata: z\r\rdata: [DONE]\n\n';
  const expected = [
    { event: 'one', data: '{"a":1}' },
    { event: '', data: 'x\ny' },
    { event: 'three', data: 'z' },
    { event: '', data: '[DONE]' },
  ];
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const read = sseReader();
    t.deepEqual([...read(stream.slice(0, cut)), ...read(stream.slice(cut))], expected, `cut at ${cut}`);
  }
  const read = sseReader();
  t.deepEqual(
    [...stream].flatMap((char) => read(char)),
    expected,
  );
});

test('figures are formatted compactly', (t) => {
  const durations = [
    0, 0.42, 1, 9.94, 9.96, 38.4, 999.6, 1_254, 59_000, 59_960, 125_000, 3_599_600, 3_660_000, 90_000_000,
  ];
  t.deepEqual(durations.map(duration), [
    '0 ms',
    '0.42 ms',
    '1.0 ms',
    '9.9 ms',
    '10 ms',
    '38 ms',
    '1.00 s',
    '1.25 s',
    '59.0 s',
    '1 min 00 s',
    '2 min 05 s',
    '1 h 00 min',
    '1 h 01 min',
    '1 d 1 h',
  ]);
  t.deepEqual([0, 512, 1_024, 1_468_006, 2 ** 40].map(bytes), ['0 B', '512 B', '1.0 KiB', '1.4 MiB', '1.0 TiB']);
  t.deepEqual(
    [count(12_345), shortCount(999), shortCount(12_345), rate(0), rate(0.34), rate(12.2)],
    ['12,345', '999', '12.3K', '0', '0.3', '12'],
  );
  t.deepEqual(
    [counted(1, 'request'), counted(2, 'request'), counted(2, 'entry', 'entries')],
    ['1 request', '2 requests', '2 entries'],
  );
});

test('sizes and times are shown in the largest unit of which they are multiples, and read in any', (t) => {
  const sizes = [0, 500, 65_536, 33_554_432, 1_572_864, 2 ** 30];
  t.deepEqual(
    sizes.map((size) => showQuantity('bytes', size)),
    ['0', '500 B', '64 KiB', '32 MiB', '1536 KiB', '1 GiB'],
  );
  const times = [0, 250, 15_000, 90_000, 300_000, 7_200_000];
  t.deepEqual(
    times.map((time) => showQuantity('ms', time)),
    ['0', '250 ms', '15 s', '90 s', '5 min', '2 h'],
  );
  for (const size of sizes) t.is(readQuantity('bytes', showQuantity('bytes', size)), size);
  for (const time of times) t.is(readQuantity('ms', showQuantity('ms', time)), time);
  t.deepEqual(
    ['1.5s', '2 MB', '20', ' 1 m ', '1 d'].map((text) => readQuantity('ms', text)),
    [1_500, undefined, 20, 60_000, 86_400_000],
  );
  t.deepEqual(
    [0, 30, 90, 1_440, 2_000, 10_080].map((minutes) => showQuantity('minutes', minutes)),
    ['0', '30 min', '90 min', '1 d', '2000 min', '7 d'],
  );
  t.is(showQuantity('days', 30), '30 d');
  t.deepEqual(
    ['90', '12 h', '1.5 h', '90 s', '7 d', '1 MiB'].map((text) => readQuantity('minutes', text)),
    [90, 720, 90, undefined, 10_080, undefined],
  );
  t.deepEqual(
    ['7', '7 d', '48 h', '12 h'].map((text) => readQuantity('days', text)),
    [7, 7, 2, undefined],
  );
  t.deepEqual(
    ['2mb', '2 M', '-1', '', 'x', '1e9', '3 s'].map((text) => readQuantity('bytes', text)),
    [2_000_000, 2_097_152, ...Array(5).fill(undefined)],
  );
});

test('what lies between requests is time of tools where these bring results, else a pause', (t) => {
  const at = (from: number, to: number, more: Parameters<typeof keptRequest>[2] = {}) =>
    keptRequest(`${from}`, to, { startedAt: from, durationMs: to - from, tools: ['read'], ...more });
  const { times, pausesMs } = sessionTimes([
    at(1_000, 1_100, { firstByteMs: 40 }),
    // Side by side: the tools' time begins when both have ended.
    at(1_150, 1_400),
    at(1_200, 1_300, { firstByteMs: 10 }),
    at(1_450, 1_500, { status: 529 }),
    // Tried again after a failure, and asked by the user: neither is time of tools.
    at(1_600, 1_700),
    at(2_000, 2_100, { tools: [] }),
  ]);
  t.deepEqual(
    times.map(({ atMs, waitMs, streamMs, toolsMs }) => [atMs, waitMs, streamMs, toolsMs]),
    [
      [0, 40, 60, 50],
      [150, 250, 0, 50],
      [200, 10, 90, 0],
      [450, 50, 0, 0],
      [500, 100, 0, 0],
      [600, 100, 0, 0],
    ],
  );
  t.is(pausesMs, 400);
  t.deepEqual(sessionTimes([]), { times: [], pausesMs: 0 });
});

test('a budget is used up at the rate so far, where a tenth of its period is known and that is before it is renewed', (t) => {
  const month = { per: 'month', renewsAt: '2026-12-01T00:00:00Z' } as const;
  const at = (budget: Parameters<typeof usedUpAt>[0], share: number, firstUse: string, now: string) => {
    const ms = usedUpAt(budget, share, Date.parse(firstUse), Date.parse(now));
    return ms === undefined ? undefined : new Date(ms).toISOString();
  };
  // Two fifths in ten days: all of it in 25.
  t.is(at(month, 0.4, '2026-10-01', '2026-11-11T00:00:00Z'), '2026-11-26T00:00:00.000Z');
  t.is(at(month, 0.3, '2026-10-01', '2026-11-11T00:00:00Z'), undefined, 'it lasts');
  t.is(at(month, 0.4, '2026-11-06', '2026-11-11T00:00:00Z'), '2026-11-18T12:00:00.000Z', 'of a client that is new');
  t.is(at(month, 0.4, '2026-11-09', '2026-11-11T00:00:00Z'), undefined, 'too new');
  t.is(at(month, 0.4, '2026-10-01', '2026-11-03T00:00:00Z'), undefined, 'the month is too new');
  t.is(at(month, 0, '2026-10-01', '2026-11-11T00:00:00Z'), undefined);
  t.is(at(month, 1, '2026-10-01', '2026-11-11T00:00:00Z'), undefined);
  const day = { per: 'day', renewsAt: '2026-11-12T00:00:00Z' } as const;
  t.is(at(day, 0.75, '2026-10-01', '2026-11-11T12:00:00Z'), '2026-11-11T16:00:00.000Z');
});
