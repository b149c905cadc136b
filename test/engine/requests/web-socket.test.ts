import test, { type ExecutionContext } from 'ava';
import { createParser } from 'eventsource-parser';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { type Frame, openSocket, type SocketClient } from '../../support/faults/socket-client.ts';
import { providersAt, wires } from '../../support/faults/wires.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import {
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
      extras,
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
