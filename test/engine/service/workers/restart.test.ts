import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { readPidFile } from '../../../../engine/service/workers/pid-file.ts';
import { addressIn, type CommandRig, commandRig } from '../../../support/processes/command.ts';
import { until } from '../../../support/until.ts';
import { chatStream } from '../../../support/upstreams/chat-stream.ts';
import { type Piece, type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { startLoad } from './load.ts';

// 200 streams and 20 restarts keep two cores busy for minutes; the figures of such a run are in docs/contributing/guarantees.md.
const streams = Number(process.env.JUNCTOR_TEST_STREAMS ?? 20);
const restarts = Number(process.env.JUNCTOR_TEST_RESTARTS ?? 2);

const words = Array.from({ length: 20 }, (_, index) => `word ${index} `);

const service = async (
  t: ExecutionContext,
  workers: number,
  /** The streams don't end before. */
  mayEnd = () => true,
): Promise<CommandRig & { readonly baseUrl: string; readonly upstream: ScriptedUpstream }> => {
  const upstream = await startUpstream(() => sseAnswer(heldStream(mayEnd)));
  t.teardown(() => upstream.close());
  const rig = await commandRig(t, {
    WORKERS: workers,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models: ['m'] }],
  });
  const started = await rig.run(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  return { ...rig, baseUrl: addressIn(started.out), upstream };
};

const heldStream = function* (mayEnd: () => boolean): Iterable<Piece> {
  const [first = '', ...others] = chatStream(words, 20);
  yield first;
  while (!mayEnd()) yield 20;
  yield* others;
};

const isStopping = ({ home }: CommandRig): boolean => readPidFile(home)?.state === 'stopping';

const statusOf = async ({ run }: CommandRig) => JSON.parse((await run(['status', '--json'])).out);

for (const workers of [1, 2]) {
  test.serial(
    `no request is lost over ${restarts} restarts of ${workers} workers under ${streams} streams`,
    async (t) => {
      t.timeout(300_000);
      const rig = await service(t, workers);
      const before = await statusOf(rig);
      const load = startLoad(rig.baseUrl, streams);
      for (let count = 0; count < restarts; count += 1) {
        const answer = await fetch(`${rig.baseUrl}/api/restart`, { method: 'POST' });
        t.is(answer.status, 200);
        const ended = load.ended();
        await until(() => load.ended() > ended + streams);
      }
      const { whole, failures } = await load.end();
      t.log(`${whole} requests`);
      // The gap that Linux leaves (docs/running.md): a connection that the kernel had taken and no process accepted. It came rarely
      // and one at a time; no request had been sent on it.
      const isReset = ([words]: readonly [string, number]) => words.startsWith('connect ECONNRESET');
      const resets = Object.entries(failures).filter(isReset);
      t.deepEqual(
        Object.entries(failures).filter((failure) => !isReset(failure)),
        [],
      );
      t.true(resets.every(([, times]) => times === 1) && resets.length <= 1, JSON.stringify(resets));
      t.true(whole > streams);
      const after = await statusOf(rig);
      t.like(after, { state: 'running', pid: before.pid, port: before.port, restarts });
      t.is(after.workers.length, workers);
      t.is((await rig.run(['stop'])).code, 0);
      await t.throwsAsync(fetch(`${rig.baseUrl}/health`), undefined, 'the port is free');
    },
  );
}

test.serial('a killed worker is replaced, and the service keeps running', async (t) => {
  const rig = await service(t, 2);
  const [first, second] = (await statusOf(rig)).workers;
  process.kill(first.pid, 'SIGKILL');
  let pids: number[] = [];
  for (; pids.length < 2 || pids.includes(first.pid); await wait(200)) {
    pids = (await statusOf(rig)).workers.map((worker: { pid: number }) => worker.pid);
  }
  t.true(pids.includes(second.pid));
  t.is((await fetch(`${rig.baseUrl}/health`)).status, 200);
});

test.serial('workers whose supervisor is killed end by themselves', async (t) => {
  const rig = await service(t, 2);
  const { pid, workers } = await statusOf(rig);
  process.kill(pid, 'SIGKILL');
  const isAlive = (worker: { pid: number }): boolean => {
    try {
      return process.kill(worker.pid, 0);
    } catch {
      return false;
    }
  };
  while (workers.some(isAlive)) await wait(100);
  t.is((await rig.run(['start', '--daemon'])).code, 0, 'the folder and the port are free');
});

test.serial('active streams finish when the service stops, even after repeated stops', async (t) => {
  let mayEnd = false;
  const rig = await service(t, 1, () => mayEnd);
  const load = startLoad(rig.baseUrl, 1);
  await until(() => rig.upstream.requests.length === 1);
  const stopping = rig.run(['stop']);
  const ended = load.end();
  await until(() => isStopping(rig));
  t.is((await rig.run(['status'])).out.split(' (')[0], 'Junctor is stopping and waits for active streams');
  const again = rig.run(['stop']);
  // A second order that comes later than this finds a service that has ended, which is as good.
  await wait(1_000);
  mayEnd = true;
  t.deepEqual(await ended, { whole: 1, failures: {} });
  t.deepEqual([(await stopping).code, (await again).code], [0, 0]);
});

test.serial('a second signal does not wait', async (t) => {
  const rig = await service(t, 1, () => false);
  const load = startLoad(rig.baseUrl, 5);
  await until(() => rig.upstream.requests.length === 5);
  const { pid } = await statusOf(rig);
  process.kill(pid, 'SIGTERM');
  await until(() => isStopping(rig));
  process.kill(pid, 'SIGTERM');
  t.deepEqual((await load.end()).whole, 0);
});
