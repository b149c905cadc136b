import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { UsageFiles } from '../../../../engine/features/usage/bucket-files.ts';
import type { CountedRequest } from '../../../../engine/features/usage/buckets.ts';
import { openUsage } from '../../../../engine/features/usage/open-usage.ts';
import { readUsageQuery, usageReport } from '../../../../engine/features/usage/report.ts';
import { noUsage, type UsageFigures, type UsageGroup } from '../../../../engine/features/usage/schema.ts';
import { seriesOf } from '../../../../engine/request-record.ts';

const request = (more: Partial<CountedRequest> = {}): CountedRequest => ({
  get series() {
    const { protocol, scenario = '', provider = '', namedClient = '', model = '' } = this;
    return seriesOf(protocol, scenario, provider, namedClient, model);
  },
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
  lossCount: 2,
  mayCost: true,
  firstByteMs: 100,
  durationMs: 1_000,
  overheadMs: 2,
  ...more,
});

/** A folder, and the clock of the processes that use it. */
class Machine {
  readonly warnings: string[] = [];
  readonly folder: string;
  nowMs = Date.parse('2026-01-31T22:10:20Z');
  #starts = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** A service whose process has this number: it writes, and counts as the first of its processes. */
  async start(pid: number, more: { readonly maxNamedBytes?: number; readonly lateMs?: number } = {}) {
    this.#starts += 1;
    const { lateMs = 0, maxNamedBytes } = more;
    const files = new UsageFiles({
      folder: this.folder,
      log: this.#log,
      nowMs: () => this.nowMs,
      lateMs: () => lateMs,
      process: { pid, startedAtMs: this.#starts },
      ...(maxNamedBytes !== undefined && { maxNamedBytes }),
    });
    await files.tidy();
    const { add, handOver } = this.join(files);
    const write = async (): Promise<void> => {
      await handOver();
      await files.write();
    };
    const close = async (): Promise<void> => {
      await handOver();
      await files.close();
    };
    return { files, add, handOver, write, close };
  }

  /** Another process of a service. */
  join(files: UsageFiles) {
    const { add, write } = openUsage({ keeper: files, log: this.#log, nowMs: () => this.nowMs, everyMs: 1_000_000 });
    return { add, handOver: write };
  }

  readonly #log = { warn: (message: string) => void this.warnings.push(message) };

  async total(more: object = {}): Promise<UsageFigures> {
    const query = readUsageQuery({ from: '2025-01-01', to: '2027-12-31', ...more }, this.nowMs);
    return (await usageReport(this.folder, query)).total;
  }

  async requests(): Promise<number> {
    return (await this.total()).requests;
  }

  /** The requests of each minute since a time, as `22:10 3`. */
  async minutes(from = '2026-01-31', by: UsageGroup = 'all'): Promise<readonly string[]> {
    const { rows } = await usageReport(this.folder, readUsageQuery({ from, by, step: 'minute' }, this.nowMs));
    return rows.map(({ from: start, name, requests }) =>
      [start?.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm'.length), name, requests]
        .filter((part) => part !== null)
        .join(' '),
    );
  }

  /** Its files, those of steps left out. */
  async names(): Promise<readonly string[]> {
    return (await readdir(this.folder).catch(() => [])).filter((name) => !stepFile.test(name)).toSorted();
  }

  async stepNames(): Promise<readonly string[]> {
    return (await readdir(this.folder)).filter((name) => stepFile.test(name)).toSorted();
  }

  /** The requests of each step of 5 seconds in the last hour, as `22:10:20 p 3`. */
  async steps(by: UsageGroup = 'provider'): Promise<readonly string[]> {
    const { rows } = await usageReport(this.folder, readUsageQuery({ from: '1h', by, step: '5s' }, this.nowMs));
    return rows.map(
      ({ from, name, requests }) =>
        `${from?.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm:ss'.length)} ${name} ${requests}`,
    );
  }
}

const machineOf = async (t: ExecutionContext): Promise<Machine> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-hours-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return new Machine(join(folder, 'usage', 'hours'));
};

const stepFile = /T\d\d\.jsonl$/;

const minuteMs = 60_000;
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
  t.deepEqual(await machine.names(), ['2026-01-31.jsonl', '2026-01-31T23.1-1.json', '2026-01.jsonl']);
  machine.nowMs += hourMs;
  await hours.close();
  t.deepEqual(
    await machine.names(),
    ['2026-01-31.jsonl', '2026-01.jsonl'],
    'an hour is over without another request, too',
  );
  t.like(await machine.total(), {
    requests: 3,
    errors: 1,
    retries: 2,
    losses: 6,
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

test('a minute is part of the file of its hour until it is over, then a line of its day', async (t) => {
  const machine = await machineOf(t);
  const service = await machine.start(1);
  const counters = [service, machine.join(service.files)];
  const write = async (): Promise<void> => {
    await counters[1]?.handOver();
    await service.write();
  };
  for (const counter of counters) counter.add(request({ firstByteMs: 10 }));
  await write();
  t.deepEqual(await machine.names(), ['2026-01-31T22.1-1.json']);
  t.deepEqual(await machine.minutes(), ['22:10 2']);
  machine.nowMs += minuteMs;
  counters[0]?.add(request({ firstByteMs: 1_000, model: 'n', calls: 2 }));
  await write();
  t.deepEqual(await machine.names(), ['2026-01-31.jsonl', '2026-01-31T22.1-1.json']);
  t.deepEqual(await machine.minutes('2026-01-31', 'model'), ['22:10 p,m 2', '22:11 p,n 1']);
  machine.nowMs += minuteMs;
  await write();
  t.deepEqual(await machine.minutes(), ['22:10 2', '22:11 1'], 'a minute is over without another request, too');
  t.deepEqual(await machine.minutes('2026-01-31T22:11:30Z'), ['22:11 1']);
  // Sums of recent times begin with the minute, those of longer ones with the hour.
  const sums = async (from: string): Promise<UsageFigures> =>
    (await usageReport(machine.folder, readUsageQuery({ from }, machine.nowMs))).total;
  const minute = await sums('2026-01-31T22:11Z');
  t.like(minute, { requests: 1, retries: 1, input: 10, output: 2, cost: 100, saved: 150 });
  t.true((minute.firstByteMs?.p50 ?? 0) > 900);
  t.like(await sums('2026-01-31T16:11Z'), { requests: 3, retries: 1, input: 30, output: 6, cost: 300, saved: 450 });
  machine.nowMs += hourMs;
  await write();
  t.deepEqual(await machine.names(), ['2026-01-31.jsonl', '2026-01.jsonl']);
  t.deepEqual(await machine.minutes(), ['22:10 2', '22:11 1']);
  t.is(await machine.requests(), 3);
});

test('minutes add up to their hours, whenever it is written and whenever a process is killed', async (t) => {
  const machine = await machineOf(t);
  // A linear congruential generator: the same run each time.
  let state = 7;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  let pid = 1;
  let counter = await machine.start(pid);
  const written = { count: 0, since: 0 };
  for (let turn = 0; turn < 150; turn += 1) {
    machine.nowMs += random(4) * 47_000;
    for (let n = random(4); n > 0; n -= 1) {
      counter.add(request({ model: `m${random(3)}` }));
      written.since += 1;
    }
    if (random(2) === 0) {
      await counter.write();
      written.count += written.since;
      written.since = 0;
    }
    if (random(20) > 0) continue;
    pid += 1;
    counter = await machine.start(pid);
    written.since = 0;
  }
  await counter.close();
  written.count += written.since;
  t.true(pid > 5 && written.count > 100, `${pid} ${written.count}`);
  t.is(await machine.requests(), written.count);
  const minutes = await machine.minutes();
  t.is(
    minutes.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0),
    written.count,
  );
  const hours = await usageReport(machine.folder, readUsageQuery({ by: 'model', step: 'hour' }, machine.nowMs));
  const byHour = new Map<string, number>();
  for (const line of await machine.minutes('2026-01-31', 'model')) {
    const [time = '', name = '', count] = line.split(' ');
    const key = `${time.slice(0, 2)} ${name}`;
    byHour.set(key, (byHour.get(key) ?? 0) + Number(count));
  }
  t.deepEqual(
    [...byHour].toSorted(),
    hours.rows
      .map(({ from, name, requests }): [string, number] => [`${from?.slice(11, 13)} ${name}`, requests])
      .toSorted(),
  );
});

test('a process that is killed while it ends a minute leaves the same sums by minutes and by hours', async (t) => {
  const machine = await machineOf(t);
  const counter = await machine.start(1);
  // The hour's file can't be written, which ends the write at the same point as a kill.
  const hour = join(machine.folder, '2026-01-31T22.1-1.json');
  await mkdir(hour, { recursive: true });
  counter.add(request());
  machine.nowMs += minuteMs;
  await counter.write();
  t.is(machine.warnings.length, 1);
  await rm(hour, { recursive: true });
  t.is(await machine.requests(), 0);
  t.deepEqual(await machine.minutes(), []);
});

test('percentiles of times are those of all processes and hours, within 12 %', async (t) => {
  const machine = await machineOf(t);
  const service = await machine.start(1);
  const processes = [service, machine.join(service.files)];
  for (let ms = 1; ms <= 1_000; ms += 1) {
    if (ms === 400) machine.nowMs += hourMs;
    processes[ms % 2]?.add(
      request({ firstByteMs: ms % 10 === 0 ? undefined : ms, durationMs: 10 * ms, overheadMs: 0 }),
    );
  }
  await processes[1]?.handOver();
  await service.write();
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

test('what ended processes have left moves to the month of its hour', async (t) => {
  const machine = await machineOf(t);
  const ended = await machine.start(1);
  ended.add(request());
  await ended.close();
  await machine.start(2);
  t.deepEqual(await machine.names(), ['2026-01-31T22.1-1.json'], 'the hour goes on');
  machine.nowMs += hourMs;
  await machine.start(3);
  t.deepEqual(await machine.names(), ['2026-01-31.jsonl', '2026-01.jsonl']);
  t.is(await machine.requests(), 1);
  t.deepEqual(await machine.minutes(), ['22:10 1']);
  // In a container, each start has the same number.
  const again = await machine.start(6);
  again.add(request());
  await again.close();
  machine.nowMs += hourMs;
  await machine.start(6);
  t.is(await machine.requests(), 2);
  t.deepEqual(await machine.minutes(), ['22:10 1', '23:10 1']);
  t.deepEqual(await machine.names(), ['2026-01-31.jsonl', '2026-01.jsonl']);
  t.deepEqual(machine.warnings, []);
});

const rowsOf = (requests: number): readonly object[] => [
  { protocol: 'chat', scenario: '', provider: 'p', model: 'm', client: '', ...noUsage, requests, saved: -1 },
];
const hour = { id: '2026-01-31T20.1-1', rows: rowsOf(3) };
const lastMinute = { id: '2026-01-31T20:59.1-1', rows: rowsOf(2) };
const record = JSON.stringify({ ...hour, minute: lastMinute });
const minuteLine = JSON.stringify(lastMinute);
const hourLine = JSON.stringify({ ...hour, rows: rowsOf(5) });
const file = '2026-01-31T20.1-1.json';
const day = '2026-01-31.jsonl';
const month = '2026-01.jsonl';

/** The state of the folder at each point where a process may be killed. */
const interrupted: readonly (readonly [title: string, files: Readonly<Record<string, string>>])[] = [
  ['before anything', { [file]: record }],
  ['amid a rewrite', { [file]: record, [`${file}.x.tmp`]: record.slice(0, 40) }],
  ["amid the minute's line", { [file]: record, [day]: `\n${minuteLine.slice(0, 40)}` }],
  ["after the minute's line", { [file]: record, [day]: `\n${minuteLine}\n` }],
  ["amid the hour's line", { [file]: record, [day]: `\n${minuteLine}\n`, [month]: `\n${hourLine.slice(0, 40)}` }],
  ['before the line feed', { [file]: record, [day]: `\n${minuteLine}\n`, [month]: `\n${hourLine}` }],
  ['before the file is removed', { [file]: record, [day]: `\n${minuteLine}\n`, [month]: `\n${hourLine}\n` }],
  [
    'after both were added twice',
    { [day]: `\n${minuteLine}\n\n${minuteLine}\n`, [month]: `\n${hourLine}\n\n${hourLine}\n` },
  ],
];

for (const [title, files] of interrupted) {
  test(`a process that is killed ${title} loses nothing and counts nothing twice`, async (t) => {
    const machine = await machineOf(t);
    await mkdir(machine.folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(machine.folder, name), text);
    t.is(await machine.requests(), 5, 'as it is found');
    t.deepEqual(await machine.minutes(), ['20:59 2']);
    const next = await machine.start(9);
    t.is(await machine.requests(), 5);
    t.deepEqual(await machine.minutes(), ['20:59 2']);
    t.deepEqual(await machine.names(), [day, month]);
    next.add(request());
    machine.nowMs += hourMs;
    await next.close();
    t.is(await machine.requests(), 6);
    t.deepEqual(await machine.minutes(), ['20:59 2', '22:10 1']);
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
  machine.nowMs += hourMs;
  t.deepEqual(await machine.minutes(), ['22:10 1', '23:10 1']);
});

test('an hour and a minute have a thousand rows; further ones are summed up, and nothing gets lost', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  for (let n = 0; n < 1_500; n += 1) hours.add(request({ model: `m${n}` }));
  machine.nowMs += minuteMs;
  hours.add(request({ model: 'm7' }));
  hours.add(request({ protocol: 'messages', model: 'm1' }));
  await hours.close();
  const query = readUsageQuery({}, machine.nowMs);
  const { rows, total } = await usageReport(machine.folder, query);
  t.is(total.requests, 1_502);
  t.is(rows.length, 1_001);
  t.is(rows.find(({ name }) => name === 'other,other')?.requests, 501);
  t.is(rows.find(({ name }) => name === 'p,m7')?.requests, 2);
  const minutes = await machine.minutes('2026-01-31', 'model');
  t.is(minutes.length, 1_003);
  t.true(minutes.includes('22:10 other,other 500') && minutes.includes('22:11 p,m1 1'));
});

test('a day of many names keeps its size: further minutes are counted by protocol, hours as ever', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1, { maxNamedBytes: 1 });
  for (const protocol of ['chat', 'messages', 'chat'] as const) {
    for (const model of ['m', 'n']) hours.add(request({ protocol, model }));
    machine.nowMs += minuteMs;
    await hours.write();
  }
  t.deepEqual(await machine.minutes('2026-01-31', 'model'), [
    '22:10 p,m 1',
    '22:10 p,n 1',
    '22:11 other,other 2',
    '22:12 other,other 2',
  ]);
  t.deepEqual(await machine.minutes('2026-01-31T22:11Z', 'protocol'), ['22:11 messages 2', '22:12 chat 2']);
  const { rows } = await usageReport(machine.folder, readUsageQuery({}, machine.nowMs));
  t.deepEqual(
    rows.map(({ name, requests }) => `${name} ${requests}`),
    ['p,m 3', 'p,n 3'],
  );
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

test('days that ended two days ago are removed, and months that ended 400 days ago', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  hours.add(request());
  machine.nowMs += hourMs;
  await hours.write();
  await writeFile(join(machine.folder, 'notes.txt'), 'mine');
  const later = { '2026-02-02T23:59Z': 3, '2026-02-03T00:00Z': 2, '2027-02-28T00:00Z': 2, '2027-04-10T00:00Z': 1 };
  for (const [at, left] of Object.entries(later)) {
    machine.nowMs = Date.parse(at);
    await machine.start(2);
    t.is((await machine.names()).length, left, at);
  }
});

test('while nothing can be written, sixty minutes are kept; the hours have all', async (t) => {
  const machine = await machineOf(t);
  await mkdir(join(machine.folder, '..'), { recursive: true });
  await writeFile(machine.folder, 'a file');
  const hours = await machine.start(1);
  for (let n = 0; n < 100; n += 1) {
    hours.add(request());
    await (n % 7 === 0 ? hours.write() : hours.handOver());
    machine.nowMs += minuteMs;
  }
  await rm(machine.folder);
  await hours.write();
  t.is(await machine.requests(), 100);
  t.is((await machine.minutes()).length, 60);
  t.is((await machine.minutes())[0], '22:50 1');
});

test('while nothing can be written, 48 hours are kept, and sixty minutes even if each is of another hour', async (t) => {
  const machine = await machineOf(t);
  await mkdir(join(machine.folder, '..'), { recursive: true });
  await writeFile(machine.folder, 'a file');
  const hours = await machine.start(1);
  for (let n = 0; n < 200; n += 1) {
    hours.add(request());
    await hours.handOver();
    machine.nowMs += hourMs;
  }
  await rm(machine.folder);
  await hours.write();
  t.is(await machine.requests(), 60);
});

test('requests of many minutes that end amid a write are counted once', async (t) => {
  const machine = await machineOf(t);
  const hours = await machine.start(1);
  hours.add(request());
  machine.nowMs += minuteMs;
  const writing = hours.write();
  await new Promise(setImmediate);
  for (let n = 0; n < 70; n += 1) {
    hours.add(request());
    machine.nowMs += minuteMs;
    await hours.handOver();
  }
  await writing;
  await hours.close();
  t.is(await machine.requests(), 71);
  t.is((await machine.minutes()).length, 61);
});

test('counts of a step that come late are of their step, and later ones of the next; a hang of the writer loses none', async (t) => {
  const machine = await machineOf(t);
  const service = await machine.start(1, { lateMs: 2_000 });
  const other = machine.join(service.files);
  other.add(request({ provider: 'late' }));
  service.add(request());
  machine.nowMs += 6_900;
  await service.write();
  t.deepEqual(await machine.steps(), []);
  await other.handOver();
  machine.nowMs += 100;
  await service.write();
  t.deepEqual(await machine.steps(), ['22:10:20 late 1', '22:10:20 p 1']);
  other.add(request({ provider: 'later' }));
  machine.nowMs += 20_000;
  await service.write();
  await other.handOver();
  machine.nowMs += 10_000;
  await service.write();
  t.deepEqual((await machine.steps()).slice(2), ['22:10:45 later 1']);
  t.is(await machine.requests(), 3);
  for (let n = 0; n < 40; n += 1) {
    other.add(request());
    machine.nowMs += 5_000;
  }
  await other.handOver();
  await service.close();
  t.is(await machine.requests(), 43);
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

test('what may still get late counts is in the sums at once, over the ends of steps, minutes and hours', async (t) => {
  const machine = await machineOf(t);
  machine.nowMs = Date.parse('2026-01-31T22:58:50Z');
  const service = await machine.start(1, { lateMs: 7_500 });
  for (let n = 1; n <= 40; n += 1) {
    service.add(request({ model: `m${n % 3}` }));
    await service.write();
    t.is(await machine.requests(), n, `${n}`);
    machine.nowMs += 2_500;
  }
  // The next process takes over what a kill leaves.
  machine.nowMs += hourMs;
  await machine.start(2);
  t.is(await machine.requests(), 40);
  await service.close();
  t.is(await machine.requests(), 40);
  const minutes = await machine.minutes();
  t.is(
    minutes.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0),
    40,
  );
});

test('the last hour is kept in steps of 5 seconds with names, of all processes, across kills', async (t) => {
  const machine = await machineOf(t);
  const one = await machine.start(1);
  const other = machine.join(one.files);
  one.add(request());
  one.add(request({ provider: 'q', namedClient: 'team' }));
  machine.nowMs += 4_999;
  one.add(request());
  other.add(request());
  await other.handOver();
  await one.write();
  t.deepEqual(await machine.steps(), [], 'a step is written once it is over');
  machine.nowMs += 1;
  one.add(request());
  await one.write();
  t.deepEqual(await machine.steps(), ['22:10:20 p 3', '22:10:20 q 1']);
  t.deepEqual(await machine.steps('client'), ['22:10:20 null 3', '22:10:20 team 1']);
  await one.close();
  machine.nowMs += 1;
  t.deepEqual((await machine.steps()).slice(2), ['22:10:25 p 1'], 'the step of the end is written');
  t.is(await machine.requests(), 5, 'minutes and hours count no request twice');
  machine.nowMs += hourMs - 1;
  t.deepEqual(await machine.steps(), ['22:10:25 p 1']);
  machine.nowMs += hourMs;
  const next = await machine.start(2);
  next.add(request());
  await next.write();
  machine.nowMs += hourMs;
  await next.close();
  t.deepEqual(await machine.stepNames(), ['2026-02-01T00.jsonl'], 'older hours are removed');
});

test('a file of steps that is full gets sums by protocol', async (t) => {
  const machine = await machineOf(t);
  const counter = await machine.start(1, { maxNamedBytes: 1 });
  counter.add(request());
  machine.nowMs += 5_000;
  counter.add(request({ provider: 'q' }));
  counter.add(request({ provider: 'r' }));
  await counter.close();
  machine.nowMs += 1;
  t.deepEqual(await machine.steps(), ['22:10:20 p 1', '22:10:25 other 2']);
});
