import test from 'ava';
import { commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { adminKey, client, keyOf } from './rig.ts';

const body = { model: 'p,m', messages: [{ role: 'user', content: 'Hello' }] };

test('two processes use limits together: never more and nearly all of it, and each knows what both counted', async (t) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = 0;
  const upstream = await startUpstream(async ({ headers }) => {
    arrived += 1;
    if (headers['x-slow'] !== undefined) await released;
    return jsonAnswer(chatReply('Hello'));
  });
  t.teardown(upstream.close);
  const { begin } = await commandRig(t, {
    APIKEY: adminKey,
    WORKERS: 2,
    LOG: false,
    CLIENTS: [
      client('a', { limits: { requestsPerMinute: 60 } }),
      client('b', { models: ['slow'], limits: { streams: 5, requestsPerMinute: 1_000 } }),
    ],
    Providers: [
      { name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] },
      { name: 'q', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['slow'], headers: { 'x-slow': '1' } },
    ],
  });
  const service = begin(['start']);
  await service.says('listens on');
  const [, baseUrl = ''] = /(http:\S+)/.exec(service.out()) ?? [];
  const [one, two] = await connectToWorkers(t, baseUrl, 2, { 'x-api-key': adminKey });
  const ask = async ({ fetch }: WorkerConnection, key: string, model = 'p,m'): Promise<number> =>
    (await fetch('/v1/chat/completions', { method: 'POST', headers: { 'x-api-key': key }, body: { ...body, model } }))
      .status;

  // Nine of ten requests come to the first process.
  let granted = 0;
  let asked = 0;
  for (; asked < 90; asked += 1) if ((await ask(asked % 10 === 9 ? two : one, keyOf('a'))) === 200) granted += 1;
  t.true(granted >= 57 && granted <= 60, `${granted} of 60`);

  const before = arrived;
  const ended: number[] = [];
  const slow = Array.from({ length: 9 }, async () => {
    const { status } = await fetch(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': keyOf('b') },
      body: JSON.stringify({ ...body, model: 'q,slow' }),
    });
    ended.push(status);
  });
  await until(() => ended.length === 4 && arrived === before + 5);
  t.deepEqual(ended, [429, 429, 429, 429]);
  release();
  await Promise.all(slow);
  t.is(ended.filter((status) => status === 200).length, 5);
  t.is(await ask(one, keyOf('b'), 'q,slow'), 200, 'ended answers give their places back');

  for (const { fetch } of [one, two]) {
    await until(async () => {
      const { clients } = JSON.parse((await fetch('/api/clients', { headers: { 'x-api-key': adminKey } })).text);
      return clients[0].usage.month.requests === granted;
    });
  }

  const added = begin(['client', 'add', 'c']);
  t.is((await added.ended).code, 0, added.out());
  const [key = ''] = /sk-\S+/.exec(added.out()) ?? [];
  t.deepEqual([await ask(one, key), await ask(two, key)], [200, 200], 'both know a new key when the command returns');
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
});
