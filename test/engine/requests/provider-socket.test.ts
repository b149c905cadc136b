import test from 'ava';
import { openSocket } from '../../support/faults/socket-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { chatSdk, messagesSdk, responsesSdk } from '../../support/sdk-clients.ts';
import { until } from '../../support/until.ts';
import {
  callItem,
  messageItem,
  responseEvents,
  type SocketScript,
  startSocketUpstream,
} from '../../support/upstreams/socket-upstream.ts';

/*
 * A provider with `webSocket`, from the client's request on.
 */

const reasoning = (id: string) => ({
  id: `rs_${id}`,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'It has to be looked up.' }],
  encrypted_content: 'gAAAAABsealed=',
});

/** Reasons and calls until there are two results. A shortened request has only the newest; the id tells how many came before. */
const agent: SocketScript = ({ body }) => {
  const { previous_response_id: before } = body;
  const results = body.input.filter(({ type }) => type === 'function_call_output').length;
  const id = String(before === undefined ? results + 1 : Number(before.slice('resp_'.length)) + 1);
  if (id === '3') return { events: responseEvents('resp_3', [messageItem('3', 'It rains.')]) };
  const call = { ...callItem(id, '{"city": "Rome"}'), name: 'weather' };
  return { events: responseEvents(`resp_${id}`, [reasoning(id), messageItem(id, 'I look.'), call]) };
};

const clients = { messages: messagesSdk, chat: chatSdk, responses: responsesSdk } as const;

for (const [name, client] of Object.entries(clients)) {
  test(`${name}: a tool loop over WebSocket is that over HTTP, and sends each item once`, async (t) => {
    const talk = async (webSocket: boolean) => {
      const upstream = await startSocketUpstream({ script: agent });
      t.teardown(upstream.close);
      const gateway = await startGateway({
        LOG: false,
        Providers: [
          {
            name: 'p',
            baseUrl: `${upstream.url}/v1/responses`,
            apiKey: 'k',
            models: ['m'],
            ...(webSocket && { webSocket }),
          },
        ],
      });
      t.teardown(gateway.stop);
      const question = { text: 'Rome?', stream: true, tools: ['weather'], think: true };
      const conversation = client(gateway.baseUrl, 'p,m');
      const answers = [
        await conversation.ask(question),
        await conversation.give(['rain'], question),
        await conversation.give(['more rain'], question),
      ];
      return { answers, upstream };
    };
    const [socket, http] = [await talk(true), await talk(false)];
    t.deepEqual(socket.answers, http.answers);
    t.is(socket.answers[2]?.text, 'It rains.');
    t.deepEqual(
      socket.upstream.requests.map(({ over, body }) => [over, body.previous_response_id, body.input.length]),
      [
        ['socket', undefined, 1],
        ['socket', 'resp_1', 1],
        ['socket', 'resp_2', 1],
      ],
    );
    t.true(http.upstream.requests.every(({ over }) => over === 'http'));
    t.deepEqual(socket.upstream.complaints, []);
  });
}

test('a client of a WebSocket and its provider of a WebSocket each send what is new alone', async (t) => {
  const upstream = await startSocketUpstream({ script: agent });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1/responses`, apiKey: 'k', models: ['m'], webSocket: true }],
  });
  t.teardown(gateway.stop);
  const socket = await openSocket(t, `${gateway.baseUrl}/v1/responses`);
  const create = { type: 'response.create', model: 'p,m', store: false };
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'rain' });
  const ids: unknown[] = [];
  for (const input of [[{ role: 'user', content: 'Rome?' }], [output('call_1')], [output('call_2')]]) {
    socket.send({ ...create, input, ...(ids.length > 0 && { previous_response_id: ids.at(-1) }) });
    const end = (await socket.answer()).at(-1);
    t.is(end?.type, 'response.completed');
    ids.push(Object.assign({ id: undefined }, end?.response).id);
  }
  t.deepEqual(
    upstream.requests.map(({ over, body }) => [over, body.previous_response_id, body.input.length]),
    [
      ['socket', undefined, 1],
      ['socket', 'resp_1', 1],
      ['socket', 'resp_2', 1],
    ],
  );
  t.deepEqual(upstream.complaints, []);
});

test('an event beyond a bound is the same error as over HTTP', async (t) => {
  const large = { type: 'response.output_text.delta', delta: 'x'.repeat(400_000) };
  const script: SocketScript = ({ body }) => ({
    events: [...responseEvents('resp_1', []).slice(0, body.model === 'later' ? 1 : 0), large],
  });
  const upstream = await startSocketUpstream({ script });
  t.teardown(upstream.close);
  for (const [limit, bytes] of [
    ['recordBytes', 100_000],
    ['answersBytes', 150_000],
  ] as const) {
    const gateway = await startGateway({
      LOG: false,
      LIMITS: { [limit]: bytes },
      Providers: [true, false].map((webSocket) => ({
        name: webSocket ? 'socket' : 'http',
        baseUrl: `${upstream.url}/v1/responses`,
        apiKey: 'k',
        models: ['first', 'later'],
        webSocket,
      })),
    });
    t.teardown(gateway.stop);
    for (const [path, body] of [
      ['/v1/responses', { input: 'hi' }],
      ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }],
    ] as const) {
      for (const model of ['first', 'later']) {
        const ask = async (over: 'socket' | 'http') => {
          const answer = await fetch(`${gateway.baseUrl}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ ...body, model: `${over},${model}`, stream: true }),
          });
          t.is(upstream.requests.at(-1)?.over, over);
          const text = (await answer.text()).replaceAll(`provider ${over}`, 'provider');
          return { status: answer.status, text: text.replaceAll(/"(id|request_id|input_tokens)":("[^"]*"|\d+)/g, '') };
        };
        const overSocket = await ask('socket');
        t.regex(overSocket.text, new RegExp(`LIMITS\\.${limit}`), `${path} ${model}`);
        t.deepEqual(overSocket, await ask('http'), `${limit} ${path} ${model}`);
      }
    }
  }
});

test('an event with too many objects is the same error as over HTTP', async (t) => {
  const nested = {
    type: 'response.output_text.delta',
    delta: 'x',
    logprobs: Array.from({ length: 300_000 }, () => ({})),
  };
  const upstream = await startSocketUpstream({
    script: () => ({ events: [...responseEvents('resp_1', []).slice(0, 1), nested] }),
  });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    LOG: false,
    Providers: [true, false].map((webSocket) => ({
      name: webSocket ? 'socket' : 'http',
      baseUrl: `${upstream.url}/v1/responses`,
      apiKey: 'k',
      models: ['m'],
      webSocket,
    })),
  });
  t.teardown(gateway.stop);
  for (const over of ['socket', 'http'] as const) {
    const answer = await fetch(`${gateway.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: `${over},m`,
        max_tokens: 9,
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    t.regex(await answer.text(), /more than 200000 objects and lists/, over);
    t.is(upstream.requests.at(-1)?.over, over);
  }
});

test('a change of the configuration closes the idle connections of the providers that it changes, not those of others', async (t) => {
  const upstreams = await Promise.all([startSocketUpstream({ script: agent }), startSocketUpstream({ script: agent })]);
  for (const { close } of upstreams) t.teardown(close);
  const [kept, other] = upstreams;
  const config = (apiKey: string, over: object = {}) => ({
    LOG: false,
    Providers: [kept, other].map(({ url }, index) => ({
      name: `p${index}`,
      baseUrl: `${url}/v1/responses`,
      apiKey: index === 0 ? 'k' : apiKey,
      models: ['m'],
      webSocket: true,
    })),
    ...over,
  });
  const gateway = await startGateway(config('first'));
  t.teardown(gateway.stop);
  const question = { text: 'Rome?', stream: true, tools: ['weather'] };
  const conversations = ['p0,m', 'p1,m'].map((model) => responsesSdk(gateway.baseUrl, model));
  const save = async (next: object) => {
    const answer = await fetch(`${gateway.baseUrl}/api/config`, { method: 'POST', body: JSON.stringify(next) });
    t.is(answer.status, 200, await answer.text());
  };
  for (const conversation of conversations) await conversation.ask(question);
  await save(config('first', { LOG_LEVEL: 'warn' }));
  for (const conversation of conversations) await conversation.give(['rain'], question);
  t.deepEqual([kept.state.upgrades, other.state.upgrades, kept.state.closed], [1, 1, 0]);
  await save(config('second'));
  await until(() => other.state.closed === 1);
  for (const conversation of conversations) await conversation.give(['more rain'], question);
  t.deepEqual([kept.state.upgrades, other.state.upgrades, kept.state.closed], [1, 2, 0]);
  t.is(other.requests.at(-1)?.headers.authorization, 'Bearer second');
  // One that no provider leads to any more.
  await save({ ...config('second'), Providers: config('second').Providers.slice(1) });
  await until(() => kept.state.closed === 1);
});

test('an error event counts as the status that it names: the next key is used, and the graph and a capture show the transport', async (t) => {
  const script: SocketScript = ({ headers }) =>
    headers.authorization === 'Bearer first'
      ? { events: [{ type: 'error', status: 429, error: { code: 'rate_limit_exceeded', message: 'Slow down.' } }] }
      : { events: responseEvents('resp_1', [messageItem('1', 'fine')]) };
  const upstream = await startSocketUpstream({ script });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    Providers: [
      {
        name: 'p',
        baseUrl: `${upstream.url}/v1/responses`,
        apiKey: ['first', 'second'],
        models: ['m'],
        webSocket: true,
      },
    ],
    Router: { default: 'p,m' },
  });
  t.teardown(gateway.stop);
  const ask = async () =>
    (
      await fetch(`${gateway.baseUrl}/v1/responses`, {
        method: 'POST',
        headers: { 'x-junctor-capture': '1', 'x-request-id': 'seen' },
        body: JSON.stringify({ model: 'm', stream: true, input: 'hi' }),
      })
    ).text();
  t.regex(await ask(), /response\.completed/);
  await ask();
  const keys = upstream.requests.map(({ over, headers }) => `${over} ${headers.authorization}`);
  t.true(keys.includes('socket Bearer second'));
  t.true(keys.filter((key) => key === 'socket Bearer first').length <= 1);
  const graph = await (await fetch(`${gateway.baseUrl}/api/graph?model=p,m&client=responses`)).text();
  t.regex(graph, /"options":\["webSocket"\]/);
  const seen = await (await fetch(`${gateway.baseUrl}/api/requests/seen`)).text();
  t.regex(seen, /"upgrade":"websocket"/);
});

for (const [title, more] of [
  ['with a status', { status: 400 }],
  ['without one', {}],
] as const) {
  test(`a refusal over WebSocket teaches, ${title}`, async (t) => {
    const error = {
      type: 'invalid_request_error',
      message: "Unsupported parameter: 'temperature'",
      param: 'temperature',
    };
    const script: SocketScript = ({ body }, count) =>
      body.temperature === undefined
        ? { events: responseEvents(`resp_${count}`, [messageItem(String(count), 'fine')]) }
        : { events: [{ type: 'error', ...more, error }] };
    const upstream = await startSocketUpstream({ script });
    t.teardown(upstream.close);
    const gateway = await startGateway({
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1/responses`, apiKey: 'k', models: ['m'], webSocket: true }],
      Router: { default: 'p,m' },
    });
    t.teardown(gateway.stop);
    for (let asked = 0; asked < 2; asked += 1) {
      const body = JSON.stringify({ model: 'm', stream: true, temperature: 0.3, input: `hi ${asked}` });
      const answer = await fetch(`${gateway.baseUrl}/v1/responses`, { method: 'POST', body });
      t.regex(await answer.text(), /response\.completed/);
    }
    t.deepEqual(
      upstream.requests.map(({ over, body }) => [over, body.temperature]),
      [
        ['socket', 0.3],
        ['socket', undefined],
        ['socket', undefined],
      ],
    );
    t.deepEqual(upstream.complaints, []);
  });
}

test('a provider whose models are called by another API can not have it', async (t) => {
  const start = (provider: object) =>
    startGateway({ Providers: [{ name: 'p', apiKey: 'k', models: ['m'], webSocket: true, ...provider }] });
  const error = await t.throwsAsync(start({ baseUrl: 'https://h.example/anthropic' }));
  t.regex(
    error?.message ?? '',
    /Providers\[0\]\.webSocket needs a model that is called by Responses, since no other API has WebSocket; this provider's format is anthropic/,
  );
  const fine = await startGateway({
    Providers: [{ name: 'p', apiKey: 'k', models: ['m'], webSocket: true, baseUrl: 'https://h.example/v1' }],
    transformers: [{ name: 'openai', provider: 'p', options: { api: 'responses' } }],
  });
  await fine.stop();
  t.pass();
});
