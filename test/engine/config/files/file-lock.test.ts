import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { underFileLock } from '../../../../engine/config/files/file-lock.ts';

/** Shorter than the usual one, so that tests wait less. */
const abandonedMs = 400;

const rig = async (t: ExecutionContext) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-lock-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'models.json');
  return { file, lock: `${file}.lock`, files: () => readdir(home) };
};

/** A task that ends when it is told to. */
const heldTask = () => {
  const events = new EventEmitter();
  const [begun, ended] = [once(events, 'begun'), once(events, 'ended')];
  return {
    begun,
    end: () => events.emit('ended'),
    task: async () => {
      events.emit('begun');
      await ended;
    },
  };
};

test('a lock that a killed process left behind is given up by all that wait for it, and one task runs at a time', async (t) => {
  const { file, lock, files } = await rig(t);
  await writeFile(lock, '');
  let running = 0;
  let most = 0;
  const task = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await writeFile(file, '');
    running -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => underFileLock(file, task, abandonedMs)));
  t.is(most, 1);
  t.deepEqual(await files(), ['models.json']);
});

test('a task that was given up as abandoned leaves the lock of the next one in place', async (t) => {
  const { file, lock, files } = await rig(t);
  const [one, two] = [heldTask(), heldTask()];
  const first = underFileLock(file, one.task);
  await one.begun;
  const second = underFileLock(file, two.task, abandonedMs);
  await two.begun;
  one.end();
  await first;
  t.true(existsSync(lock));
  two.end();
  await second;
  t.deepEqual(await files(), []);
});

test('a task that fails releases the lock', async (t) => {
  const { file, files } = await rig(t);
  await t.throwsAsync(
    underFileLock(file, () => Promise.reject(new Error('full'))),
    { message: 'full' },
  );
  t.deepEqual(await files(), []);
});
