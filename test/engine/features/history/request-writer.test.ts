import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { flushLines } from '../../../../engine/features/history/flush-lines.ts';
import { StoredRequests } from '../../../../engine/features/history/stored-requests.ts';
import { PendingLines } from '../../../../engine/features/record/pending-lines.ts';
import { openPersistence, type ServicePersistence } from '../../../../engine/service/persistence.ts';
import { type OpenStore, storeFile } from '../../../../engine/store/store-thread.ts';
import { idsIn, storeHere } from '../../../support/store-here.ts';
import { keptRequest, linesOf } from '../../store/requests.ts';

const dayMs = 86_400_000;

/** A service's folder, and the clock of its processes. */
class Machine {
  readonly warnings: string[] = [];
  readonly home: string;
  readonly file: string;
  bounds = { days: 30, bytes: 100_000_000 };
  nowMs = Date.now();
  #n = 0;

  constructor(home: string) {
    this.home = home;
    this.file = storeFile(home);
  }

  readonly #log = { warn: (message: string) => void this.warnings.push(message) };

  /** The process that writes. */
  open(): ServicePersistence {
    const clock = { nowMs: () => this.nowMs, steadyNowMs: () => this.nowMs };
    return openPersistence({ home: this.home, log: this.#log, ...clock, openStore: storeHere });
  }

  /** A process of the service, which hands over a line per request. */
  async start(persistence: ServicePersistence) {
    const member = persistence.join();
    const lines = new PendingLines();
    const flushing = await flushLines({
      ...{ file: this.file, lines, writer: member.history, bounds: () => this.bounds, log: this.#log },
      onKept: () => undefined,
      everyMs: 1_000_000,
    });
    const add = (...ids: readonly string[]): void => {
      for (const id of ids) {
        this.#n += 1;
        lines.add(this.#n, linesOf([keptRequest(id, this.nowMs)]).trimEnd());
      }
    };
    const close = async (): Promise<void> => {
      await flushing.close();
      member.leave();
    };
    return { ...flushing, add, close, writer: member.history };
  }

  ids(): string {
    return idsIn(this.file).join(' ');
  }
}

const machineOf = async (t: ExecutionContext): Promise<Machine> => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-kept-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  return new Machine(home);
};

test('requests of several processes and starts are in one file, each once; without any, there is none', async (t) => {
  const machine = await machineOf(t);
  const quiet = machine.open();
  await (await machine.start(quiet)).close();
  await quiet.close();
  t.deepEqual(await readdir(machine.home), []);
  const ids: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    const records = machine.open();
    const started = await Promise.all([1, 2, 3].map(() => machine.start(records)));
    for (let n = 0; n < 30; n += 1) {
      machine.nowMs += 1;
      const id = `r${run}-${n}`;
      ids.unshift(id);
      started[(n * 7) % 3]?.add(id);
      if (n % 10 === 9) await Promise.all(started.map((one) => one.write()));
    }
    await Promise.all(started.map((one) => one.close()));
    await records.close();
  }
  t.is(machine.ids(), ids.join(' '));
  t.deepEqual(machine.warnings, []);
});

test('bounds hold from the start, when they change, and as time goes by; a clock that jumps ahead removes nothing', async (t) => {
  const machine = await machineOf(t);
  let wallMs = machine.nowMs;
  const open = () =>
    openPersistence({
      home: machine.home,
      log: { warn: (message) => void machine.warnings.push(message) },
      nowMs: () => wallMs,
      steadyNowMs: () => machine.nowMs,
      openStore: storeHere,
    });
  const records = open();
  const one = await machine.start(records);
  one.add('a');
  await one.write();
  wallMs += 1_000 * dayMs;
  machine.bounds = { days: 30, bytes: 50_000_000 };
  one.add('b');
  await one.write();
  t.is(machine.ids(), 'b a');
  machine.nowMs += 31 * dayMs;
  machine.bounds = { days: 30, bytes: 60_000_000 };
  one.add('c');
  await one.write();
  t.is(machine.ids(), 'c');
  await one.clear();
  t.is(machine.ids(), '');
  one.add('d');
  await one.close();
  await records.close();
  t.is(machine.ids(), 'd');
  machine.bounds = { days: 0, bytes: 60_000_000 };
  const later = open();
  const none = await machine.start(later);
  t.is(machine.ids(), '', 'what is no longer to be kept is removed by the next start');
  none.add('e');
  await none.close();
  await later.close();
  t.is(machine.ids(), '');
  t.deepEqual(machine.warnings, []);
});

test('a disk that refuses is warned of once, and nothing that waits is lost', async (t) => {
  const machine = await machineOf(t);
  await mkdir(machine.file);
  const records = machine.open();
  const one = await machine.start(records);
  one.add('a');
  await one.write();
  one.add('b');
  await one.write();
  t.deepEqual(machine.warnings, ["the history of requests can't be kept on disk"]);
  await rm(machine.file, { recursive: true });
  await one.close();
  await records.close();
  t.is(machine.ids(), 'b a');
});

test('what is lost because too much waits is counted', async (t) => {
  const machine = await machineOf(t);
  await mkdir(machine.file);
  const records = machine.open();
  const one = await machine.start(records);
  one.add('first');
  await one.write();
  one.add(...Array.from({ length: 5_100 }, (_, n) => `r${n}`));
  await rm(machine.file, { recursive: true });
  await one.close();
  await records.close();
  t.is(idsIn(machine.file).length, 5_000);
  t.deepEqual(machine.warnings, [
    "the history of requests can't be kept on disk",
    'requests end faster than their history can be written',
    'requests are missing from the history: too many waited to be written',
  ]);
});

test('the folder of earlier versions is taken over by a start, before any request', async (t) => {
  const machine = await machineOf(t);
  const older = join(machine.home, 'history');
  await mkdir(older);
  for (const n of [1, 2, 3]) {
    await writeFile(
      join(older, `${machine.nowMs + n}.17-${machine.nowMs}.jsonl`),
      linesOf([keptRequest(`old${n}`, machine.nowMs + n)]),
    );
  }
  const records = machine.open();
  const one = await machine.start(records);
  machine.nowMs += 10;
  one.add('new');
  await one.write();
  while (await stat(older).catch(() => undefined)) await one.write();
  await one.close();
  await records.close();
  t.is(machine.ids(), 'new old3 old2 old1');
});

test('a damaged file is noticed by a reader, set aside by the writer, and read anew', async (t) => {
  const machine = await machineOf(t);
  const records = machine.open();
  const one = await machine.start(records);
  one.add('lost');
  await one.close();
  await records.close();
  await writeFile(machine.file, 'no database '.repeat(1_000));
  const again = machine.open();
  const two = await machine.start(again);
  const store = storeHere({ role: 'read', file: machine.file }, { warn: () => t.fail() });
  const stored = new StoredRequests({
    store,
    days: () => 30,
    requests: { list: async () => ({ newest: 0, requests: [] }) },
    write: two.write,
    writer: two.writer,
  });
  t.is((await stored.ask('extent', null)).requests, 0);
  two.add('kept');
  t.is((await stored.ask('extent', null)).requests, 1);
  await two.close();
  await store.close();
  await again.close();
  t.is(machine.ids(), 'kept');
  t.deepEqual(machine.warnings, ['the file of requests is damaged and was set aside; a new one begins']);
});

test('a thread that takes the place of one that failed keeps to the bounds', async (t) => {
  const machine = await machineOf(t);
  const stores: ReturnType<OpenStore>[] = [];
  const openStore: OpenStore = (...opening) => {
    const store = storeHere(...opening);
    stores.push(store);
    return store;
  };
  const log = { warn: (message: string) => void machine.warnings.push(message) };
  const records = openPersistence({ home: machine.home, log, openStore });
  const { history } = records.join();
  await history.bound({ days: 0, bytes: 100_000_000 });
  const line = (id: string) => linesOf([keptRequest(id, machine.nowMs)]);
  await history.append(line('a'));
  await Promise.all(stores.map((store) => store.close()));
  await t.throwsAsync(history.append(line('b')), { message: /not known yet/ });
  await history.append(line('b'));
  await records.close();
  t.is(machine.ids(), '');
});
