import test from 'ava';
import type { LoadResult } from './load/job.ts';
import { renderChart } from './report/chart.ts';
import { reachOf } from './report/reach.ts';
import { runReport } from './report/run-report.ts';
import { renderReach, renderTable } from './report/table.ts';
import { rowsOf } from './scenes/rows-of.ts';
import type { Row } from './scenes/scene.ts';
import type { Round } from './scenes/take-turns.ts';
import { pairNamed } from './wire.ts';

const spread = { p50: 1, p99: 2, max: 3 };

const round = (cpuMs: number, more: Partial<LoadResult> = {}): Round => ({
  cpuMs,
  peakMb: 150,
  allocated: { bytes: 2_400_000, scavenges: 3, marks: 1 },
  result: {
    good: 100,
    bad: 0,
    reasons: [],
    seconds: 1,
    latency: spread,
    firstByte: spread,
    delay: undefined,
    cpuMs: 100,
    ...more,
  },
});

const pair = pairNamed('messages->chat');
const plain = { scene: 'plain-64', unit: 'request', perRequest: 1 } as const;

const rows = (own: readonly Round[], floor: readonly Round[] = [round(10), round(10), round(10)]): readonly Row[] =>
  rowsOf(
    plain,
    pair,
    new Map([
      ['yard', own],
      ['converted', floor],
    ]),
  );

test('ratios are taken within each round, and their median counts', (t) => {
  const [row] = rows([round(20), round(60), round(15)], [round(10), round(50), round(10)]);
  t.like(row?.ratio, { to: 'converted', median: 1.5, low: 1.2, high: 2, moreUs: { median: 100, low: 50, high: 100 } });
  t.like(row?.cpuUs, { median: 200, low: 150, high: 600 });
});

test('collections are counted per 1,000 requests of all rounds', (t) => {
  const [row] = rows([round(20), { ...round(20), allocated: { bytes: 2_400_000, scavenges: 5, marks: 0 } }]);
  t.deepEqual(row?.collections, { scavenges: 40, marks: 5 });
  t.regex(renderTable(row ? [row] : []), /scavenges\/marks per 1,000.*\n.* 40\.0\/5\.00/);
});

test('a second gateway is shown beside the first one, round by round', (t) => {
  const found = rowsOf(
    plain,
    pair,
    new Map([
      ['before', [round(20), round(60)]],
      ['after', [round(10), round(45)]],
      ['converted', [round(10), round(30)]],
    ]),
  );
  t.deepEqual(
    found.map(({ participant, beside }) => [participant, beside]),
    [
      ['before', undefined],
      [
        'after',
        {
          to: 'before',
          median: 0.5,
          low: 0.5,
          high: 0.75,
          modes: [
            { median: 0.5, rounds: 1 },
            { median: 0.75, rounds: 1 },
          ],
          moreUs: { median: -150, low: -150, high: -100 },
        },
      ],
      ['converted', undefined],
    ],
  );
  t.regex(renderTable(found), /after .*-150 \[-150–-100\] +0\.50 \[0\.50–0\.75\]/);
});

test('a goal that is missed is flagged, one that is reached too', (t) => {
  const missed = rows([round(20), round(20), round(20)]);
  t.deepEqual(
    reachOf(missed).map(({ figure, verdict }) => [figure, verdict]),
    [
      [2, 'no'],
      [24, 'yes'],
    ],
  );
  t.regex(renderTable(missed), /yard .*2\.00 .*no ≤ 1\.9; yes ≤ 25 .* 24\.0/);
  t.regex(renderReach(reachOf(missed)), /plain-64 .*2\.00 × floor .*no +\|$/m);
  const reached = rows([round(19), round(19), round(19)]);
  t.regex(renderTable(reached), /yard .*1\.90 .*yes ≤ 1\.9/);
  t.regex(renderReach(reachOf(reached)), /plain-64 .*1\.90 × floor .*yes +\|$/m);
});

test('a figure whose rounds differ by more than 25 % is shown with both modes, and reaches nothing', (t) => {
  const moving = rows([round(12), round(12), round(15.2)]);
  t.regex(renderTable(moving), /yard .*unstable: 120 \(2×\) or 152 \(1×\) \/request/);
  t.is(reachOf(moving)[0]?.verdict, 'unstable');
  t.regex(renderReach(reachOf(moving)), /1\.20 × floor .*unstable +\|$/m);
  // The floor moved, and the ratio with it.
  t.is(reachOf(rows([round(18), round(18), round(18)], [round(10), round(12), round(16)]))[0]?.verdict, 'unstable');
  // Not even the best round reaches it.
  t.is(reachOf(rows([round(20), round(20), round(30)]))[0]?.verdict, 'no');
});

test('a wrong answer in any round fails the row, and its goal however cheap it was', (t) => {
  const wrong = rows([round(1), round(1, { good: 99, bad: 1, reasons: ['the text differs'] }), round(1)]);
  t.is(wrong[0]?.failed, '1 wrong: the text differs');
  t.is(reachOf(wrong)[0]?.verdict, 'no');
  t.regex(renderTable(wrong), /FAILED: 1 wrong: the text differs/);
});

test('one that never answered rightly has no figures, and misses its goal', (t) => {
  const failed = rowsOf(plain, pair, new Map([['yard', '3 wrong: status 500']]));
  t.is(failed[0]?.cpuUs, undefined);
  t.deepEqual(
    reachOf(failed).map(({ verdict }) => verdict),
    ['no', 'no'],
  );
});

test('delay counts beside the floor’s own', (t) => {
  const paced = (p99: number): Round => round(10, { delay: { p50: 0.5, p99, max: 99 } });
  const found = rowsOf(
    { scene: 'paced-200', unit: 'delta', perRequest: 500 },
    pair,
    new Map([
      ['yard', [paced(13)]],
      ['converted', [paced(10)]],
    ]),
  );
  const delay = reachOf(found).find(({ what }) => what.startsWith('added delay'));
  t.deepEqual([delay?.figure, delay?.verdict], [3, 'no']);
});

test('cold start counts in seconds, on a slow machine beside the bare stack', (t) => {
  const start = (seconds: number, times: number): Row => ({
    scene: 'cold-start',
    pair: 'chat→chat',
    participant: 'yard',
    unit: 'start',
    startSeconds: seconds,
    ratio: { to: 'bare', median: times, low: times, high: times },
  });
  const reached = (row: Row): boolean => reachOf([row])[0]?.verdict === 'yes';
  t.true(reached(start(0.4, 3)));
  t.true(reached(start(0.9, 2)));
  t.false(reached(start(0.9, 3)));
});

test('the chart is one page of markup with all that was measured', (t) => {
  const machine = { cpu: 'A <fast> one', cores: 2, memoryGb: 8, system: 'Linux', node: '20.0.0', busy: 0 };
  const page = renderChart(
    runReport({ startedAt: '', seconds: 1, machine, quick: false, rows: rows([round(20), round(20), round(20)]) }),
  );
  t.regex(page, /A &lt;fast> one/);
  t.regex(page, /<svg .*yard.*200 µs\/request, 2\.00 ×/);
  t.regex(page, /<tr class="no">/);
  t.notRegex(page, /(?:src|href)=/);
});

test('an unknown pair is rejected with the known ones', (t) => {
  t.throws(() => pairNamed('chat-gemini'), { message: /messages→chat, chat→chat/ });
});
