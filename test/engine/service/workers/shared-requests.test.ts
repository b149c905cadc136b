import test from 'ava';
import { captureOfOthers } from '../../../../engine/features/history/shared-history.ts';
import { IpcPeers } from '../../../../engine/service/workers/ipc-peers.ts';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatStream } from '../../../support/upstreams/chat-stream.ts';
import { sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const body = (text: string) => ({
  model: 'p,m',
  max_tokens: 9,
  stream: true,
  messages: [{ role: 'user', content: text }],
});

interface List {
  readonly newest: number;
  readonly capture: { readonly on: boolean; readonly kept: number };
  readonly requests: readonly { readonly n: number; readonly id: string }[];
}

test('requests, captures and activity are those of all processes, whichever answers', async (t) => {
  t.timeout(300_000);
  let mayEnd = false;
  const held = function* () {
    const [first = '', ...others] = chatStream(['word '], 20);
    yield first;
    while (!mayEnd) yield 20;
    yield* others;
  };
  const upstream = await startUpstream(({ text }) =>
    sseAnswer(text.includes('hold') ? held() : chatStream(['word '], 20)),
  );
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models: ['m'] }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const workers = await connectToWorkers(t, addressIn(started.out), 2);
  const [one, two] = workers;
  const ask = async ({ fetch }: WorkerConnection, id: string, text = 'hi') => {
    const headers = { 'x-request-id': id };
    t.is((await fetch('/v1/messages', { method: 'POST', headers, body: body(text) })).status, 200);
  };
  const get = async ({ fetch }: WorkerConnection, path: string) => JSON.parse((await fetch(path)).text);
  const list = (worker: WorkerConnection, query = ''): Promise<List> => get(worker, `/api/requests${query}`);
  const idsOf = ({ requests }: List): readonly string[] => requests.map(({ id }) => id);

  for (const [index, worker] of [one, two, one, two].entries()) await ask(worker, `first-${index}`);
  for (const worker of workers) {
    await until(async () => (await list(worker)).requests.length === 4);
    t.deepEqual(idsOf(await list(worker)), ['first-3', 'first-2', 'first-1', 'first-0'], 'newest first');
    t.deepEqual(idsOf(await list(worker, '?limit=2')), ['first-3', 'first-2']);
    const { lines, process, traffic } = await get(worker, '/api/activity?minutes=10');
    t.deepEqual([lines.length, lines[0].requests, process.workers], [1, 4, 2]);
    t.is(
      traffic.steps.reduce((sum: number, { ended }: { readonly ended: number }) => sum + ended, 0),
      4,
    );
  }

  // A client that asks only for what is new misses nothing and sees nothing twice, at any process.
  let { newest } = await list(one);
  const seen: string[] = [];
  const asking = Promise.all(
    workers.map(async (worker, index) => {
      for (let count = 0; count < 30; count += 1) await ask(worker, `many-${index}-${count}`);
    }),
  );
  const [looking] = await connectToWorkers(t, addressIn(started.out), 2);
  await until(async () => {
    const next = await list(looking, `?after=${newest}`);
    seen.push(...idsOf(next));
    newest = next.newest;
    return seen.length >= 60;
  });
  await asking;
  t.is(seen.length, 60);
  t.is(new Set(seen).size, 60);

  // One switch is for all, and a capture is found at all.
  const switched = await one.fetch('/api/capture', { method: 'POST', body: { on: true } });
  t.true(JSON.parse(switched.text).on);
  t.true((await get(two, '/api/capture')).on);
  await ask(one, 'of-one');
  await ask(two, 'of-two');
  for (const worker of workers) {
    await until(async () => (await list(worker)).capture.kept === 2);
    for (const id of ['of-one', 'of-two']) {
      const { summary, capture } = await get(worker, `/api/requests/${id}`);
      t.deepEqual([summary.id, capture.client.path], [id, '/v1/messages']);
      t.is((await worker.fetch(`/api/requests/${id}/replay`, { method: 'POST' })).status, 200);
    }
    t.is((await get(worker, '/api/requests/first-0')).summary.id, 'first-0');
    t.is((await worker.fetch('/api/requests/unknown')).status, 404);
  }

  // A stream of one is in flight for both.
  const streaming = fetch(`${addressIn(started.out)}/v1/messages`, {
    method: 'POST',
    headers: { 'x-request-id': 'held' },
    body: JSON.stringify(body('hold')),
  });
  for (const worker of workers) {
    await until(async () => (await get(worker, '/api/activity')).inFlight[0]?.id === 'held');
    t.regex((await worker.fetch('/api/requests/held')).text, /has not ended yet/);
  }
  mayEnd = true;
  await (await streaming).text();

  // A process that replaces another captures too.
  process.kill(one.pid, 'SIGKILL');
  await until(async () => {
    // A call that reaches the killed process has no answer, and `status` tells what it knows without one.
    const { workers: now = [] } = JSON.parse((await rig.ask(['status', '--json'])).out);
    return now.length === 2 && now.every(({ pid }: { pid: number }) => pid !== one.pid);
  });
  const replaced = await connectToWorkers(t, addressIn(started.out), 2);
  for (const [index, worker] of replaced.entries()) {
    await until(async () => {
      await ask(worker, `again-${index}`);
      return (await worker.fetch(`/api/requests/again-${index}`)).status === 200;
    });
  }

  // Forgetting is for all.
  t.is((await two.fetch('/api/requests', { method: 'DELETE' })).status, 200);
  for (const worker of replaced) t.deepEqual((await list(worker)).requests, []);
});

test('a worker that starts captures if the others do', async (t) => {
  const peers: IpcPeers = new IpcPeers((message) => {
    if (message.type !== 'call') return;
    const answers = ['nonsense', JSON.stringify({ on: true, kept: 0, bytes: 0, most: 50, mostBytes: 1 })];
    peers.receive({ type: 'result', id: message.id, result: { kind: 'ask', answers, missing: 0 } });
  });
  t.true(await captureOfOthers({ ...peers, ask: (asked) => peers.ask({ kind: 'feature', asked }) }));
});
