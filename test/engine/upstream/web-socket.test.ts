import { readdirSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { EMPTY, firstValueFrom, mergeMap, toArray } from 'rxjs';
import { Backpressure } from '../../../engine/runtime/backpressure.ts';
import type { UpstreamOptions } from '../../../engine/upstream/create-upstreams.ts';
import type { UpstreamCall } from '../../../engine/upstream/upstreams.ts';
import { testTime } from '../../support/test-time.ts';
import { until } from '../../support/until.ts';
import {
  callItem,
  messageItem,
  responseEvents,
  type SocketScript,
  startSocketUpstream,
  type Upgrade,
} from '../../support/upstreams/socket-upstream.ts';
import { callOf, overSocket, read, start, testUpstreams } from './harness.ts';

/*
 * Calls over WebSocket: what the vendor gets, what comes of it, and when it is HTTP after all.
 */

const user = (text: string) => ({ role: 'user', content: text });
const output = (id: string) => ({ type: 'function_call_output', call_id: `call_${id}`, output: 'found' });
/** As clients return items: without what is the vendor's alone, and with other spaces in arguments. */
const returned = (id: string, text: string) => [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
  { type: 'function_call', call_id: `call_${id}`, name: 'look', arguments: '{"at":"here"}' },
];
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];

const setUp = async (
  t: ExecutionContext,
  options: NonNullable<Parameters<typeof startSocketUpstream>[0]> = {},
  more: Partial<UpstreamOptions> = {},
) => {
  const upstream = await startSocketUpstream(options);
  t.teardown(upstream.close);
  const upstreams = testUpstreams({ decompressedReplyBytes: 1 << 20, ...more });
  t.teardown(() => upstreams.close());
  const call = (input: readonly object[], over: object = {}, callOver: Partial<UpstreamCall> = {}) =>
    callOf(upstream.url, {
      url: new URL('/v1/responses', upstream.url),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: 'Bearer canary' },
      body: JSON.stringify({ model: 'm', stream: true, store: false, tools, input, ...over }),
      socket: overSocket('one'),
      ...callOver,
    });
  /** How the requests came: the transport, and how many items. */
  const came = () => upstream.requests.map(({ over, body }) => `${over} ${body.input.length}`);
  return {
    upstream,
    upstreams,
    call,
    came,
    ask: (...values: Parameters<typeof call>) => read(upstreams, call(...values)),
  };
};

test('a conversation has one connection, which gets what is new', async (t) => {
  const { upstream, upstreams, ask, came } = await setUp(t);
  const first = await ask([user('hi')]);
  t.is(first.answer?.headers['content-type'], 'text/event-stream; charset=utf-8');
  t.regex(first.bytes.toString(), /^event: response\.created\ndata: \{"type":"response\.created"/);
  const turn = [user('hi'), ...returned('1', 'answer 1'), output('1')];
  await ask(turn, { instructions: 'anew' });
  // Vendors keep what was said before a response is complete in the same connection, and that ends with another answer.
  await ask([...turn, messageItem('2', 'answer 2'), user('more')]);
  t.deepEqual(came(), ['socket 1', 'socket 1', 'socket 1']);
  t.deepEqual(
    upstream.requests.map(({ body }) => body.previous_response_id),
    [undefined, 'resp_1', 'resp_2'],
  );
  t.is(upstream.requests[1]?.body.instructions, 'anew', 'settings are sent each time');
  t.deepEqual(upstream.requests[1]?.body.tools, tools);
  t.is(upstream.requests[0]?.headers.authorization, 'Bearer canary');
  t.is(upstream.requests[0]?.headers['content-type'], undefined);
  t.is(upstream.state.upgrades, 1);
  t.deepEqual(upstream.complaints, []);
  upstreams.closeIdleSockets(new Set([new URL(upstream.url).origin]));
  await until(() => upstream.state.closed === 1);
  await ask([...turn, messageItem('2', 'answer 2'), user('more'), messageItem('3', 'answer 3'), user('still')]);
  t.is(came().at(-1), 'socket 8', 'a new connection remembers nothing');
});

test('the messages of an answer are its records', async (t) => {
  const { upstreams, call } = await setUp(t);
  const chunks = await firstValueFrom(
    upstreams.call(call([user('hi')])).pipe(mergeMap(({ records = EMPTY }) => records.pipe(toArray()))),
  );
  const records = chunks.flatMap((chunk) => chunk.records);
  t.is(records[0]?.event, 'response.created');
  t.is(records.at(-1)?.event, 'response.completed');
  for (const { event, data } of records) t.true(String(data).startsWith(`{"type":"${event}"`));
});

const changed: Readonly<Record<string, readonly object[]>> = {
  'another beginning': [user('ho'), ...returned('1', 'answer 1'), output('1')],
  'another space in the beginning': [user('hi '), ...returned('1', 'answer 1'), output('1')],
  'another text': [user('hi'), ...returned('1', 'answer one'), output('1')],
  'an item less': [user('hi'), ...returned('1', 'answer 1').slice(1), output('1')],
  'another order': [user('hi'), ...returned('1', 'answer 1').reverse(), output('1')],
  'a member more': [
    user('hi'),
    { ...returned('1', 'answer 1')[0], phase: 'final' },
    ...returned('1', '').slice(1),
    output('1'),
  ],
  'nothing new': [user('hi'), ...returned('1', 'answer 1')],
};

for (const [title, input] of Object.entries(changed)) {
  test(`${title}: the whole input is sent`, async (t) => {
    const { upstream, ask } = await setUp(t);
    await ask([user('hi')]);
    await ask(input);
    t.deepEqual(upstream.requests[1]?.body.input, input);
    t.is(upstream.requests[1]?.body.previous_response_id, undefined);
    t.deepEqual(upstream.complaints, []);
  });
}

test('another model gets the whole input, and two answers at a time have two connections', async (t) => {
  const { upstream, upstreams, call, ask, came } = await setUp(t);
  await ask([user('hi')]);
  const turn = [user('hi'), ...returned('1', 'answer 1'), output('1')];
  await Promise.all([ask(turn), ask([user('a helper')])]);
  await ask([...turn, messageItem('2', 'answer 2'), user('more')], { model: 'other' });
  t.deepEqual(came(), ['socket 1', 'socket 1', 'socket 1', 'socket 6']);
  t.true(upstream.state.upgrades >= 2);
  t.deepEqual(upstream.complaints, []);
  await read(upstreams, call([user('hi')], {}, { headers: { authorization: 'Bearer other' } }));
  t.is(upstream.requests.at(-1)?.headers.authorization, 'Bearer other', 'a connection belongs to its key');
});

const overHttp: Readonly<Record<string, object>> = {
  'a whole answer': { stream: false },
  'an id of a stored response': { previous_response_id: 'resp_9' },
  'a stored conversation': { conversation: 'conv_1' },
  'work in the background': { background: true },
};

for (const [title, over] of Object.entries(overHttp)) {
  test(`${title} is asked for over HTTP`, async (t) => {
    const { upstream, ask, came } = await setUp(t);
    t.is((await ask([user('hi')], over)).answer?.status, 200);
    t.deepEqual([came(), upstream.state.upgrades], [['http 1'], 0]);
  });
}

for (const upgrade of [
  426,
  404,
  405,
  403,
  500,
  200,
  'hang',
  'reset',
  'unheard',
] as const satisfies readonly Upgrade[]) {
  test(`an upgrade that ends with ${upgrade}: HTTP at once, and for a while`, async (t) => {
    const time = testTime();
    const { upstream, upstreams, call, ask, came } = await setUp(t, { upgrade }, { clock: time.clock });
    const asked = start(upstreams, call([user('hi')]));
    if (upgrade === 'hang') {
      await until(() => upstream.state.upgrades === 1);
      time.pass(10_000);
    }
    t.regex((await asked.outcome).bytes.toString(), /response\.completed/);
    await ask([user('again')]);
    t.deepEqual([came(), upstream.state.upgrades], [['http 1', 'http 1'], 1]);
    upstream.state.upgrade = 'accept';
    time.pass(600_000);
    await ask([user('later')]);
    t.is(came().at(-1), 'socket 1');
  });
}

for (const status of [401, 429]) {
  test(`an upgrade that is refused with ${status} is the call's answer`, async (t) => {
    const { upstream, ask } = await setUp(t, { upgrade: status });
    const { answer, bytes } = await ask([user('hi')]);
    t.is(answer?.status, status);
    t.is(answer?.headers['retry-after'], '3');
    t.regex(bytes.toString(), /No upgrade/);
    upstream.state.upgrade = 'accept';
    t.is((await ask([user('hi')])).answer?.status, 200);
    t.deepEqual([upstream.requests.length, upstream.requests[0]?.over], [1, 'socket'], 'and not remembered');
  });
}

const errorEvent = (status: number | undefined, code: string) => ({
  type: 'error',
  ...(status !== undefined && { status }),
  error: { type: 'x', code, message: 'No.' },
  headers: { 'Retry-After': 3 },
});

for (const status of [400, 401, 429, 500, 503]) {
  test(`an error event with status ${status} is the call's answer`, async (t) => {
    const { ask, came } = await setUp(t, { script: () => ({ events: [errorEvent(status, 'c')] }) });
    const { answer, bytes } = await ask([user('hi')]);
    t.deepEqual([answer?.status, answer?.headers['retry-after']], [status, '3']);
    t.deepEqual(JSON.parse(bytes.toString()), { error: { type: 'x', code: 'c', message: 'No.' } });
    t.deepEqual(came(), ['socket 1']);
  });
}

test('an error event without a status, or after the first event, is one of the stream', async (t) => {
  const [created] = responseEvents('resp_1', []);
  for (const events of [[errorEvent(undefined, 'c')], [...(created ? [created] : []), errorEvent(500, 'c')]]) {
    const { upstream, ask } = await setUp(t, { script: () => ({ events }) });
    const { answer, bytes, fault } = await ask([user('hi')]);
    t.is(answer?.status, 200);
    t.is(fault, undefined);
    t.regex(bytes.toString(), /event: error\ndata: \{"type":"error".*\n\n$/);
    await until(() => upstream.state.closed === 1);
  }
});

/** What the second, shortened request meets; its full form over HTTP is answered. */
const failing: Readonly<Record<string, SocketScript>> = {
  previous_response_not_found: () => ({ events: [errorEvent(400, 'previous_response_not_found')] }),
  websocket_connection_limit_reached: () => ({
    events: [errorEvent(400, 'websocket_connection_limit_reached')],
    ending: 'close',
  }),
  'a status of 404': () => ({ events: [errorEvent(404, 'x')] }),
  'a close': () => ({ events: [], ending: 'close' }),
  'a reset': () => ({ events: [], ending: 'reset' }),
  'a binary frame': () => ({ events: [Buffer.from('{"type":"response.created"}')] }),
  'text that is no event': () => ({ events: ['[]'] }),
};

for (const [title, fails] of Object.entries(failing)) {
  test(`a shortened request that meets ${title} is sent whole, once`, async (t) => {
    const chat: SocketScript = (_, count) => ({
      events: responseEvents(`resp_${count}`, [messageItem('1', 'one'), callItem('1', '{"at":"here"}')]),
    });
    const { upstream, ask, came } = await setUp(t, {
      script: (request, count) => (request.over === 'socket' && count === 2 ? fails : chat)(request, count),
    });
    await ask([user('hi')]);
    const { answer, bytes } = await ask([user('hi'), ...returned('1', 'one'), output('1')]);
    t.is(answer?.status, 200);
    t.regex(bytes.toString(), /response\.completed/);
    t.deepEqual(came(), ['socket 1', 'socket 1', 'http 4']);
    await ask([user('next')]);
    t.is(came().at(-1), 'socket 1', 'the upstream still counts as one that speaks it');
    t.deepEqual(upstream.complaints, []);
  });
}

test('a connection that the vendor closed or forgot while it was idle costs no answer', async (t) => {
  const { upstream, ask, came } = await setUp(t);
  await ask([user('hi')]);
  upstream.closeSockets();
  t.regex((await ask([user('hi'), ...returned('1', 'answer 1'), output('1')])).bytes.toString(), /completed/);
  await until(() => upstream.open.size <= 1);
  t.regex(came().at(-1) ?? '', / 4$/);
  t.deepEqual(upstream.complaints, []);
});

for (const ending of ['close', 'reset'] as const) {
  test(`a ${ending} after the first event is a broken stream`, async (t) => {
    const events = responseEvents('resp_1', [messageItem('1', 'one')]).slice(0, 3);
    const { ask, came } = await setUp(t, { script: () => ({ events, ending }) });
    const { answer, bytes, fault } = await ask([user('hi')]);
    t.is(answer?.status, 200);
    t.is(bytes.toString().match(/^event: /gm)?.length, 3);
    t.is(fault?.kind, 'upstream-cut');
    t.deepEqual(came(), ['socket 1']);
  });
}

test('silence ends a call: before the first event, in its middle, and in all', async (t) => {
  const events = responseEvents('resp_1', []).slice(0, 1);
  for (const [stalled, limits, ms] of [
    [[], { firstByteMs: 5_000 }, 5_000],
    [events, { idleMs: 7_000 }, 7_000],
    [events, { callMs: 9_000 }, 9_000],
  ] as const) {
    const time = testTime();
    const { upstream, upstreams, call } = await setUp(
      t,
      { script: () => ({ events: stalled, ending: 'stall' }) },
      { clock: time.clock },
    );
    const asked = start(upstreams, call([user('hi')], {}, { timeouts: limits }));
    await until(() => upstream.requests.length === 1);
    if (stalled.length > 0) await until(() => asked.chunks.length === 1);
    let isOver = false;
    void asked.outcome.then(() => {
      isOver = true;
    });
    // Calls of a process take turns in reading: one that waits for its turn isn't silent.
    await until(() => {
      time.pass(ms);
      return isOver;
    });
    t.is((await asked.outcome).fault?.kind, 'upstream-timeout');
    await until(() => upstream.state.closed === 1);
    t.is(time.timers(), 1, 'only the look for sleep is left');
  }
});

test('a client that leaves ends the connection, which is how the vendor learns of it', async (t) => {
  const events = responseEvents('resp_1', []).slice(0, 1);
  const { upstream, upstreams, call } = await setUp(t, { script: () => ({ events, ending: 'stall' }) });
  const asked = start(upstreams, call([user('hi')]));
  await until(() => asked.chunks.length === 1);
  asked.subscription.unsubscribe();
  await until(() => upstream.state.closed === 1);
  const early = start(upstreams, call([user('hi')]));
  early.subscription.unsubscribe();
  await until(() => upstream.open.size === 0);
  t.is(upstream.requests.length, 1);
});

test('a slow client pauses the socket', async (t) => {
  const pieces = 200;
  const delta = { type: 'response.output_text.delta', delta: 'x'.repeat(100_000) };
  const [created, completed] = responseEvents('resp_1', []);
  const all = [created, ...Array.from({ length: pieces }, () => delta), completed].filter(
    (event) => event !== undefined,
  );
  const { upstream, upstreams, call } = await setUp(t, { script: () => ({ events: all }) });
  const backpressure = new Backpressure();
  const asked = start(upstreams, call([user('hi')], {}, { backpressure }), (count) => {
    if (count === 1) backpressure.pause();
  });
  await until(() => asked.chunks.length > 0);
  let unsent = 0;
  await until(() => {
    const [before, now] = [unsent, [...upstream.open][0]?.bufferedAmount ?? 0];
    unsent = now;
    return now > 0 && now === before;
  });
  backpressure.resume();
  t.true((await asked.outcome).bytes.length > pieces * 100_000);
});

test('a message beyond the limit breaks the stream', async (t) => {
  const events = [...responseEvents('resp_1', []).slice(0, 1), { type: 'response.x', text: 'x'.repeat(2 << 20) }];
  const { ask } = await setUp(t, { script: () => ({ events }) });
  const { fault } = await ask([user('hi')]);
  t.is(fault?.kind, 'upstream-garbled');
  t.regex(fault?.message ?? '', /larger than LIMITS\.decompressedReplyBytes/);
});

test('idle connections are probed, and end with their time, with a sleep and with the service', async (t) => {
  const time = testTime();
  const { upstream, upstreams, ask } = await setUp(t, {}, { clock: time.clock });
  await ask([user('hi')]);
  for (let passed = 30_000; passed < 600_000; passed += 30_000) {
    time.pass(30_000);
    await upstream.answered();
  }
  t.is(upstream.state.closed, 0);
  time.pass(30_000);
  await until(() => upstream.state.closed === 1);
  await ask([user('hi')]);
  time.sleep(60_000);
  time.pass(1_000);
  await until(() => upstream.state.closed === 2);
  await ask([user('hi')]);
  await upstreams.close();
  await until(() => upstream.state.closed === 3);
  t.is(upstream.state.upgrades, 3);
});

test('a stop waits for the answer, and then closes its connection', async (t) => {
  const [created, ...rest] = responseEvents('resp_1', []);
  const { upstream, upstreams, call } = await setUp(t, {
    script: () => ({ events: created ? [created] : [], ending: 'stall' }),
  });
  const asked = start(upstreams, call([user('hi')]));
  await until(() => asked.chunks.length === 1);
  const closed = upstreams.close();
  for (const webSocket of upstream.open) for (const event of rest) webSocket.send(JSON.stringify(event));
  t.regex((await asked.outcome).bytes.toString(), /response\.completed/);
  await closed;
  await until(() => upstream.state.closed === 1);
});

const folder = new URL('../../fixtures/openai-responses/', import.meta.url);
for (const file of readdirSync(folder).filter((name) => name.endsWith('.sse'))) {
  test(`${file}: the events are those of the recorded stream`, async (t) => {
    const recorded = readFileSync(new URL(file, folder), 'utf8');
    const payloads = recorded.split(/\r?\n/).flatMap((line) => /^data: ?(\{.*)$/.exec(line)?.[1] ?? []);
    const ends = payloads.findIndex((text) =>
      /^\{"type": ?"(?:response\.(?:completed|failed|incomplete)|error)"/.test(text),
    );
    const { ask } = await setUp(t, { script: () => ({ events: payloads, ending: ends < 0 ? 'close' : 'stall' }) });
    const { bytes } = await ask([user('hi')]);
    const got = bytes
      .toString()
      .split('\n\n')
      .flatMap((record) => /^event: (\S+)\ndata: (.*)$/.exec(record) ?? []);
    t.deepEqual(
      got.filter((_, index) => index % 3 === 2),
      payloads.slice(0, ends < 0 ? undefined : ends + 1),
    );
    t.true(got.every((text, index) => index % 3 !== 1 || JSON.parse(got[index + 1] ?? '').type === text));
  });
}
