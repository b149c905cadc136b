import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer } from '../../../support/upstreams/upstream.ts';
import { adminKey, client, clientRig, keyOf, sdkAsks } from './rig.ts';

const reply = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

const messagesStream = [
  { type: 'message_start', message: { ...reply, usage: { input_tokens: 400, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 50 } },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

interface Summary {
  readonly client?: string;
  readonly status: number;
  readonly captured: boolean;
}

test('the client is in the history, the metrics, the log and captures, and its key in none of them', async (t) => {
  const { gateway, admin } = await clientRig(t, [client('team-a', { models: ['small'] }), client('team-b')], {
    more: { LOG: true },
  });
  const { baseUrl, home } = gateway;
  await admin('/api/capture');
  await fetch(`${baseUrl}/api/capture`, { method: 'POST', headers: { 'x-api-key': adminKey }, body: '{"on":true}' });
  await sdkAsks.messages(baseUrl, keyOf('team-a'), 'any');
  await sdkAsks.chat(baseUrl, keyOf('team-a'), 'p,large');
  await sdkAsks.responses(baseUrl, keyOf('team-b'), 'any');
  await sdkAsks.chat(baseUrl, adminKey, 'any');

  const list = async (query: string): Promise<readonly Summary[]> =>
    JSON.parse(await (await admin(`/api/requests${query}`)).text()).requests;
  await until(async () => (await list('')).length === 4);
  t.deepEqual(
    (await list('')).map(({ client: name, status }) => [name, status]),
    [
      [undefined, 200],
      ['team-b', 200],
      ['team-a', 403],
      ['team-a', 200],
    ],
  );
  t.is((await list('?client=team-a')).length, 2);
  t.is((await list('?client=team-a&limit=1')).length, 1);
  t.is((await list('?client=unknown')).length, 0);

  const metrics = await (await admin('/metrics')).text();
  t.regex(metrics, /requests_total\{route="messages",.*status="200",client="team-a"\} 1/);
  t.regex(metrics, /requests_total\{route="chat",.*status="403",client="team-a"\} 1/);
  t.regex(metrics, /requests_total\{route="chat",.*status="200"\} 1/, 'the administrator has no label');
  t.regex(metrics, /tokens_total\{provider="p",type="output",client="team-b"\} 1/);

  const logs = join(home, 'logs');
  const text = (): string =>
    readdirSync(logs, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .join('\n');
  await until(() => (text().match(/"namedClient":"team-[ab]"/g) ?? []).length >= 3);
  const everything = [text(), metrics, await (await admin('/api/requests')).text()];
  const captures: readonly { readonly id: string }[] = JSON.parse(everything[2] ?? '').requests;
  for (const { id } of captures) everything.push(await (await admin(`/api/requests/${id}`)).text());
  t.regex(everything.join(), /"summary":\{.*?"client":"team-a"/);
  for (const name of ['team-a', 'team-b']) t.false(everything.join().includes(keyOf(name)), name);
});

test('an answer that breaks off before its first byte and is repeated counts with the other one, everywhere', async (t) => {
  const start = { type: 'message_start', message: { ...reply, usage: { input_tokens: 500, output_tokens: 100 } } };
  let answers = 0;
  const { gateway, admin } = await clientRig(t, [client('a')], {
    path: '/v1/messages',
    models: [{ name: 'small', price: { input: 1_000, output: 1_000 } }],
    script: () => {
      answers += 1;
      return answers === 1
        ? sseAnswer([`event: message_start\ndata: ${JSON.stringify(start)}\n\n`, 20], 'reset')
        : sseAnswer(messagesStream);
    },
    more: { Router: { default: 'p,small' } },
  });
  const read = async (path: string) => JSON.parse(await (await admin(path)).text());
  await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any');
  await until(async () => (await read('/api/history/sums')).sums.length > 0);
  t.is(answers, 2);
  t.like((await read('/api/history/sums')).sums[0], { requests: 1, tokens: 1_050, cost: 1_050_000_000 });
  t.like((await read('/api/usage')).total, { requests: 1, input: 900, output: 150, cost: 1_050_000_000 });
  const { today } = (await read('/api/clients')).clients[0].usage;
  t.like(today, { requests: 1, input: 900, output: 150, cost: 1_050_000_000 });
});

test('what was estimated or refused is the same in history, usage and use; counting tokens is no use', async (t) => {
  const { gateway, admin } = await clientRig(t, [client('a', { limits: { requestsPerMinute: 3 } })], {
    models: [{ name: 'small', price: { input: 1_000, output: 1_000 } }],
    more: { Router: { default: 'p,small' } },
    script: ({ text }) =>
      text.includes('"stream":true')
        ? sseAnswer([...chatStream(['word '.repeat(4_000)])].slice(0, 2), 'reset')
        : jsonAnswer({ ...chatReply('Hello'), usage: { prompt_tokens: 500, completion_tokens: 100 } }),
  });
  const read = async (path: string) => JSON.parse(await (await admin(path)).text());
  const ask = async (path: string, more: object = {}): Promise<number> => {
    const body = JSON.stringify({
      model: 'any',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hello' }],
      ...more,
    });
    const answer = await fetch(gateway.baseUrl + path, { method: 'POST', headers: { 'x-api-key': keyOf('a') }, body });
    await answer.text();
    return answer.status;
  };
  t.is(await ask('/v1/messages/count_tokens'), 200);
  t.is(await ask('/v1/chat/completions'), 200);
  t.is(await ask('/v1/chat/completions', { stream: true }), 200);
  t.is(await ask('/v1/chat/completions'), 429, 'counting is within this limit');
  await until(async () => (await read('/api/history')).requests.length === 3);
  const lines: readonly { readonly status: number; readonly cost?: number }[] = (await read('/api/history')).requests;
  t.like(lines, [
    { status: 429, admitted: undefined, estimated: undefined, cost: undefined },
    { status: 200, admitted: true, estimated: true },
    { status: 200, admitted: true, estimated: undefined, cost: 600_000_000 },
  ]);
  const cost = lines.reduce((sum, line) => sum + (line.cost ?? 0), 0);
  t.true(cost > 1_100_000_000, 'also the broken answer was paid for');
  const { today } = (await read('/api/clients')).clients[0].usage;
  const { total } = await read('/api/usage?by=client');
  t.like(total, { requests: 3, input: today.input, output: today.output, cost, uncounted: 1 });
  t.like(today, { requests: 2, cost, unpriced: 0 });
});

test('a request in flight names its client', async (t) => {
  const { gateway, upstream, admin } = await clientRig(t, [client('team-a')], { script: () => 'never' });
  const leaving = new AbortController();
  const asked = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('team-a') },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await until(() => upstream.requests.length === 1);
  const activity = JSON.parse(await (await admin('/api/activity')).text());
  t.is(activity.inFlight[0].client, 'team-a');
  leaving.abort();
  await asked;
});

test('without CLIENTS no series has a label for clients', async (t) => {
  const { gateway } = await clientRig(t, [], { more: { APIKEY: undefined, CLIENTS: undefined } });
  t.is((await sdkAsks.chat(gateway.baseUrl, 'any', 'any')).status, 200);
  const metrics = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
  t.regex(metrics, /junctor_requests_total\{route="chat"/);
  t.notRegex(metrics, /client="/);
});
