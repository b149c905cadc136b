import { existsSync } from 'node:fs';
import test from 'ava';
import type { UsageReport } from '../../../../engine/features/usage/schema.ts';
import { storeFile } from '../../../../engine/store/store-thread.ts';
import { startGateway } from '../../../support/gateway.ts';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Script, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { adminKey, client, keyOf } from '../clients/rig.ts';

/** Tokens of every answer: 100 of the prompt, 40 of them from a cache; 7 of the answer, 3 of them reasoning. */
const usage = {
  prompt_tokens: 100,
  completion_tokens: 7,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

/** 60 × 1 + 40 × 0.5 + 7 × 10 millionths of a USD. */
const cost = 150_000;

const providersAt = (url: string): readonly object[] => [
  {
    name: 'p',
    baseUrl: `${url}/v1`,
    apiKey: 'k',
    models: [
      { name: 'priced', price: { input: 1, cacheRead: 0.5, output: 10 } },
      { name: 'cheap', price: { input: 0.5, cacheRead: 0.25, output: 5 } },
      'free',
    ],
  },
];

let tries = 0;

const script: Script = ({ body }) => {
  const { model, stream, user } = Object(body);
  if (user === 'fails') return jsonAnswer({ error: { message: 'no' } }, 400);
  if (user === 'retried') {
    tries += 1;
    if (tries === 1) return jsonAnswer({ error: { message: 'no' } }, 503);
  }
  if (user === 'breaks') {
    const delta = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta: { content: 'Hi' } }],
    };
    return sseAnswer([`data: ${JSON.stringify(delta)}\n\n`], 'close');
  }
  if (stream === true) return 'never';
  return jsonAnswer({ ...chatReply('Hello'), usage: user === 'uncounted' ? undefined : usage });
};

const bodyFor = (model: string, user: string, stream = false): string =>
  JSON.stringify({ model, user, stream, messages: [{ role: 'user', content: 'Hello' }] });

test('the figures are those of the requests: answers, failures, retries, streams that break', async (t) => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const clock = { nowMs: Date.parse('2026-01-31T23:59:10Z') };
  const gateway = await startGateway(
    {
      APIKEY: adminKey,
      LOG: false,
      RETRY: { baseMs: 0, attempts: 1 },
      CLIENTS: [client('team')],
      Providers: providersAt(upstream.url),
      Router: { default: 'p,priced' },
    },
    {},
    { nowMs: () => clock.nowMs },
  );
  t.teardown(gateway.stop);
  const send = async (model: string, user = 'plain', key = adminKey, stream = false): Promise<number> => {
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: bodyFor(model, user, stream),
    });
    await answer.text();
    return answer.status;
  };
  const get = (query: string): Promise<Response> =>
    fetch(`${gateway.baseUrl}/api/usage${query}`, { headers: { 'x-api-key': adminKey } });
  const report = async (query: string): Promise<UsageReport> => JSON.parse(await (await get(query)).text());

  t.is((await report('')).total.requests, 0);
  t.false(existsSync(storeFile(gateway.home)), 'without requests, nothing is written');

  t.is(await send('p,priced'), 200);
  t.is(await send('default', 'plain', keyOf('team')), 200);
  t.is(await send('p,free'), 200);
  t.is(await send('p,priced', 'fails'), 400);
  await until(async () => (await report('')).total.requests === 4);
  clock.nowMs += 120_000;
  t.is(await send('p,priced', 'retried'), 200);
  t.is(await send('p,priced', 'uncounted'), 200);
  t.is(await send('p,priced', 'breaks', adminKey, true), 200);
  t.is(await send('nowhere,none'), 400);
  await until(async () => (await report('')).total.requests === 8);
  t.like(
    (await report('')).rows.find(({ name }) => name === 'p,free'),
    {
      requests: 1,
      errors: 0,
      input: 60,
      cacheRead: 40,
      output: 7,
      reasoning: 3,
      cost: 0,
      unpriced: 1,
      uncounted: 0,
    },
  );
  const priced = (await report('')).rows.find(({ name }) => name === 'p,priced');
  t.like(priced, {
    requests: 6,
    errors: 2,
    retries: 1,
    input: 60 * 3,
    output: 7 * 3,
    cost: cost * 3,
    unpriced: 2,
    uncounted: 2,
  });
  t.like(
    (await report('?by=client')).rows.find(({ name }) => name === 'team'),
    { requests: 1, cost },
  );
  t.deepEqual(
    (await report('?by=protocol&step=day')).rows.map(({ from, requests }) => [from, requests]),
    [
      ['2026-01-31T00:00:00.000Z', 4],
      ['2026-02-01T00:00:00.000Z', 4],
    ],
  );
  const minutes = await report('?by=all&step=minute&from=1h');
  t.deepEqual(
    minutes.rows.map(({ from, requests, errors, retries, output }) => [from, requests, errors, retries, output]),
    [
      ['2026-01-31T23:59:00.000Z', 4, 1, 0, 21],
      ['2026-02-01T00:01:00.000Z', 4, 2, 1, 7],
    ],
  );
  t.deepEqual((await report('?by=all&from=1h')).total, minutes.total, 'a sum of a recent time is that of its minutes');
  t.like((await report('?by=client&from=2026-02-01T00:00Z')).rows[0], { requests: 4, errors: 2 });

  const left = new AbortController();
  const leaving = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': adminKey },
    body: bodyFor('p,free', 'plain', true),
    signal: left.signal,
  }).catch(() => undefined);
  const asked = upstream.requests.length;
  await until(() => upstream.requests.length > asked);
  left.abort();
  await leaving;
  await until(async () => (await report('')).rows.find(({ name }) => name === 'p,free')?.requests === 2);
  const free = (await report('')).rows.find(({ name }) => name === 'p,free');
  t.like(free, { errors: 0, unpriced: 2, uncounted: 1 }, 'what a client left may cost something');

  t.is(await send('p,cheap'), 200);
  await until(async () => (await report('')).total.requests === 10);
  const compared = (await report('')).rows.map(({ name, saved, uncompared }) => [name, saved, uncompared]);
  t.deepEqual(compared.toSorted(), [
    [null, 0, 0],
    ['p,cheap', cost / 2, 0],
    ['p,free', 0, 2],
    ['p,priced', 0, 2],
  ]);

  const csv = await get('?by=provider&format=csv');
  t.regex(csv.headers.get('content-type') ?? '', /^text\/csv/);
  t.regex(await csv.text(), /^from,provider,requests,.*\r\n,p,/);
  for (const field of ['from=never', 'to=x', 'by=colour', 'step=week', 'step=minute&from=3d', 'format=xml']) {
    const refused = await get(`?${field}`);
    t.is(refused.status, 400, field);
    t.regex(await refused.text(), new RegExp(`"message":"${field.split('=')[0]} must be`));
  }
});

test('two processes: whichever is asked has the sums of both', async (t) => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const { begin } = await commandRig(t, {
    APIKEY: adminKey,
    WORKERS: 2,
    LOG: false,
    Providers: providersAt(upstream.url),
  });
  const service = begin(['start']);
  await service.says('listens on');
  const headers = { 'x-api-key': adminKey };
  const workers = await connectToWorkers(t, addressIn(service.out()), 2, headers);
  const [one, two] = workers;
  for (const worker of [one, two, two]) {
    const sent = { method: 'POST', headers, body: bodyFor('p,priced', 'plain') };
    t.is((await worker.fetch('/v1/chat/completions', sent)).status, 200);
  }
  for (const { fetch: get } of workers) {
    const total = async (): Promise<UsageReport['total']> =>
      JSON.parse((await get('/api/usage', { headers })).text).total;
    await until(async () => (await total()).requests === 3);
    t.like(await total(), { requests: 3, cost: 3 * cost, output: 21 });
    t.deepEqual(JSON.parse((await get('/api/usage?step=minute&from=1h', { headers })).text).total, await total());
  }
});
