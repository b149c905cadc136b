import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { UsageLedger } from '../../../../engine/features/clients/usage.ts';
import { openUsageFiles } from '../../../../engine/features/clients/usage-files.ts';

const nowMs = Date.parse('2026-01-30T12:00:00Z');

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-usage-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'usage');
};

/** Processes that run, by number; each is a ledger with its files. */
class Machine {
  readonly alive = new Set<number>();
  readonly warnings: string[] = [];
  readonly #folder: string;
  #starts = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(pid: number) {
    this.#starts += 1;
    this.alive.add(pid);
    const ledger = new UsageLedger(() => nowMs);
    const files = await openUsageFiles({
      folder: this.#folder,
      ledger,
      log: { warn: (message) => void this.warnings.push(message) },
      isUsed: () => true,
      everyMs: 1_000_000,
      process: { pid, startedAtMs: this.#starts },
      isAlive: (other) => this.alive.has(other),
    });
    return { ledger, files, used: (client = 'a') => ledger.used(client, 'month').requests };
  }
}

test('a restart goes on from what was written, and leaves one file', async (t) => {
  const folder = await folderOf(t);
  const machine = new Machine(folder);
  const first = await machine.start(10);
  first.ledger.add('a', { requests: 3, input: 10, output: 1, cost: 7 });
  await first.files.close();
  machine.alive.delete(10);
  const second = await machine.start(11);
  t.deepEqual(second.ledger.used('a', 'day'), { requests: 3, input: 10, output: 1, cost: 7, unpriced: 0 });
  t.deepEqual(await readdir(folder), ['11-2.json']);
  second.ledger.add('a', { requests: 1 });
  await second.files.close();
  // In a container, each start has the same number.
  const third = await machine.start(11);
  t.is(third.used(), 4);
  t.deepEqual(await readdir(folder), ['11-3.json']);
  t.deepEqual(machine.warnings, []);
});

test('processes that run at a time see what the others have written', async (t) => {
  const machine = new Machine(await folderOf(t));
  const [one, other] = [await machine.start(1), await machine.start(2)];
  one.ledger.add('a', { requests: 1 });
  other.ledger.add('a', { requests: 10 });
  await one.files.exchange();
  await other.files.exchange();
  await one.files.exchange();
  t.is(one.used(), 11);
  t.is(other.used(), 11);
  await one.files.exchange();
  t.is(one.used(), 11, 'a second look counts nothing twice');
  const third = await machine.start(3);
  t.is(third.used(), 11);
});

test('the file of an ended process is taken over by one of several that start at a time', async (t) => {
  const folder = await folderOf(t);
  const machine = new Machine(folder);
  const ended = await machine.start(1);
  ended.ledger.add('a', { requests: 5 });
  await ended.files.close();
  machine.alive.delete(1);
  const started = await Promise.all([2, 3, 4, 5].map((pid) => machine.start(pid)));
  for (const { files } of started) await files.exchange();
  t.deepEqual(
    started.map(({ used }) => used()),
    [5, 5, 5, 5],
  );
  t.is((await readdir(folder)).length, 1);
});

/** The state of the folder at each point where a process that takes a file over may be killed. */
const interrupted: readonly (readonly [
  title: string,
  files: Readonly<Record<string, number | readonly [number, string]>>,
])[] = [
  ['before anything', { '1-1.json': 5 }],
  ['after the file is claimed', { '1-1.2-2.json': 5 }],
  ['after its own file is written', { '1-1.2-2.json': 5, '2-2.json': [5, '1-1'] }],
  ['after the claimed file is removed', { '2-2.json': [5, '1-1'] }],
  ['with what it counted itself', { '1-1.2-2.json': 5, '2-2.json': [5, '1-1'], '2-2.json.x.tmp': 0 }],
  ['amid a second claim', { '1-1.3-3.json': 5, '2-2.json': [5, '1-1'] }],
  ['while two take over', { '1-1.2-2.json': 3, '2-2.json': [3, '1-1'], '7-7.3-3.json': 2 }],
];

for (const [title, written] of interrupted) {
  test(`a process that is killed ${title} loses nothing and counts nothing twice`, async (t) => {
    const folder = await folderOf(t);
    await mkdir(folder);
    for (const [name, what] of Object.entries(written)) {
      const [requests, ...absorbed] = typeof what === 'number' ? [what] : what;
      const clients = { a: { requests, input: 0, output: 0 } };
      const file = { day: { key: '2026-01-30', clients }, month: { key: '2026-01', clients }, absorbed };
      await writeFile(join(folder, name), JSON.stringify(file));
    }
    const machine = new Machine(folder);
    const next = await machine.start(20);
    t.is(next.used(), 5);
    await next.files.close();
    t.deepEqual(await readdir(folder), ['20-1.json']);
    machine.alive.clear();
    t.is((await machine.start(21)).used(), 5);
    // The killed process isn't the only one that may look meanwhile.
    const observer = new Machine(folder);
    for (const pid of [1, 2, 3, 7, 20, 21]) observer.alive.add(pid);
    t.is((await observer.start(30)).used(), 5);
  });
}

test('files of another form and of other periods are ignored', async (t) => {
  const folder = await folderOf(t);
  await mkdir(folder);
  await writeFile(join(folder, '1-1.json'), '{"day":');
  await writeFile(
    join(folder, '2-2.json'),
    JSON.stringify({ day: { key: '2026-01-30', clients: { a: { requests: -1, input: 0, output: 0 } } } }),
  );
  await writeFile(join(folder, 'notes.txt'), 'mine');
  const clients = { a: { requests: 9, input: 0, output: 0 } };
  await writeFile(
    join(folder, '3-3.json'),
    JSON.stringify({ day: { key: '2025-01-30', clients }, month: { key: '2025-01', clients }, absorbed: [] }),
  );
  const machine = new Machine(folder);
  t.is((await machine.start(9)).used(), 0);
  t.is(machine.warnings.length, 2);
  t.true((await readdir(folder)).includes('notes.txt'));
});

test('a folder that can not be written is warned of once, and written as soon as it can be', async (t) => {
  if (process.getuid?.() === 0) {
    // The administrator of the machine may write everything but into a file.
    const folder = await folderOf(t);
    await writeFile(folder, '');
    const machine = new Machine(folder);
    const { ledger, files, used } = await machine.start(1);
    ledger.add('a', { requests: 1 });
    await files.exchange();
    ledger.add('a', { requests: 1 });
    await files.exchange();
    t.is(used(), 2);
    t.is(machine.warnings.length, 1);
    await rm(folder);
    await files.exchange();
    t.regex(await readFile(join(folder, '1-1.json'), 'utf8'), /"requests":2/);
    return;
  }
  const folder = await folderOf(t);
  await mkdir(folder, { mode: 0o500 });
  const machine = new Machine(folder);
  const { ledger, files } = await machine.start(1);
  ledger.add('a', { requests: 1 });
  await files.exchange();
  await files.exchange();
  t.is(machine.warnings.length, 1);
  await chmod(folder, 0o700);
  await files.exchange();
  t.deepEqual(await readdir(folder), ['1-1.json']);
});
