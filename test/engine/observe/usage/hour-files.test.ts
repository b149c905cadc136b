import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openUsageHours } from '../../../../engine/observe/usage/hour-files.ts';
import type { CountedRequest } from '../../../../engine/observe/usage/hours.ts';
import { readUsageQuery, usageReport } from '../../../../engine/observe/usage/report.ts';
import { noUsage, type UsageFigures } from '../../../../engine/observe/usage/schema.ts';

const request = (more: Partial<CountedRequest> = {}): CountedRequest => ({
  protocol: 'chat',
  scenario: 'default',
  provider: 'p',
  model: 'm',
  namedClient: undefined,
  usage: { input: 10, output: 2 },
  cost: 100,
  defaultCost: 250,
  calls: 1,
  isFailed: false,
  mayCost: true,
  firstByteMs: 100,
  durationMs: 1_000,
  overheadMs: 2,
  ...more,
});

/** Processes that run, by number, in a folder; the clock is theirs. */
class Machine {
  readonly alive = new Set<number>();
  readonly warnings: string[] = [];
  readonly folder: string;
  nowMs = Date.parse('2026-01-31T22:10:00Z');
  #starts = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  start(pid: number) {
    this.#starts += 1;
    this.alive.add(pid);
    return openUsageHours({
      folder: this.folder,
      log: { warn: (message) => void this.warnings.push(message) },
      nowMs: () => this.nowMs,
      isAlive: (other) => this.alive.has(other),
      everyMs: 1_000_000,
      process: { pid, startedAtMs: this.#starts },
    });
  }

  async total(more: object = {}): Promise<UsageFigures> {
    const query = readUsageQuery({ from: '2025-01-01', to: '2027-12-31', ...more }, this.nowMs);
    return (await usageReport(this.folder, query)).total;
  }

  async requests(): Promise<number> {
    return (await this.total()).requests;
  }

  async names(): Promise<readonly string[]> {
    return (await readdir(this.folder).catch(() => [])).toSorted();
  }
}

const machineOf = async (t: ExecutionContext): Promise<Machine> => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-hours-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return new Machine(join(folder, 'usage', 'hours'));
};

const hourMs = 3_600_000;

test('an hour is a file of its process until it is over, then a line of its month', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  await hours.write();
  t.deepEqual(await machine.names(), [], 'without requests, nothing is written');
  hours.add(request());
  hours.add(request({ cost: undefined, usage: { cacheRead: 5, output: 1, reasoning: 1 }, calls: 3 }));
  await hours.write();
  t.deepEqual(await machine.names(), ['2026-01-31T22.1-1.json']);
  machine.nowMs += hourMs;
  hours.add(request({ isFailed: true, mayCost: false, cost: undefined, usage: undefined, calls: 0 }));
  await hours.write();
  t.deepEqual(await machine.names(), ['2026-01-31T23.1-1.json', '2026-01.jsonl']);
  machine.nowMs += hourMs;
  await hours.close();
  t.deepEqual(await machine.names(), ['2026-01.jsonl'], 'an hour is over without another request, too');
  t.like(await machine.total(), {
    requests: 3,
    errors: 1,
    retries: 2,
    input: 10,
    cacheRead: 5,
    cacheWrite: 0,
    output: 3,
    reasoning: 1,
    cost: 100,
    unpriced: 1,
    saved: 150,
    uncompared: 1,
    uncounted: 0,
  });
  t.is((await machine.total({ from: '2026-01-31T23:00Z' })).requests, 1);
  t.is((await machine.total({ to: '2026-01-31T23:00Z' })).requests, 2);
});

test('percentiles of times are those of all processes and hours, within 12 %', async (t) => {
  const machine = await machineOf(t);
  const processes = await Promise.all([machine.start(1), machine.start(2)]);
  for (let ms = 1; ms <= 1_000; ms += 1) {
    if (ms === 400) machine.nowMs += hourMs;
    processes[ms % 2]?.add(
      request({ firstByteMs: ms % 10 === 0 ? undefined : ms, durationMs: 10 * ms, overheadMs: 0 }),
    );
  }
  await Promise.all(processes.map(({ write }) => write()));
  // Files of earlier releases have no times.
  await writeFile(
    join(machine.folder, '2026-01-31T20.9-1.json'),
    JSON.stringify({
      id: '2026-01-31T20.9-1',
      rows: [{ protocol: 'chat', scenario: '', provider: '', model: '', client: '', ...noUsage, requests: 7 }],
    }),
  );
  const { requests, firstByteMs, durationMs, overheadMs } = await machine.total();
  t.is(requests, 1_007);
  for (const [times, scale] of [
    [firstByteMs, 1],
    [durationMs, 10],
  ] as const) {
    for (const [name, exact] of [
      ['p50', 500],
      ['p95', 950],
      ['p99', 990],
    ] as const) {
      const ratio = (times?.[name] ?? 0) / (exact * scale);
      t.true(ratio > 0.88 && ratio < 1.12, `${name}: ${ratio}`);
    }
  }
  t.true((overheadMs?.p99 ?? 1) < 0.2);
});

test('what ended processes have left moves to the month of its hour, by whichever of several comes first', async (t) => {
  const machine = await machineOf(t);
  const ended = await machine.start(1);
  ended.add(request());
  await ended.close();
  machine.alive.delete(1);
  await machine.start(2);
  t.deepEqual(await machine.names(), ['2026-01-31T22.1-1.json'], 'the hour goes on');
  machine.nowMs += hourMs;
  await Promise.all([3, 4, 5].map((pid) => machine.start(pid)));
  t.deepEqual(await machine.names(), ['2026-01.jsonl']);
  t.is(await machine.requests(), 1);
  // In a container, each start has the same number.
  const again = await machine.start(6);
  again.add(request());
  await again.close();
  machine.nowMs += hourMs;
  await machine.start(6);
  t.is(await machine.requests(), 2);
  t.deepEqual(await machine.names(), ['2026-01.jsonl']);
  t.deepEqual(machine.warnings, []);
});

const row = { protocol: 'chat', scenario: '', provider: 'p', model: 'm', client: '' };
const sums = { requests: 5, errors: 0, retries: 0, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 };
const record = JSON.stringify({
  id: '2026-01-31T20.1-1',
  rows: [{ ...row, ...sums, cost: 7, unpriced: 0, saved: -1, uncompared: 0, uncounted: 0 }],
});
const file = '2026-01-31T20.1-1.json';

/** The state of the folder at each point where a process may be killed. */
const interrupted: readonly (readonly [title: string, files: Readonly<Record<string, string>>])[] = [
  ['before anything', { [file]: record }],
  ['amid a rewrite', { [file]: record, [`${file}.x.tmp`]: record.slice(0, 40) }],
  ['amid the line', { [file]: record, '2026-01.jsonl': `\n${record.slice(0, 40)}` }],
  ['before the line feed', { [file]: record, '2026-01.jsonl': `\n${record}` }],
  ['before the file is removed', { [file]: record, '2026-01.jsonl': `\n${record}\n` }],
  ['after it was added twice', { '2026-01.jsonl': `\n${record}\n\n${record}\n` }],
];

for (const [title, files] of interrupted) {
  test(`a process that is killed ${title} loses nothing and counts nothing twice`, async (t) => {
    const machine = await machineOf(t);
    await mkdir(machine.folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(machine.folder, name), text);
    t.is(await machine.requests(), 5, 'as it is found');
    const next = await machine.start(9);
    t.is(await machine.requests(), 5);
    t.deepEqual(await machine.names(), ['2026-01.jsonl']);
    next.add(request());
    machine.nowMs += hourMs;
    await next.close();
    t.is(await machine.requests(), 6);
  });
}

test('an hour that is over stays over when the clock goes back', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  hours.add(request());
  machine.nowMs += hourMs;
  await hours.write();
  machine.nowMs -= hourMs;
  hours.add(request());
  await hours.close();
  t.is(await machine.requests(), 2);
});

test('an hour has a thousand rows; further ones are summed up, and nothing gets lost', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  for (let n = 0; n < 1_500; n += 1) hours.add(request({ model: `m${n}` }));
  hours.add(request({ model: 'm7' }));
  hours.add(request({ protocol: 'messages', model: 'm1' }));
  await hours.close();
  const query = readUsageQuery({}, machine.nowMs);
  const { rows, total } = await usageReport(machine.folder, query);
  t.is(total.requests, 1_502);
  t.is(rows.length, 1_001);
  t.is(rows.find(({ name }) => name === 'other,other')?.requests, 501);
  t.is(rows.find(({ name }) => name === 'p,m7')?.requests, 2);
});

test('figures that no request can have do not spoil the sums', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  const odd = [-1, 1e30, Number.NaN, Number.POSITIVE_INFINITY, 1.5];
  for (const value of odd) hours.add(request({ usage: { input: value, output: value }, cost: value }));
  await hours.close();
  const { input, cost, unpriced } = await machine.total();
  t.is(input, 2 ** 32 * 2 + 2);
  t.is(cost, 2);
  t.is(unpriced, 4);
});

test('months that ended 400 days ago are removed', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  hours.add(request());
  machine.nowMs += hourMs;
  await hours.write();
  await writeFile(join(machine.folder, 'notes.txt'), 'mine');
  const later = { '2027-02-28T00:00Z': 2, '2027-04-10T00:00Z': 1 };
  for (const [at, left] of Object.entries(later)) {
    machine.nowMs = Date.parse(at);
    await machine.start(2);
    t.is((await machine.names()).length, left, at);
  }
});

test('files of another form are ignored, and a folder that can not be written is warned of once', async (t) => {
  const machine = await machineOf(t);
  await mkdir(join(machine.folder, '..'), { recursive: true });
  await writeFile(machine.folder, 'a file');
  const hours = await machine.start(1);
  hours.add(request());
  await hours.write();
  machine.nowMs += hourMs;
  hours.add(request());
  await hours.write();
  t.is(machine.warnings.length, 1);
  await rm(machine.folder);
  await hours.write();
  t.is(await machine.requests(), 2, 'both hours, as soon as it can be');
  await appendFile(join(machine.folder, '2026-01.jsonl'), '{"id":"2026-01-31T22.7-7","rows":[{}]}\nno JSON\n');
  await writeFile(join(machine.folder, '2026-01-31T21.8-8.json'), '{"rows":');
  await machine.start(2);
  t.is(await machine.requests(), 2);
  t.is(machine.warnings.length, 2);
  t.regex(await readFile(join(machine.folder, '2026-01-31T21.8-8.json'), 'utf8'), /rows/);
});
