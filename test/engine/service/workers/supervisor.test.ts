import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import type { ListenAddress } from '../../../../engine/service/workers/listen-address.ts';
import { Supervisor } from '../../../../engine/service/workers/supervisor.ts';
import type { Worker, WorkerExit } from '../../../../engine/service/workers/worker.ts';
import type { WorkerSet } from '../../../../engine/service/workers/worker-set.ts';
import { until } from '../../../support/until.ts';

const place: ListenAddress = { host: 'h', configuredPort: 0, port: 1, addresses: ['h'] };

/** A service whose workers are made up; `events` tells what happened, in order. */
const rig = (wanted: number) => {
  const events: string[] = [];
  const exits = new Map<number, (exit: WorkerExit) => void>();
  const asked = { wanted, fails: undefined as string | undefined, forks: 0, startAfter: Promise.resolve() };
  let pid = 0;
  let fleet: WorkerSet | undefined;
  const supervisor = new Supervisor({
    startedAtMs: 0,
    wanted: async () => asked.wanted,
    report: (line) => events.push(line),
    changed: (now) => {
      fleet = now;
    },
    async fork(taken) {
      asked.forks += 1;
      await wait(10);
      await asked.startAfter;
      if (asked.fails !== undefined) throw new Error(asked.fails);
      pid += 1;
      const own = pid;
      events.push(`${own} comes${taken ? ' beside others' : ''}`);
      const end = (how: string): void => {
        events.push(`${own} ${how}`);
        exits.get(own)?.({ orderly: true, how });
      };
      const worker: Worker = {
        pid: own,
        startedAtMs: Date.now(),
        place,
        retire: () => end('retires'),
        stop: () => end('stops'),
        kill: () => end('is killed'),
        exited: new Promise((resolve) => exits.set(own, resolve)),
      };
      return worker;
    },
  });
  const serving = () => fleet?.workers.map((worker) => worker.pid);
  const fall = (number: number) => exits.get(number)?.({ orderly: false, how: 'signal SIGKILL' });
  return { supervisor, events, asked, serving, fall };
};

test('a restart replaces one worker after the other, and only when the new one serves', async (t) => {
  const { supervisor, events, serving } = rig(2);
  await supervisor.start();
  await supervisor.restart();
  t.deepEqual(events, [
    '1 comes',
    '2 comes beside others',
    '3 comes beside others',
    '1 retires',
    '4 comes beside others',
    '2 retires',
  ]);
  t.deepEqual(serving(), [3, 4]);
  t.is(supervisor.workers.restarts, 1);
});

test('restarts that come together are one', async (t) => {
  const { supervisor, serving } = rig(1);
  await supervisor.start();
  await Promise.all([supervisor.restart(), supervisor.restart()]);
  t.deepEqual(serving(), [2]);
  await supervisor.restart();
  t.deepEqual(serving(), [3]);
});

test('a restart that is asked for during another one follows it, with what has changed since', async (t) => {
  const { supervisor, asked, serving } = rig(1);
  await supervisor.start();
  const first = supervisor.restart();
  await until(() => asked.forks === 2);
  asked.wanted = 3;
  await Promise.all([first, supervisor.restart(), supervisor.restart()]);
  t.deepEqual(serving(), [3, 4, 5]);
  t.is(supervisor.workers.restarts, 2);
});

test('a restart takes up another number of workers', async (t) => {
  const { supervisor, asked, serving } = rig(1);
  await supervisor.start();
  asked.wanted = 3;
  await supervisor.restart();
  t.deepEqual(serving(), [2, 3, 4]);
  asked.wanted = 1;
  await supervisor.restart();
  t.deepEqual(serving(), [5]);
});

test('if no new worker can start, the old ones keep running', async (t) => {
  const { supervisor, asked, serving } = rig(2);
  await supervisor.start();
  asked.fails = 'no';
  await t.throwsAsync(supervisor.restart(), { message: 'no' });
  t.deepEqual(serving(), [1, 2]);
  asked.fails = undefined;
  await supervisor.restart();
  t.deepEqual(serving(), [3, 4]);
});

test('a worker that falls is replaced; attempts go on until one succeeds', async (t) => {
  const { supervisor, events, asked, serving, fall } = rig(2);
  await supervisor.start();
  asked.fails = 'no memory';
  fall(1);
  await until(() => events.some((line) => line.includes('the next attempt')));
  t.deepEqual(serving(), [2]);
  asked.fails = undefined;
  await until(() => serving()?.length === 2);
  t.deepEqual(serving(), [2, 3]);
  t.deepEqual(events.slice(2), [
    'worker 1 exited (signal SIGKILL); a replacement starts in 100 ms',
    'could not start a new worker; the next attempt is in 200 ms: no memory',
    '3 comes beside others',
  ]);
});

test('a restart during the replacement of a worker follows it, and leaves the configured number', async (t) => {
  const { supervisor, asked, serving, fall } = rig(2);
  await supervisor.start();
  let start = () => {};
  asked.startAfter = new Promise((resolve) => {
    start = resolve;
  });
  fall(1);
  await until(() => asked.forks === 3);
  const restarting = supervisor.restart();
  start();
  await restarting;
  t.deepEqual(serving(), [4, 5]);
});

test('when the service stops, workers that end are not replaced', async (t) => {
  const { supervisor, events } = rig(2);
  await supervisor.start();
  await supervisor.stop();
  await wait(150);
  t.deepEqual(events.slice(2), ['1 stops', '2 stops']);
});

test('a worker that comes while the service stops is stopped too', async (t) => {
  const { supervisor, asked, events } = rig(1);
  await supervisor.start();
  const restarting = supervisor.restart();
  await until(() => asked.forks === 2);
  await supervisor.stop();
  await restarting;
  t.true(events.includes('2 stops'));
});
