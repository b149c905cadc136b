import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { HistoryPage, HistorySums } from '../../engine/features/record/schema.ts';
import { storeFile } from '../../engine/store/store-thread.ts';
import { startGateway } from '../support/gateway.ts';
import { addressIn, commandRig } from '../support/processes/command.ts';
import { connectToWorkers } from '../support/processes/workers.ts';
import { idsIn } from '../support/store-here.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

type KeptSum = HistorySums['sums'][number];

const secret = 'the-secret-of-the-provider';
const adminKey = 'the-key-of-the-administrator';

const configOf = (url: string) => ({
  PORT: 0,
  LOG: false,
  Providers: [{ name: 'p', baseUrl: `${url}/v1`, apiKey: secret, models: ['good', 'bad'] }],
  Router: { default: 'p,good' },
});

const bodyOf = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'a private word' }] });

const upstreamFor = async () =>
  startUpstream(({ text }) =>
    text.includes('"bad"') ? jsonAnswer({ error: { message: `no ${secret}` } }, 400) : jsonAnswer(chatReply('Hello.')),
  );

const send = async (baseUrl: string, model: string, id: string): Promise<void> => {
  const headers = { 'x-request-id': id };
  await (await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body: bodyOf(model) })).text();
};

const idsAt = async (baseUrl: string, query = ''): Promise<string> => {
  const answer = await fetch(`${baseUrl}/api/history${query}`);
  const { requests }: HistoryPage = JSON.parse(await answer.text());
  return requests.map(({ id }) => id).join(' ');
};

test('the history is searched by time, model, status, client and text, and has neither bodies nor keys', async (t) => {
  const upstream = await upstreamFor();
  t.teardown(upstream.close);
  const gateway = await startGateway(configOf(upstream.url));
  t.teardown(gateway.stop);
  const { baseUrl, home } = gateway;
  for (const [model, id] of [
    ['any', 'one'],
    ['p,bad', 'two'],
    ['p,good', 'three'],
  ] as const)
    await send(baseUrl, model, id);
  t.is(await idsAt(baseUrl), 'three two one');
  t.is(await idsAt(baseUrl, '?model=p,good'), 'three one');
  t.is(await idsAt(baseUrl, '?model=any&from=1h'), 'one');
  t.is(await idsAt(baseUrl, '?status=failed'), 'two');
  t.is(await idsAt(baseUrl, '?status=ok&provider=p'), 'three one');
  t.is(await idsAt(baseUrl, '?status=4xx'), 'two');
  t.is(await idsAt(baseUrl, '?text=THREE'), 'three');
  t.is(await idsAt(baseUrl, '?client=team'), '');
  t.is(await idsAt(baseUrl, '?to=1h'), '');
  t.is(await idsAt(baseUrl, '?scenario=default'), 'one');
  t.is(await idsAt(baseUrl, '?lossy=true'), '');
  for (const query of ['limit=0', 'from=x', 'status=bad', 'before=1']) {
    const answer = await fetch(`${baseUrl}/api/history?${query}`);
    t.is(answer.status, 400);
    t.regex(await answer.text(), new RegExp(query.split('=')[0] ?? ''));
  }
  t.is(await idsAt(baseUrl, '?sort=duration&limit=10').then((ids) => ids.split(' ').length), 3);
  t.is(await idsAt(baseUrl, '?duration=180000-'), '');
  t.is(await idsAt(baseUrl, '?tools=0&preset=none'), '');
  const get = async (path: string) => JSON.parse(await (await fetch(`${baseUrl}/api/history/${path}`)).text());
  const { facets, ...sums } = await get('facets?status=failed');
  t.deepEqual(sums, { requests: 1, failed: 1, lossy: 0 });
  t.deepEqual(facets.status, [
    { value: '200', requests: 2 },
    { value: '400', requests: 1 },
  ]);
  t.deepEqual(facets.model, [{ value: 'p,bad', requests: 1 }]);
  const { bars } = await get('histogram?bars=1');
  t.like(bars, { length: 1, 0: { requests: 3, failed: 1 } });
  const { failures } = await get('failures');
  t.like(failures, { length: 1, 0: { requests: 1, statuses: [400], models: ['p,bad'] } });
  t.deepEqual(
    (await get('sums?model=p,good')).sums.map(({ client, model, requests }: KeptSum) => [client, model, requests]),
    [[null, 'good', 2]],
  );
  for (const query of ['facets?duration=5', 'facets?cost=10-1', 'histogram?bars=0', 'failures?limit=0', '?sort=name']) {
    t.is((await fetch(`${baseUrl}/api/history${query.startsWith('?') ? '' : '/'}${query}`)).status, 400, query);
  }
  const kept = await Promise.all(['', '-wal'].map((more) => readFile(`${storeFile(home)}${more}`, 'latin1')));
  t.regex(kept.join(''), /three/);
  t.notRegex(kept.join(''), /the-secret-of|private/);
  await fetch(`${baseUrl}/api/history`, { method: 'DELETE' });
  t.is(await idsAt(baseUrl), '');
  t.deepEqual(idsIn(storeFile(home)), []);
});

test('an export has what the search finds: as lines, and as a HAR with the bodies of captured requests', async (t) => {
  const upstream = await upstreamFor();
  t.teardown(upstream.close);
  const { baseUrl, stop } = await startGateway(configOf(upstream.url));
  t.teardown(stop);
  for (const id of ['one', 'two', 'three']) await send(baseUrl, 'any', id);
  await send(baseUrl, 'p,bad', 'failed');
  const body = bodyOf('any');
  const headers = { 'x-request-id': 'seen', 'x-junctor-capture': '1', 'x-api-key': 'the-key-of-the-client' };
  await (await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
  const lines = await fetch(`${baseUrl}/api/history/export?status=ok`);
  t.is(lines.headers.get('content-disposition'), 'attachment; filename="requests.jsonl"');
  const ids = (await lines.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  t.deepEqual(ids, ['seen', 'three', 'two', 'one']);
  const text = await (await fetch(`${baseUrl}/api/history/export?format=har`)).text();
  const { log } = JSON.parse(text);
  t.is(log.version, '1.2');
  t.deepEqual(
    log.entries.map(({ comment, response }: { comment: string; response: { status: number } }) => [
      comment,
      response.status,
    ]),
    [
      ['seen', 200],
      ['failed', 400],
      ['three', 200],
      ['two', 200],
      ['one', 200],
    ],
  );
  const [seen, failed] = log.entries;
  t.is(seen.request.postData.text, body);
  t.is(seen.request.url, `${baseUrl}/v1/chat/completions`);
  t.regex(seen.response.content.text, /Hello\./);
  t.like(JSON.parse(failed.request.postData.text), { model: 'p,bad' }, 'captured without being asked');
  t.notRegex(text, /the-secret-of|the-key-of/);
  t.deepEqual(JSON.parse(await (await fetch(`${baseUrl}/api/history/export?format=har&to=1h`)).text()).log.entries, []);
  t.is(await (await fetch(`${baseUrl}/api/history/export?to=1h`)).text(), '');
  t.is((await fetch(`${baseUrl}/api/history/export?format=csv`)).status, 400);
});

test('the history survives kill -9, and a start goes on', async (t) => {
  const upstream = await upstreamFor();
  t.teardown(upstream.close);
  const { home, begin } = await commandRig(t, configOf(upstream.url));
  const file = storeFile(home);
  for (const id of ['one', 'two']) {
    const running = begin(['start']);
    await running.says('listens on');
    await send(addressIn(running.out()), 'any', id);
    await until(async () => existsSync(file) && idsIn(file).includes(id));
    running.child.kill('SIGKILL');
    await running.ended;
  }
  const last = begin(['start']);
  await last.says('listens on');
  const baseUrl = addressIn(last.out());
  t.is(await idsAt(baseUrl), 'two one');
  const { requests }: HistoryPage = JSON.parse(await (await fetch(`${baseUrl}/api/history`)).text());
  const found = async (query: string): Promise<readonly unknown[]> => {
    const answer = await fetch(`${baseUrl}/api/requests/${query}`);
    const { summary, capture } = JSON.parse(await answer.text());
    return [answer.status, summary?.id, summary?.model, capture];
  };
  t.deepEqual(await found('one'), [200, 'one', 'good', null]);
  t.deepEqual(await found(`one?endedAt=${requests[1]?.endedAt}`), [200, 'one', 'good', null]);
  t.deepEqual(await found(`one?endedAt=${requests[0]?.endedAt}`), [404, undefined, undefined, undefined]);
  t.deepEqual(await found('one?endedAt=now'), [400, undefined, undefined, undefined]);
  t.deepEqual(await found('three'), [404, undefined, undefined, undefined]);
});

test('two processes: whichever is asked has the history of both, and forgets it for both', async (t) => {
  const upstream = await upstreamFor();
  t.teardown(upstream.close);
  const { begin } = await commandRig(t, { ...configOf(upstream.url), APIKEY: adminKey, WORKERS: 2 });
  const service = begin(['start']);
  await service.says('listens on');
  const headers = { 'x-api-key': adminKey };
  const workers = await connectToWorkers(t, addressIn(service.out()), 2, headers);
  const [one, two] = workers;
  for (const [index, worker] of [one, two, two, one].entries()) {
    const sent = { method: 'POST', headers: { ...headers, 'x-request-id': `r${index}` }, body: bodyOf('any') };
    t.is((await worker.fetch('/v1/chat/completions', sent)).status, 200);
  }
  const ids = async ({ fetch: get }: (typeof workers)[number]): Promise<readonly string[]> => {
    const { requests }: HistoryPage = JSON.parse((await get('/api/history', { headers })).text);
    return requests.map(({ id }) => id).toSorted();
  };
  for (const worker of workers) await until(async () => (await ids(worker)).join() === 'r0,r1,r2,r3');
  const extent = async () => JSON.parse((await one.fetch('/api/history/extent', { headers })).text);
  const kept = await extent();
  t.like(kept, { requests: 4, days: 30 });
  t.true(kept.bytes > 0 && Date.parse(kept.from) <= Date.parse(kept.to));
  await two.fetch('/api/requests', { method: 'DELETE', headers });
  for (const worker of workers) {
    t.is(await ids(worker).then((all) => all.join()), 'r0,r1,r2,r3', 'clearing the list keeps the history');
    t.like(JSON.parse((await worker.fetch('/api/requests', { headers })).text), { requests: [] });
  }
  await two.fetch('/api/history', { method: 'DELETE', headers });
  for (const worker of workers) t.deepEqual(await ids(worker), []);
  t.deepEqual(await extent(), { requests: 0, bytes: 0, days: 30 });
});
