import test, { type ExecutionContext } from 'ava';
import { type Observable, of, Subject } from 'rxjs';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import { trustedProxies } from '../../../engine/http/access/access.ts';
import { admission } from '../../../engine/http/admission.ts';
import { Conversations } from '../../../engine/http/conversations.ts';
import type { Endpoint, HttpRequest, ReplyPart } from '../../../engine/http/endpoint.ts';
import { createRouter } from '../../../engine/http/router.ts';
import { type HttpLimits, ownLimits, type ServingListener } from '../../../engine/http/settings.ts';
import { ClientSocket } from '../../../engine/http/socket/client-socket.ts';
import { ReplyFrames } from '../../../engine/http/socket/reply-frames.ts';
import type { MessageStream } from '../../../engine/http/stream.ts';
import { Ticker } from '../../../engine/http/ticker.ts';
import { MemoryBudget } from '../../../engine/runtime/memory-budget.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { responsesSocket } from '../../../protocols/responses/socket/socket.ts';

const proxies = trustedProxies([]);
const head: ReplyPart = { type: 'head', status: 200, headers: {} };
const data = (text: string): ReplyPart => ({ type: 'data', data: Buffer.from(text) });
const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

interface Rig {
  readonly socket: ClientSocket;
  readonly listener: ServingListener;
  /** What was done to the connection. */
  readonly done: string[];
  readonly requests: HttpRequest[];
  readonly send: (more?: object) => void;
  /** What was done since the last call, after this turn of the event loop. */
  readonly since: () => Promise<readonly string[]>;
  readonly pass: (ms: number) => void;
  hasRoom: boolean;
  answer: (request: HttpRequest) => Observable<ReplyPart>;
}

/** A connection without a network, whose time passes as the test wants. */
const rigOf = (
  t: ExecutionContext,
  limits: Partial<HttpLimits> = {},
  conversations = new Conversations(),
  countsBytes = true,
  unseen = new MemoryBudget(),
): Rig => {
  let nowMs = 1_000;
  const ticker = new Ticker(60_000, () => nowMs);
  const done: string[] = [];
  let seen = 0;
  const endpoint: Endpoint = {
    open: false,
    forClients: true,
    formatFault: responsesClient.encodeFault,
    socket: responsesSocket,
    handle(request) {
      rig.requests.push(request);
      return rig.answer(request);
    },
  };
  const listener: ServingListener = {
    settings: {
      router: createRouter([], responsesClient.encodeFault),
      admission: admission({ guard: { host: '127.0.0.1', allowedHosts: [] }, proxies }),
      limits: { ...defaultSettings().limits, ...ownLimits, ...limits },
      proxies,
      keepAlive: true,
    },
    hooks: {},
    ticker,
    bodies: new MemoryBudget(),
    answers: new MemoryBudget(),
    unseen,
    conversations,
    retiring: false,
    rejection: () => undefined,
    add: () => 1,
    release: () => undefined,
    admitsSocket: () => true,
    openedSocket: () => undefined,
    closedSocket: () => done.push('gone'),
  };
  const stream: MessageStream = {
    send(message) {
      const { type, status, error } = JSON.parse(message.toString());
      done.push(status === undefined ? String(type) : `${status} ${error.code}`);
      return rig.hasRoom;
    },
    countsBytes,
    bufferedBytes: () => (rig.hasRoom ? 0 : 1_000_000),
    cork: (act) => act(),
    ping: () => done.push('ping'),
    close: (code) => done.push(`close ${code}`),
    terminate: () => done.push('terminate'),
  };
  const caller = { headers: ['host', '127.0.0.1'], remoteAddress: '127.0.0.1', proxiedAddress: () => '' };
  const handshake = { endpoint, params: {}, path: '/v1/responses', query: '', caller, remoteAddress: '127.0.0.1' };
  const socket = new ClientSocket(listener, handshake, responsesSocket, stream, 3_600_000);
  t.teardown(() => socket.closed());
  const rig: Rig = {
    socket,
    listener,
    done,
    requests: [],
    hasRoom: true,
    answer: () =>
      of(head, data(event('response.completed', { response: { id: `resp_${rig.requests.length}`, output: [] } }))),
    send: (more = {}) =>
      socket.message(
        Buffer.from(JSON.stringify({ type: 'response.create', model: 'm', store: false, input: 'hi', ...more })),
        false,
      ),
    async since() {
      await new Promise((resolve) => setImmediate(resolve));
      const news = done.slice(seen);
      seen = done.length;
      return news;
    },
    pass(ms) {
      nowMs += ms;
      socket.tick(nowMs);
    },
  };
  return rig;
};

test('a silent client is pinged, a long wait has a message, and a lifetime ends between answers', async (t) => {
  const rig = rigOf(t);
  rig.pass(20_000);
  t.deepEqual(await rig.since(), []);
  rig.pass(5_000);
  t.deepEqual(await rig.since(), ['ping']);
  rig.socket.alive();
  rig.pass(25_000);
  t.deepEqual(await rig.since(), ['ping']);
  rig.socket.alive();

  const parts = new Subject<ReplyPart>();
  rig.answer = () => parts;
  rig.send();
  for (const ms of [15_000, 15_000, 15_000, 15_000]) {
    rig.pass(ms);
    parts.next({ type: 'data', data: responsesClient.keepAlive });
  }
  t.deepEqual(await rig.since(), ['ping', 'ping', 'codex.keepalive']);
  for (let minutes = 0; minutes < 60; minutes += 1) {
    rig.socket.alive();
    rig.pass(60_000);
  }
  t.deepEqual([...new Set(await rig.since())], ['ping'], 'it answers first');
  rig.send();
  t.deepEqual(await rig.since(), ['400 websocket_connection_limit_reached']);
  parts.next(data(event('response.completed', { response: { id: 'resp_1', output: [] } })));
  parts.complete();
  t.deepEqual(await rig.since(), [
    'response.completed',
    '400 websocket_connection_limit_reached',
    'close 1001',
    'gone',
  ]);
});

test('a client that is gone is disconnected, and so is one that leaves its answer or its errors unread', async (t) => {
  const gone = rigOf(t);
  gone.pass(130_000);
  t.deepEqual(await gone.since(), ['terminate']);

  const vanished = rigOf(t);
  vanished.answer = () => new Subject<ReplyPart>();
  vanished.send();
  for (let seconds = 0; seconds < 116; seconds += 4) vanished.pass(4_000);
  t.false(vanished.done.includes('terminate'));
  for (let seconds = 0; seconds < 8; seconds += 4) vanished.pass(4_000);
  t.true(vanished.done.includes('terminate'), 'in mid-answer, too');

  const slow = rigOf(t);
  const parts = new Subject<ReplyPart>();
  slow.answer = () => parts;
  slow.send({ stream_id: 'a' });
  slow.hasRoom = false;
  parts.next(data(event('response.created')));
  await slow.since();
  t.true(slow.requests[0]?.backpressure.paused);
  slow.send({ stream_id: 'b' });
  t.is(slow.requests.length, 1, 'a full client starts no answer');
  slow.hasRoom = true;
  slow.socket.writable();
  t.deepEqual([slow.requests[0]?.backpressure.paused, slow.requests.length], [false, 2]);
  slow.hasRoom = false;
  parts.next(data(event('response.in_progress')));
  await slow.since();
  slow.pass(29 * 60_000);
  t.false((await slow.since()).includes('terminate'));
  slow.pass(2 * 60_000);
  t.true((await slow.since()).includes('terminate'));

  const flood = rigOf(t);
  flood.hasRoom = false;
  for (let count = 0; count < 300; count += 1) {
    flood.socket.message(Buffer.from('no JSON'), false);
    if (count === 0) await flood.since();
  }
  t.is((await flood.since()).filter((what) => what !== '400 null').join(), 'close 1008,gone');
  t.true(flood.done.length < 110);
});

test('a large message that arrives slowly is a sign of life, while it arrives fast enough', async (t) => {
  const rig = rigOf(t);
  // 4 s per tick.
  const arrive = (seconds: number, bytesPerSecond: number) => {
    for (let spent = 0; spent < seconds; spent += 4) {
      if (bytesPerSecond > 0) rig.socket.received(4 * bytesPerSecond);
      rig.pass(4_000);
    }
  };
  arrive(600, 16 * 1024);
  t.false(rig.done.includes('terminate'));
  arrive(60, 0);
  arrive(600, 2 * 1024);
  t.false(rig.done.includes('terminate'));
  arrive(160, 500);
  t.true(rig.done.includes('terminate'));

  // Pings that are answered between the parts of a message don't hold it.
  const stuck = rigOf(t);
  stuck.socket.received(1_000_000);
  const answerPings = (seconds: number) => {
    for (let spent = 0; spent < seconds; spent += 4) {
      stuck.socket.alive();
      stuck.pass(4_000);
    }
  };
  answerPings(120);
  t.false(stuck.done.includes('terminate'));
  answerPings(20);
  t.true(stuck.done.includes('terminate'));

  // Where the server can't see what arrives, a connection is silent for as long as the largest message takes.
  const unseen = rigOf(t, { bodyBytes: 16 * 1024 * 1_000 }, undefined, false);
  for (let seconds = 0; seconds < 1_000; seconds += 20) unseen.pass(20_000);
  t.false(unseen.done.includes('terminate'));
  unseen.pass(20_000);
  t.true(unseen.done.includes('terminate'));
});

test('unfinished messages of all connections are bounded, and so are those that can not be seen', async (t) => {
  const limits = { bodiesBytes: 3_000_000, bodyBytes: 1_000_000 };
  const [one, other] = [rigOf(t, limits), rigOf(t, limits)];
  const { bodies } = one.listener;
  one.socket.received(50_000);
  t.is(bodies.usedBytes, 0, 'small ones are not counted');
  one.socket.received(1_950_000);
  t.is(bodies.usedBytes, 2_000_000);
  one.send();
  t.true(bodies.usedBytes < 100_000, 'the message is complete');
  one.socket.received(2_500_000);
  one.socket.received(600_000);
  t.deepEqual((await one.since()).slice(-3), ['503 service_unavailable', 'close 1013', 'gone']);
  t.is(bodies.usedBytes, 0);
  one.socket.received(60_000);
  const isWaiting = !one.done.includes('terminate');
  one.socket.received(60_000);
  t.deepEqual([isWaiting, one.done.at(-1)], [true, 'terminate'], 'it was told, but sends on');
  other.socket.received(2_000_000);
  other.socket.closed();
  t.is(other.listener.bodies.usedBytes, 0);

  const unseen = new MemoryBudget();
  const four = Array.from({ length: 4 }, () => rigOf(t, limits, undefined, false, unseen));
  for (const rig of four) rig.pass(40_000);
  t.deepEqual(
    four.map(({ done }) => done.includes('terminate')),
    [false, false, false, true],
  );
  four[0]?.socket.alive();
  t.is(unseen.usedBytes, 2_000_000);
});

test('a client that pings and reads no answer is disconnected; one that reads may ping', (t) => {
  const rig = rigOf(t);
  for (let count = 0; count < 10_000; count += 1) rig.socket.pinged(125);
  t.false(rig.done.includes('terminate'));
  rig.hasRoom = false;
  for (let count = 0; count < 300; count += 1) rig.socket.pinged(125);
  const few = rig.done.includes('terminate');
  for (let count = 0; count < 300; count += 1) rig.socket.pinged(125);
  t.deepEqual([few, rig.done.includes('terminate')], [false, true]);
});

test('what connections remember is bounded, each and together, and is returned at their end', async (t) => {
  const conversations = new Conversations();
  const one = rigOf(t, { decompressedBytes: 1_000 }, conversations);
  one.send({ input: 'x'.repeat(100) });
  t.true(conversations.bytes > 100);
  one.send({ previous_response_id: 'resp_1', input: 'x'.repeat(600) });
  t.deepEqual(await one.since(), ['response.completed', 'response.completed']);
  // With its own items, the conversation is too long for a request.
  one.send({ previous_response_id: 'resp_2', input: 'x'.repeat(200) });
  t.deepEqual(await one.since(), ['413 request_too_large']);
  one.socket.closed();
  t.is(conversations.bytes, 0);

  const kept = ['a', 'b', 'c'].map((id) =>
    conversations.keep(id, [Buffer.alloc(400)], { decompressedBytes: 1_000, bodiesBytes: 1_000 }),
  );
  t.deepEqual(
    kept.map(({ items }) => items?.length),
    [undefined, 1, 1],
    'the one that was used least recently goes',
  );
  t.is(conversations.bytes, 800);

  const lost = rigOf(t);
  lost.send();
  lost.listener.conversations.keep('other', [Buffer.alloc(10)], { decompressedBytes: 100, bodiesBytes: 10 });
  await lost.since();
  lost.send({ previous_response_id: 'resp_1' });
  t.deepEqual(await lost.since(), ['400 websocket_connection_limit_reached', 'close 1001', 'gone']);
});

test('an answer is cut into the same messages, whatever its chunks and its line ends', (t) => {
  const events = ['response.created', 'response.output_text.delta', 'response.completed'].map((type) =>
    event(type, { delta: 'grüße 👋 "\\n\\n"' }),
  );
  const plain = events.map((text) => /^data: (.*)$/m.exec(text)?.[1]);
  const forms: readonly (readonly [string, string])[] = [
    ['plain', events.join('')],
    ['comments and marks', `: hi\n\n${events.join(': hello\n\n')}data: [DONE]\n\ndata: {"half\n\n`],
    ['CRLF', events.join('').replaceAll('\n', '\r\n')],
    ['CR', events.join('').replaceAll('\n', '\r')],
    ['without names', events.join('').replaceAll(/^event: .*\n/gm, '')],
    ['without spaces', events.join('').replaceAll(/^(data|event): /gm, '$1:')],
  ];
  for (const [title, text] of forms) {
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 50, bytes.length]) {
      const got: string[] = [];
      const frames = new ReplyFrames((_, message) => got.push(message.toString()));
      for (let from = 0; from < bytes.length; from += size) frames.take(bytes.subarray(from, from + size));
      t.deepEqual(got, plain, `${title}, ${size}`);
    }
  }
  const got: string[] = [];
  const frames = new ReplyFrames((_, message) => got.push(message.toString()));
  frames.take(Buffer.from(`${events[0]}event: x\ndata: {"hal`));
  t.is(frames.bufferedBytes > 0, true);
  // The gateway's own end stands after half a record.
  frames.drop();
  t.is(frames.bufferedBytes, 0);
  frames.take(Buffer.from(events[2] ?? ''));
  t.deepEqual(got, [plain[0], plain[2]]);
});

test('of an answer whose items are more than may be held, the id alone is kept', (t) => {
  const item = (id: string) => `{"type":"response.output_item.done","item":{"id":"${id}"}}`;
  const end = '{"type":"response.completed","response":{"id":"resp_1","output":[]}}';
  for (const [most, items] of [
    [100, '{"id":"a"},{"id":"b"}'],
    [15, undefined],
  ] as const) {
    let held = 0;
    const reader = responsesSocket.readAnswer((bytes) => {
      held += bytes;
      return held <= most;
    });
    for (const data of [item('a'), item('b')]) reader.read('response.output_item.done', data);
    reader.read('response.completed', end);
    const result = reader.result();
    t.is(result?.id, 'resp_1');
    t.is(result?.items && Buffer.from(result.items).toString(), items);
  }
});

test('of an answer with an item that can not be read, the id alone is kept', (t) => {
  const reader = responsesSocket.readAnswer(() => true);
  reader.read('response.output_item.done', '{"type":"response.output_item.done"}');
  reader.read('response.output_item.done', '{"type":"response.output_item.done","item":{"id":"b"}}');
  reader.read('response.completed', '{"type":"response.completed","response":{"id":"resp_1","output":[]}}');
  t.deepEqual(reader.result(), { id: 'resp_1', items: undefined });
});

test('a message with countless members is refused without holding them', (t) => {
  const members = (count: number) => Array.from({ length: count }, (_, at) => `"m${at}":1`).join();
  const read = (count: number) =>
    responsesSocket.read(Buffer.from(`{"type":"response.create",${members(count)}}`)).type;
  t.is(read(9_999), 'ask');
  t.is(read(10_000), 'refused');
});
