import { appendFile, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { handOverLines } from '../../../../../engine/features/history/files/hand-over-lines.ts';
import { HistorySearch } from '../../../../../engine/features/history/files/search-history.ts';
import { HistoryFiles } from '../../../../../engine/features/history/files/write-history.ts';
import { recordLine } from '../../../../../engine/features/record/record-line.ts';
import { RecordLines } from '../../../../../engine/features/record/record-lines.ts';

type EndedRecord = Parameters<typeof recordLine>[0];

const request = (id: string, more: Partial<EndedRecord> = {}): EndedRecord => ({
  id,
  startedAtMs: 5,
  path: '/v1/messages',
  preset: undefined,
  protocol: 'messages',
  namedClient: undefined,
  session: undefined,
  tools: [],
  turns: 1,
  asked: 'any',
  stream: true,
  scenario: 'default',
  reason: undefined,
  pool: undefined,
  provider: 'p',
  model: 'm',
  status: 200,
  fault: undefined,
  upstreamId: undefined,
  usage: { input: 10, output: 2 },
  cost: undefined,
  firstByteMs: 3,
  durationMs: 4,
  overheadMs: 1,
  losses: [],
  lossCount: 0,
  failedAttempts: [],
  relayed: { request: false, reply: false },
  captured: false,
  ...more,
});

const dayMs = 86_400_000;

/** A folder, and the clock of the processes that use it. */
class Machine {
  readonly warnings: string[] = [];
  readonly folder: string;
  bounds = { days: 30, bytes: 1_000_000 };
  nowMs = Date.now();
  #members = 0;
  readonly #search: HistorySearch;

  constructor(folder: string) {
    this.folder = folder;
    this.#search = new HistorySearch(folder);
  }

  readonly #log = { warn: (message: string) => void this.warnings.push(message) };

  /** A service: the process that writes. */
  open(fileBytes = 2_000): HistoryFiles {
    return new HistoryFiles({ folder: this.folder, log: this.#log, nowMs: () => this.nowMs, fileBytes });
  }

  /** A process of the service, which hands over a line per request. */
  async start(files: HistoryFiles) {
    this.#members += 1;
    const member = this.#members;
    const lines = new RecordLines();
    const { folder } = this;
    const keeper = files.keeperOf(member);
    const handOver = await handOverLines({
      ...{ folder, lines, keeper, bounds: () => this.bounds, log: this.#log },
      everyMs: 1_000_000,
    });
    let n = 0;
    const add = (record: EndedRecord): void => {
      n += 1;
      lines.add(n, this.nowMs, recordLine(record, n, this.nowMs, String));
    };
    const close = async (): Promise<void> => {
      await handOver.close();
      await files.leave(member);
    };
    return { ...handOver, add, close };
  }

  /** The ids that a search finds, page by page. */
  async pages(limit: number, maxBytes = 1_000_000, more: object = {}): Promise<readonly string[]> {
    const pages: string[] = [];
    let before: string | undefined;
    do {
      const found = await this.#search.find({ matches: () => true, ...more }, { limit, maxBytes }, before);
      pages.push(found.requests.map(({ id }) => id).join(' '));
      before = found.next;
    } while (before !== undefined);
    return pages;
  }

  async ids(more: object = {}): Promise<string> {
    return (await this.pages(1_000, 1_000_000, more)).join(' ').trim();
  }

  names(): Promise<readonly string[]> {
    return readdir(this.folder).catch(() => []);
  }
}

const machineOf = async (t: ExecutionContext): Promise<Machine> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-history-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return new Machine(join(folder, 'history'));
};

test('requests of several processes and starts come back newest first, in pages of any size, each once', async (t) => {
  const machine = await machineOf(t);
  const files = machine.open();
  const started = await Promise.all([1, 2, 3].map(() => machine.start(files)));
  const ids: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    // Several end within a millisecond.
    if (n % 3 === 0) machine.nowMs += 1;
    const id = `r${n}`;
    ids.push(id);
    started[(n * 7) % 3]?.add(request(id));
    if (n % 10 === 9) await Promise.all(started.map((one) => one.write()));
  }
  await Promise.all(started.map((one) => one.close()));
  t.true((await machine.names()).length > 6, 'files have a bound');
  const all = (await machine.ids()).split(' ');
  t.deepEqual(all.toSorted(), ids.toSorted());
  const order = all.map((id) => Math.floor(Number(id.slice(1)) / 3));
  t.deepEqual(
    order,
    order.toSorted((one, other) => other - one),
  );
  for (const limit of [1, 7, 59, 60]) t.is((await machine.pages(limit)).join(' ').trim(), all.join(' '), `${limit}`);
  t.is((await machine.pages(1_000, 1)).filter((page) => page !== '').length, 60, 'a search has a bound');
  t.deepEqual(machine.warnings, []);
});

test('a span is found by halves, and a file that was cut off or has foreign lines is read as far as it goes', async (t) => {
  const machine = await machineOf(t);
  machine.bounds = { days: 30, bytes: 100_000_000 };
  const first = machine.nowMs;
  const history = await machine.start(machine.open(4_000_000));
  for (let n = 0; n < 2_000; n += 1) {
    history.add(request(`r${n}`, { asked: 'x'.repeat(n % 200) }));
    machine.nowMs += 1;
    if (n % 500 === 499) await history.write();
  }
  await history.close();
  const [name = ''] = await machine.names();
  await appendFile(join(machine.folder, name), 'foreign\n{"endedAt":9999999999999,"n":1}\n{"endedAt":99999999999');
  t.is((await machine.ids()).split(' ').length, 2_000);
  for (const n of [0, 1, 3, 700, 1_999]) {
    t.is(await machine.ids({ fromMs: first + n, toMs: first + n }), `r${n}`);
    t.is((await machine.ids({ toMs: first + n })).split(' ').length, n + 1);
  }
  t.is(await machine.ids({ fromMs: first + 5_000 }), '');
  t.is(await machine.ids({ hint: '"r77"' }), 'r77');
  await t.throwsAsync(
    () => new HistorySearch(machine.folder).find({ matches: () => true }, { limit: 1, maxBytes: 1 }, 'x'),
    {
      message: /before must be/,
    },
  );
});

test('age and size have bounds, and no file that is written is removed', async (t) => {
  const machine = await machineOf(t);
  const files = machine.open();
  const idle = await machine.start(files);
  idle.add(request('idle'));
  await idle.write();
  machine.bounds = { days: 30, bytes: 10_000 };
  const busy = await machine.start(files);
  for (let n = 0; n < 200; n += 1) {
    machine.nowMs += 1;
    busy.add(request(`r${n}`));
    await busy.write();
  }
  const left = (await machine.ids()).split(' ');
  t.true(left.length < 60 && left.includes('r199') && left.includes('idle'), left.join());
  await busy.close();
  const old = new Date(machine.nowMs - 31 * dayMs);
  for (const name of await machine.names()) await utimes(join(machine.folder, name), old, old);
  await machine.start(files);
  t.is(await machine.ids(), 'idle');
  machine.nowMs += dayMs;
  const day = new Date(machine.nowMs - 31 * dayMs);
  for (const name of await machine.names()) await utimes(join(machine.folder, name), day, day);
  await files.tend();
  t.is(await machine.ids(), '', 'a file of a day is closed, also without a request');
  idle.add(request('more'));
  await idle.write();
  t.is(await machine.ids(), 'more');
  await idle.clear();
  t.is(await machine.ids(), '');
  idle.add(request('later'));
  await idle.write();
  t.is(await machine.ids(), 'later');
  machine.bounds = { days: 0, bytes: 10_000 };
  idle.add(request('none'));
  await idle.close();
  t.is(await machine.ids(), 'later');
  await machine.start(files);
  t.is(await machine.ids(), '', 'what is no longer to be kept is removed');
});

test('a disk that refuses is warned of once, and nothing that waits is lost', async (t) => {
  const machine = await machineOf(t);
  await writeFile(machine.folder, 'a file');
  const one = await machine.start(machine.open());
  one.add(request('a'));
  await one.write();
  one.add(request('b'));
  await one.write();
  t.deepEqual(machine.warnings, ["the history of requests can't be kept on disk"]);
  await rm(machine.folder);
  await one.close();
  t.is(await machine.ids(), 'b a');
});

test('a folder in the place of a file fails no search and no cleaning', async (t) => {
  const machine = await machineOf(t);
  const files = machine.open();
  const one = await machine.start(files);
  one.add(request('kept'));
  await one.close();
  await mkdir(join(machine.folder, '1.1-1.jsonl', 'in'), { recursive: true });
  t.is(await machine.ids(), 'kept');
  const two = await machine.start(files);
  await two.clear();
  await two.close();
  t.is(await machine.ids(), '');
  t.deepEqual(machine.warnings, ['an entry of the history is no file and is ignored']);
});
