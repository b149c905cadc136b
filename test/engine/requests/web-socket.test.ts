import { hash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { createParser } from 'eventsource-parser';
import { request } from 'undici';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { later } from '../../../engine/runtime/within.ts';
import { type Frame, openSocket, type SocketClient } from '../../support/faults/socket-client.ts';
import { upstreamFaults } from '../../support/faults/upstream-faults.ts';
import { providersAt, wires } from '../../support/faults/wires.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import {
  jsonAnswer,
  type Reaction,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
  type UpstreamRequest,
} from '../../support/upstreams/upstream.ts';

interface Served {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  readonly open: (headers?: Readonly<Record<string, string>>, path?: string) => Promise<SocketClient>;
}

type Answer = (request: UpstreamRequest, count: number) => Reaction | Promise<Reaction>;

const good: Answer = (request) => sseAnswer([wireOf(request).stream(['one ', 'grüße ', '👋']).join('')]);

const wireOf = ({ url }: UpstreamRequest) => {
  if (url.includes('/messages')) return wires.messages;
  if (url.includes('/responses')) return wires.responses;
  return url.includes('/chat') ? wires.chat : wires.gemini;
};

const serve = async (
  t: ExecutionContext,
  answer: Answer = good,
  config: object = {},
  extras: Parameters<typeof startGateway>[2] = {},
): Promise<Served> => {
  const upstream = await startUpstream(answer);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(
    { LOG: false, RETRY: { attempts: 0 }, ...providersAt(() => upstream.url), ...config },
    {},
    extras,
  );
  t.teardown(() => gateway.stop());
  const open: Served['open'] = (headers, path = '/v1/responses') => openSocket(t, `${gateway.baseUrl}${path}`, headers);
  return { gateway, upstream, open };
};

const create = (more: object = {}) => ({
  type: 'response.create',
  model: 'chat,other',
  store: false,
  input: 'hi',
  ...more,
});

const idOf = (frames: readonly Frame[]): string => String(Object(frames.at(-1)?.response).id);
/** The id of the call that an answer ends with. */
const callIn = (frames: readonly Frame[]): string =>
  String(frames.map(({ item }) => Object(item).call_id).findLast((id) => id !== undefined));

const codeOf = (frame: Frame | undefined): string => `${frame?.status} ${Object(frame?.error).code}`;

/** The events of the same request over HTTP. */
const overHttp = async ({ gateway }: Served, body: object): Promise<readonly Frame[]> => {
  const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, type: undefined, stream: true }),
  });
  const events: Frame[] = [];
  createParser({ onEvent: ({ data }) => events.push(JSON.parse(data)) }).feed(await answer.text());
  return events;
};

/** What differs between two answers: ids that are made for each, and times. */
const plain = (frames: readonly Frame[]): unknown =>
  JSON.parse(
    JSON.stringify(frames)
      .replace(/_[\da-f]{24}/g, '_id')
      .replace(/"(created|completed)_at":\d+/g, '"$1_at":0'),
  );

for (const server of ['uws', 'node']) {
  const extras = { server: chooseServer(server) };

  test(`${server}: the messages of an answer are the events of the same answer over HTTP`, async (t) => {
    const served = await serve(t, good, {}, extras);
    const client = await served.open({ 'openai-beta': 'responses_websockets=2026-02-06' });
    for (const model of ['responses,own', 'chat,other', 'messages,m', 'gemini,m']) {
      client.send(create({ model, stream: true }));
      const frames = await client.answer();
      const events = await overHttp(served, create({ model }));
      t.true(events.length > 5, model);
      t.deepEqual(plain(frames), plain(events), model);
    }
    t.false(served.upstream.requests.some(({ text }) => /response\.create|generate|stream_id/.test(text)));
  });

  test(`${server}: bad input gets one error each, and the connection lives on`, async (t) => {
    const served = await serve(t, good, { LIMITS: { bodyBytes: 50_000 } }, extras);
    const client = await served.open();
    const other = await served.open();
    other.send(create());
    const foreign = idOf(await other.answer());
    const rows: readonly (readonly [title: string, message: object | string | Buffer, code: string, lane?: string])[] =
      [
        ['no JSON', 'hello', '400 null'],
        ['half JSON', '{"type":"response.create"', '400 null'],
        ['more than one object', '{"type":"response.create"} {}', '400 null'],
        ['a list', '[]', '400 null'],
        ['a binary message', Buffer.from(JSON.stringify(create())), '400 null'],
        ['no type', { model: 'x' }, '400 null'],
        ['an unknown type', { type: 'session.update' }, '400 null'],
        ['steering', { type: 'response.inject', stream_id: 'a', input: [] }, '400 null', 'a'],
        ['a bad lane', create({ stream_id: 'a b' }), '400 invalid_stream_id'],
        ['a lane that is no text', create({ stream_id: 7 }), '400 invalid_stream_id'],
        ['an id of another connection', create({ previous_response_id: foreign }), '400 previous_response_not_found'],
        [
          'such an id that may be stored',
          create({ previous_response_id: foreign, store: true, stream_id: 'b' }),
          '400 previous_response_not_found',
          'b',
        ],
        ['a body that the route refuses', create({ input: 7 }), '400 null'],
        ['JSON that is broken inside', '{"type":"response.create","model":"chat,other","input":[{]}', '400 null'],
        ['an unknown model', create({ model: 'nobody,x' }), '400 model_not_found'],
        ['a warm-up that the route refuses', create({ generate: false, tools: 7 }), '400 null'],
      ];
    for (const [title, message, code, lane] of rows) {
      client.send(message);
      const frame = await client.next();
      t.is(frame.type, 'error', title);
      t.is(codeOf(frame), code, title);
      t.is(frame.stream_id, lane, title);
      t.is(typeof Object(frame.error).message, 'string', title);
    }
    client.send({ type: 'response.processed', response_id: 'resp_1' });
    client.send(create());
    t.is((await client.answer()).at(-1)?.type, 'response.completed');

    client.send(create({ input: 'x'.repeat(50_000) }));
    t.is(codeOf(await client.next()), '413 request_too_large');
    t.is((await client.closed).code, 1009);
    other.socket.send('x'.repeat(200_000));
    t.true([1006, 1009].includes((await other.closed).code), 'far larger ones end the connection at once');
  });

  test(`${server}: a handshake passes the guard, the key and the limits, or is refused`, async (t) => {
    const { open, gateway } = await serve(t, good, { APIKEY: 'k', LIMITS: { webSockets: 1 } }, extras);
    const authorization = { authorization: 'Bearer k' };
    await t.throwsAsync(open(), { message: 'status 401' });
    await t.throwsAsync(open({ ...authorization, host: 'evil.com' }), { message: 'status 403' });
    await t.throwsAsync(open({ ...authorization, origin: 'https://evil.com' }), { message: 'status 403' });
    await t.throwsAsync(open(authorization, '/v1/messages'), { message: 'status 426' });
    await t.throwsAsync(open(authorization, '/v1/responses/compact'), { message: 'status 426' });
    await t.throwsAsync(open(authorization, '/v1/nothing'), { message: 'status 404' });
    const plainGet = await fetch(`${gateway.baseUrl}/v1/responses`, { headers: authorization });
    t.is(plainGet.status, 405);
    const asked = { ...authorization, 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const withoutUpgrade = await request(`${gateway.baseUrl}/v1/responses`, { headers: asked });
    t.is(withoutUpgrade.statusCode, 426, 'a proxy dropped the header');
    await withoutUpgrade.body.dump();
    const client = await open(authorization, '/responses');
    await t.throwsAsync(open(authorization), { message: 'status 426' }, 'there may be one connection');
    client.socket.close();
    await client.closed;
    for (;;) {
      const again = await open(authorization).catch(() => undefined);
      if (!again) continue;
      again.send(create());
      t.is((await again.answer()).at(-1)?.type, 'response.completed');
      break;
    }
  });

  test(`${server}: a handshake at a preset gets the status that its requests would get over HTTP`, async (t) => {
    const files = {
      'presets/other/manifest.json': JSON.stringify({ Router: { default: 'chat,other' } }),
      'presets/broken/manifest.json': '{"Router": 7}',
    };
    const clients = { CLIENTS: [{ name: 'c', key: `sha256:${hash('sha256', 'ck')}`, routes: ['preset/none'] }] };
    const config = { APIKEY: 'k', LIMITS: { webSockets: 1 }, ...clients };
    const { open, gateway } = await serve(t, good, config, { ...extras, files });
    const handshake = async (key: string, path: string) =>
      open({ authorization: `Bearer ${key}` }, path).then(
        ({ socket }) => {
          socket.close();
          return 101;
        },
        ({ message }: Error) => Number(/\d+/.exec(message)?.[0]),
      );
    const plain = async (key: string, path: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const body = JSON.stringify(create({ type: undefined }));
      return (await fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body })).status;
    };
    const rows: readonly (readonly [key: string, path: string, status: number])[] = [
      ['k', '/preset/none/v1/responses', 404],
      ['k', '/preset/..%2Fother/responses', 404],
      ['ck', '/preset/none/responses', 404],
      ['k', '/preset/broken/v1/responses', 500],
      ['ck', '/preset/other/v1/responses', 403],
      ['wrong', '/preset/none/v1/responses', 401],
      ['k', '/preset/other/v1/nothing', 404],
    ];
    for (const [key, path, status] of rows) {
      t.is(await handshake(key, path), status, `${key} ${path}`);
      t.is(await plain(key, path), status, `${key} ${path} over HTTP`);
    }
    const both = await Promise.all(
      ['/preset/other/responses', '/preset/other/v1/responses'].map((path) => handshake('k', path)),
    );
    t.deepEqual(both.toSorted(), [101, 426], 'there may be one connection');
    await until(async () => (await handshake('k', '/preset/other/responses')) === 101);
  });

  test(`${server}: a client that leaves ends its upstream calls, and one that stops reading pauses them`, async (t) => {
    const texts = Array.from({ length: 2_000 }, () => 'x'.repeat(1_000));
    const sent = { records: 0 };
    const endless: Answer = (request) => {
      const records = wireOf(request).stream(texts);
      return sseAnswer(
        (function* () {
          yield records[0] ?? '';
          for (;;) {
            sent.records += 1;
            yield records[5] ?? '';
          }
        })(),
      );
    };
    const { open, upstream } = await serve(t, endless, {}, extras);
    const client = await open();
    client.send(create({ stream_id: 'a' }));
    client.send(create({ stream_id: 'b', model: 'responses,own' }));
    await until(() => client.texts.length > 20);
    client.socket.pause();
    let before = -1;
    // No progress between two looks.
    await until(async () => {
      const now = sent.records;
      const isStill = now === before;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return isStill;
    });
    client.socket.resume();
    await until(() => sent.records > before + 100);
    client.socket.terminate();
    await Promise.all(upstream.requests.map(({ closed }) => closed));
    t.is(upstream.requests.length, 2);
  });

  test(`${server}: a stop ends idle connections at once, and others after their answers`, async (t) => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const [head = '', ...rest] = wires.chat.stream(['one']);
    const { open, gateway } = await serve(
      t,
      () =>
        sseAnswer(
          (async function* () {
            yield head;
            await gate;
            yield rest.join('');
          })(),
        ),
      {},
      // The answer under way takes as long as it does.
      { ...extras, after: later },
    );
    const [idle, busy] = [await open(), await open()];
    busy.send(create());
    await busy.next();
    const stopped = gateway.stop();
    t.is((await idle.closed).code, 1012);
    busy.send(create({ stream_id: 'late' }));
    t.is(codeOf(await busy.answer().then((frames) => frames.at(-1))), '400 websocket_connection_limit_reached');
    go();
    t.is((await busy.answer()).at(-1)?.type, 'response.completed');
    t.is((await busy.closed).code, 1012);
    await stopped;
  });
}

test('requests of one lane are answered in order, those of several at the same time, and each message names its lane', async (t) => {
  const open = new Map<string, () => void>();
  const held: Answer = (request) => {
    const word = /"(?:text|content)":"(\w+)"/.exec(request.text)?.[1] ?? '';
    const opened = new Promise<void>((resolve) => open.set(word, resolve));
    return opened.then(() => sseAnswer([wireOf(request).stream([word]).join('')]));
  };
  const served = await serve(t, held);
  const client = await served.open();
  for (const [stream_id, input] of [
    ['a', 'first'],
    ['a', 'second'],
    ['b', 'third'],
    [undefined, 'fourth'],
  ]) {
    client.send(create({ stream_id, input }));
  }
  await until(() => open.size === 3);
  t.deepEqual([...open.keys()].sort(), ['first', 'fourth', 'third'], 'the second waits for the first');
  for (const [word, lane] of [
    ['fourth', undefined],
    ['third', 'b'],
    ['first', 'a'],
    ['second', 'a'],
  ] as const) {
    await until(() => open.has(word));
    open.get(word)?.();
    const frames = await client.answer();
    t.true(
      frames.every(({ stream_id }) => stream_id === lane),
      word,
    );
    t.regex(JSON.stringify(frames.at(-1)), new RegExp(`"text":"${word}"`));
  }
});

test('a connection has 32 named lanes, and as many waiting requests as it may', async (t) => {
  const { open, upstream } = await serve(t, () => 'never');
  const client = await open();
  for (let lane = 0; lane < 33; lane += 1) client.send(create({ stream_id: `lane-${lane}` }));
  t.is(codeOf(await client.next()), '400 websocket_stream_limit_reached');
  // 16 of 32 are being answered.
  for (let more = 0; more < 48; more += 1) client.send(create());
  client.send(create());
  t.is(codeOf(await client.next()), '429 rate_limit_exceeded');
  await until(() => upstream.requests.length === 16);
  client.socket.terminate();
  await Promise.all(upstream.requests.map(({ closed }) => closed));
  t.is(upstream.requests.length, 16);
});

test('what a request continues is sent in full, as the client itself would send it', async (t) => {
  const served = await serve(t, (request) =>
    sseAnswer([
      request.text.includes('12345678901234567890')
        ? wireOf(request).stream(['sunny']).join('')
        : [...wireOf(request).toolStream(['{"city":', '"Łódź"}'])].join(''),
    ]),
  );
  const client = await served.open();
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
  for (const model of ['responses,own', 'chat,other', 'messages,m', 'gemini,m']) {
    const ask = { model, instructions: 'Be brief.', tools };
    client.send(create({ ...ask, input: [], generate: false }));
    let last = await client.answer();
    t.deepEqual(last.at(-1)?.response, { ...Object(last.at(-1)?.response), output: [], status: 'completed' });
    const input: unknown[] = [];
    const turns = [
      () => ({ role: 'user', content: 'What is the weather?' }),
      () => ({ type: 'function_call_output', call_id: callIn(last), output: '1.0 and 12345678901234567890' }),
      () => ({ role: 'user', content: [{ type: 'input_text', text: 'Thanks' }] }),
    ];
    for (const turn of turns) {
      const items = [turn()];
      const from = served.upstream.requests.length;
      // As most writers do, with spaces.
      client.send(JSON.stringify(create({ ...ask, input: items, previous_response_id: idOf(last) }), null, 1));
      last = await client.answer();
      input.push(...items);
      await overHttp(served, create({ ...ask, input }));
      const [chained, full, ...more] = served.upstream.requests.slice(from);
      t.deepEqual([chained !== undefined, more], [true, []], model);
      t.is(last.at(-1)?.type, 'response.completed', model);
      t.deepEqual(chained?.body, full?.body, model);
      input.push(...last.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : [])));
    }
    // This server gives all its answers one id.
    if (model === 'responses,own') continue;
    // Only the latest answer of a lane can be continued, from any lane, and a failure forgets it.
    const fork = create({ ...ask, input: 'x', previous_response_id: idOf(last), stream_id: 'fork' });
    client.send(fork);
    t.is((await client.answer()).at(-1)?.type, 'response.completed', model);
    client.send({ ...fork, stream_id: undefined, input: 7, tools: 7 });
    t.is(codeOf(await client.next()), '400 null');
    client.send(fork);
    t.is(codeOf(await client.next()), '400 previous_response_not_found');
  }
});

test('an answer that fails ends as over HTTP, or with an error that has its status, and the connection lives on', async (t) => {
  let play: Reaction = {};
  const { open } = await serve(t, () => play, {
    BREAKER: { faults: 1_000_000 },
  });
  const client = await open();
  for (const [title, fault] of Object.entries(upstreamFaults)) {
    // Silence is bounded by a time, which other tests cover.
    if (fault.line === 'R2' || title === 'stalls mid-stream') continue;
    for (const [model, wire] of [
      ['responses,own', wires.responses],
      ['chat,other', wires.chat],
    ] as const) {
      play = fault.play(wire, true);
      client.send(create({ model, stream_id: 'lane' }));
      const frames = await client.answer();
      const last = frames.at(-1);
      t.true(
        frames.every(({ stream_id }) => stream_id === 'lane'),
        title,
      );
      if (fault.comesTo === 'answer') t.is(last?.type, 'response.completed', `${title}, ${model}`);
      else if (fault.comesTo === 'broken') {
        t.is(last?.type, 'response.failed', `${title}, ${model}`);
        t.is(frames.filter(({ type }) => type === 'error').length, 1, `${title}, ${model}`);
      } else if (typeof fault.comesTo === 'number') {
        t.is(last?.status, fault.comesTo, `${title}, ${model}`);
        t.is(frames.length, 1, title);
      } else t.true(last?.type === 'response.failed' || Number(last?.status) >= 400, `${title}, ${model}`);
    }
  }
  // A conversation that is too long is compacted by agents that see this code in the answer.
  play = jsonAnswer({ error: { message: 'too long', code: 'context_length_exceeded' } }, 400);
  client.send(create());
  const overflow = (await client.answer()).at(-1);
  t.is(overflow?.type, 'response.failed');
  t.is(Object(Object(overflow?.response).error).code, 'context_length_exceeded');
});

test('each request is admitted, limited and counted by itself', async (t) => {
  const config = {
    APIKEY: 'k',
    CLIENTS: [{ name: 'a', key: `sha256:${hash('sha256', 'ka')}`, limits: { requestsPerMinute: 2 } }],
  };
  const { open, gateway, upstream } = await serve(t, good, config);
  const client = await open({ authorization: 'Bearer ka' });
  for (const expected of ['response.completed', 'response.completed']) {
    client.send(create());
    t.is((await client.answer()).at(-1)?.type, expected);
  }
  client.send(create());
  const [limited] = await client.answer();
  t.is(codeOf(limited), '429 requests_per_minute');
  t.regex(String(Object(limited?.headers)['retry-after']), /^\d+$/);
  t.regex(String(Object(limited?.headers)['x-request-id']), /^req_/);
  const admin = { authorization: 'Bearer k' };
  const metrics = await (await fetch(`${gateway.baseUrl}/metrics`, { headers: admin })).text();
  const counted = [...metrics.matchAll(/^junctor_requests_total\{[^}]*client="a"[^}]*\} (\d+)$/gm)];
  t.is(
    counted.reduce((sum, [, count]) => sum + Number(count), 0),
    3,
  );
  const revoked = { ...providersAt(() => upstream.url), LOG: false, APIKEY: 'k' };
  const saved = await fetch(`${gateway.baseUrl}/api/config`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify(revoked),
  });
  t.is(saved.status, 200, await saved.text());
  client.send(create());
  t.is(codeOf(await client.next()), '401 invalid_api_key');
});
