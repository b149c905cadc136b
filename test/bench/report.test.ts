import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { LoadResult } from '../../engine/bench/load/job.ts';
import { median } from '../../engine/bench/measure/figure.ts';
import { estimateOf } from '../../engine/bench/measure/interval.ts';
import { type BenchOptions, readOptions } from '../../engine/bench/options.ts';
import { planRun, wordPlan } from '../../engine/bench/plan.ts';
import { renderChart } from '../../engine/bench/report/chart.ts';
import { changesOf, isOver } from '../../engine/bench/report/compare.ts';
import { whyUnasked } from '../../engine/bench/report/host.ts';
import { withFigures, withReadmeFigures } from '../../engine/bench/report/publish.ts';
import { reachOf } from '../../engine/bench/report/reach.ts';
import { runReport, whyUnpublishable } from '../../engine/bench/report/run-report.ts';
import { renderSummary } from '../../engine/bench/report/summary.ts';
import { renderReach, renderTable } from '../../engine/bench/report/table.ts';
import { lanesOf } from '../../engine/bench/scenes/lanes.ts';
import { rowsOf } from '../../engine/bench/scenes/rows-of.ts';
import type { Row } from '../../engine/bench/scenes/scene.ts';
import type { Round } from '../../engine/bench/scenes/take-turns.ts';
import { ablations } from '../../engine/bench/targets/ablations.ts';
import { pairNamed } from '../../engine/bench/wire.ts';
import { chooseServer } from '../../engine/http/choose-server.ts';
import { UwsUnavailable } from '../../engine/http/uws/uws.ts';

const spread = { p50: 1, p99: 2, max: 3 };

const round = (cpuMs: number, more: Partial<LoadResult> = {}): Round => ({
  cpuMs,
  mainMs: cpuMs * 0.9,
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
    firstToken: spread,
    betweenTokens: undefined,
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

const run = {
  startedAt: '2026-11-21T10:00:00.000Z',
  seconds: 1,
  machine: { cpu: 'A <fast> one', cores: 2, memoryGb: 8, system: 'Linux', node: '20.0.0', server: 'uWebSockets.js' },
  quick: false,
  foreignCores: 0.1,
  rows: rows([round(20), round(20), round(20)]),
};

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
  t.regex(renderTable(moving), /yard .*120 \(2×\) or 152 \(1×\), unstable \/request/);
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
  const page = renderChart(runReport(run));
  t.regex(page, /A &lt;fast> one/);
  t.regex(page, /<svg .*yard.*200 µs\/request, 2\.00 ×/);
  t.is(page.match(/<circle/g)?.length, 6, 'each round of each');
  t.regex(page, /prefers-color-scheme: dark/);
  t.regex(page, /<tr class="no">/);
  t.notRegex(page, /(?:src|href)=/);
});

test('a summary says in words what each gateway costs beside its floor, cold and warm, and how to read it', (t) => {
  const cold = rowsOf(
    { ...plain, scene: 'plain-64, cold' },
    pair,
    new Map([
      ['yard', [round(90)]],
      ['converted', [round(30)]],
    ]),
  );
  const all = [...rows([round(20), round(21), round(20)]), ...cold];
  const text = renderSummary(all);
  const lines = [
    'plain-64, messages→chat: yard takes 200 [200–210] µs per request, the floor 100: 100 µs more, 2.00 ×',
    'in the first seconds 900 µs, the floor 300',
    'half of the answers within 1.00 ms, at the floor 1.00',
  ];
  t.deepEqual(
    text
      .split('\n')
      .slice(1, 4)
      .map((line) => line.trim()),
    lines,
  );
  // The words of the tables are explained.
  for (const word of ['floor', 'µs', '\\[a–b\\]', 'unstable', 'cold'])
    t.regex(text, new RegExp(`^  ${word} {2,}`, 'm'));
  t.notRegex(text, /converted takes|plain-64, cold|\bNO\b/);
  t.regex(renderSummary(rows([round(10), round(20)])), /yard takes 100 or 200 µs per request, .*\(unstable\)/);
});

const marks = '<!-- figures: written by `junctor bench --publish` -->\n<!-- end of the figures -->\n';

test('figures are published of a full run without foreign load or faults, with what they were measured on', (t) => {
  t.deepEqual(whyUnpublishable(run), []);
  const page = withFigures(marks, runReport(run));
  t.regex(
    page,
    /^2026-11-21, Node 20\.0\.0, uWebSockets\.js, A <fast> one, 2 cores shared by gateway, load generator and upstream/m,
  );
  t.regex(
    page,
    /\| plain-64 +\| messages→chat \| yard \| 200 per request \| 100 +\| 100 +\| 2\.00 +\| 5,000 requests +\|/,
  );
  t.regex(page, /2\.00 × floor +\| ≤ 1\.9 \| no/);
  t.regex(whyUnpublishable({ ...run, foreignCores: 0.3 }).join(), /^other programs use 0\.3 cores/);
  t.deepEqual(whyUnpublishable({ ...run, quick: true }), ['it was a quick run']);
  const wrong = rows([round(20), round(20, { bad: 1, reasons: ['no answer'] })]);
  t.deepEqual(whyUnpublishable({ ...run, rows: wrong }), ['plain-64 failed: 1 wrong: no answer']);
});

test('each row shows the serving threads beside all threads', (t) => {
  const [row] = rows([round(20), round(30), round(20)]);
  t.deepEqual(row?.mainUs, { p10: 180, median: 180 });
  t.regex(renderTable(row ? [row] : []), /serving thread, µs p10\/p50.*\n.* 180\/180 /);
});

test('nothing is measured with node:http unless it was asked for', (t) => {
  const absent = () => {
    throw new UwsUnavailable('uWebSockets.js is not installed for Node 22.12.0', 'run `npm install` again', true);
  };
  t.regex(
    whyUnasked(chooseServer('', absent), [{ simulatesSockets: true }, {}]) ?? '',
    /^node:http would serve\. .*: run `npm install` again\. To measure it anyway, set JUNCTOR_HTTP=node\.$/,
  );
  t.is(whyUnasked(chooseServer('node', absent), [{}]), undefined);
  t.is(whyUnasked(chooseServer('', absent), [{ simulatesSockets: true }]), undefined, 'no server serves');
});

test('a quick run judges no goals', (t) => {
  t.deepEqual(runReport({ ...run, quick: true }).reach, []);
});

const machine = { cores: 2, hasProcessorTime: true };

test('a plan says how long it takes at most, and leaves out what this machine can’t play', async (t) => {
  const planOf = async (names: readonly string[], options: BenchOptions = {}, on = machine) => {
    const { scenes, settings } = await readOptions(names, options);
    const plan = planRun(scenes, settings, on);
    return { ...plan, words: wordPlan(plan, settings) };
  };
  const quick = await planOf([], { quick: true });
  t.true(quick.seconds <= 55, `${quick.seconds} s`);
  t.regex(quick.words, /^pairs of junctor: at most \d\d s on an idle machine\.$/);
  const full = await planOf([]);
  t.true(full.seconds > 120 && full.seconds < 900, `${full.seconds} s`);
  const everything = await planOf([], { publish: true });
  t.true(everything.seconds > 1_000 && everything.seconds < 7_200, `${everything.seconds} s`);
  t.deepEqual(everything.leftOut, [{ name: 'workers', why: 'needs 4 cores' }]);
  t.regex(everything.words, /at most \d+ min .*\nLeft out: workers, which needs 4 cores\.$/);
  const untold = await planOf(['flat', 'plain-1'], {}, { ...machine, hasProcessorTime: false });
  t.deepEqual(untold.leftOut, [{ name: 'flat', why: 'needs the processor time' }]);
  const one = await planOf(['plain-64'], { pairs: 'chat-chat' });
  const two = await planOf(['plain-64'], { pairs: 'chat-chat,messages-chat' });
  t.true(two.seconds > one.seconds);
  // Scenes over WebSocket have pairs of their own.
  const [usual, other, own] = [
    await planOf(['socket-200']),
    await planOf(['socket-200'], { pairs: 'messages-chat' }),
    await planOf(['socket-200'], { pairs: 'responses-responses' }),
  ];
  t.deepEqual([usual.seconds, own.seconds < usual.seconds], [other.seconds, true]);
});

test('a run without names has every pair, over WebSocket where clients have it', (t) => {
  const lanes = lanesOf(undefined, false).flatMap((group) => group.lanes);
  t.is(lanes.filter(({ webSocket }) => !webSocket).length, 12);
  t.deepEqual(
    lanes.filter(({ webSocket }) => webSocket).map(({ name }) => name),
    ['chat', 'messages', 'responses', 'gemini'].map((upstream) => `responses→${upstream}, WebSocket`),
  );
});

test('an ablation compares the whole with the same without one thing at a time', async (t) => {
  const { scenes, settings } = await readOptions([], { ablate: 'log,history' });
  t.deepEqual(
    [scenes, settings.pairs, settings.targets].map((list) => list.map(({ name }) => name)),
    [['plain-64'], ['messages→chat', 'chat→chat'], ['all on', 'without history', 'without log']],
  );
  t.is((await readOptions([], { ablate: 'all' })).settings.targets.length, ablations.length + 1);
  await t.throwsAsync(readOptions([], { ablate: 'lgo' }), {
    message: /^Nothing is called lgo; there are all, history, /,
  });
  await t.throwsAsync(readOptions([], { ablate: 'log', gateways: 'junctor' }), { message: /--gateways/ });
  const found = rowsOf(
    plain,
    pair,
    new Map([
      ['all on', [round(20)]],
      ['without log', [round(15)]],
      ['converted', [round(10)]],
    ]),
  );
  t.regex(renderSummary(found), /without log takes 150 µs per request: 50\.0 µs less than all on$/m);
});

test('an unknown pair is rejected with the known ones', (t) => {
  t.throws(() => pairNamed('gemini-chat'), { message: /messages→chat, chat→chat/ });
});

test('an estimate has the interval that its rounds allow; only what is more than noise is a change', (t) => {
  const estimate = estimateOf([20, 21, 20, 22, 20], [10, 10, 11, 10, 10], (a, b) => median(a) / median(b));
  t.like(estimate, { value: 2 });
  t.true(estimate !== undefined && estimate.low > 1.7 && estimate.high < 2.3);
  t.deepEqual(
    estimateOf([3], [2], (a, b) => median(a) - median(b)),
    { value: 1, low: 1, high: 1 },
  );
  t.is(
    estimateOf([], [1], () => 1),
    undefined,
  );
  const costs = (...ms: readonly number[]) =>
    rows(
      ms.map((each) => round(each)),
      ms.map(() => round(10)),
    );
  const [same] = changesOf(costs(20, 24, 21, 22, 19), costs(23, 20, 22, 21, 20));
  t.is(same?.verdict, 'no difference');
  const [more] = changesOf(costs(20, 24, 21, 22, 19), costs(30, 29, 32, 31, 30));
  t.is(more?.verdict, 'more');
  t.deepEqual([more && isOver(more, 1.1), more && isOver(more, 2)], [true, false]);
  t.is(changesOf(costs(30, 31, 30), costs(20, 21, 20))[0]?.verdict, 'less');
  const [few] = changesOf(costs(30, 30), costs(20, 20, 20));
  t.deepEqual([few?.verdict, few && isOver(few, 1.1)], ['too few rounds', false]);
  // A machine on which all takes twice as long changes nothing.
  const slowed = rows([round(40), round(44), round(42)], [round(20), round(20), round(20)]);
  t.is(changesOf(costs(20, 22, 21), slowed)[0]?.verdict, 'no difference');
});

test('figures go into the README, without another line, and between the marks of the page', async (t) => {
  const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8');
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const report = runReport({
    ...run,
    rows: ['stream-fast', 'paced-200', 'plain-64', 'own'].flatMap((scene) =>
      run.rows.map((row) => ({
        ...row,
        scene,
        ...(/^(?:stream|paced)/.test(scene) && { unit: 'delta' as const }),
        ...(scene === 'own' && { mainUs: { p10: 41.2, median: 45 } }),
      })),
    ),
  });
  const written = withFigures(page, report);
  t.regex(written, /junctor bench --publish` -->\n\n2026-11-21, Node 20\.0\.0, uWebSockets\.js, A <fast> one, 2 cores/);
  t.regex(written, /^\| own +\| messages→chat \| 41\.2\/45\.0 per request \| 200/m);
  t.is(withFigures(written, report), written);
  const changed = withReadmeFigures(readme, report);
  t.is(changed.split('\n').length, readme.split('\n').length);
  t.regex(changed, /^\| Messages client, Chat Completions provider; 2 cores, Node 20\.0\.0, 2026-11-21 \|/m);
  t.regex(
    changed,
    /^\| Requests of 1\.4 KB, 64 clients \| 5,000 requests, of each 41\.2 µs of its own JavaScript; half of the answers within 1\.00 ms \| 2\.00 \[2\.00–2\.00\] \|$/m,
  );
  t.is(withReadmeFigures(changed, report), changed);
  t.throws(() => withReadmeFigures(readme, runReport(run)), { message: /The run has no own/ });
});
