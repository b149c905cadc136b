import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { UpstreamOptions } from '../../../engine/upstream/create-upstreams.ts';
import { testTime } from '../../support/test-time.ts';
import { until } from '../../support/until.ts';
import {
  messageItem,
  responseEvents,
  type SocketScript,
  startSocketUpstream,
} from '../../support/upstreams/socket-upstream.ts';
import { callOf, overSocket, read, start, testUpstreams } from './harness.ts';

/*
 * How many WebSockets are open toward providers, how long, and what becomes of the requests beyond.
 */

const minuteMs = 60_000;

/** Begins an answer, and leaves it open. */
const stalls: SocketScript = () => ({ events: responseEvents('resp_1', []).slice(0, 1), ending: 'stall' });

const setUp = async (
  t: ExecutionContext,
  { script, origins = 1, ...options }: Partial<UpstreamOptions> & { script?: SocketScript; origins?: number } = {},
) => {
  const upstreams = testUpstreams(options);
  const vendors = await Promise.all(
    Array.from({ length: origins }, () => startSocketUpstream({ ...(script && { script }) })),
  );
  t.teardown(async () => {
    await Promise.all(vendors.map(({ close }) => close()));
    await upstreams.close();
  });
  const call = (conversation: string, input: readonly object[] = [{ role: 'user', content: 'hi' }], at = 0) =>
    callOf(vendors[at]?.url ?? '', {
      url: new URL('/v1/responses', vendors[at]?.url),
      body: JSON.stringify({ model: 'm', stream: true, input }),
      socket: overSocket(conversation),
    });
  const came = (at = 0) => vendors[at]?.requests.map(({ over }) => over) ?? [];
  const sockets = (at = 0) => came(at).filter((over) => over === 'socket').length;
  return { upstreams, vendors, call, came, sockets };
};

test('a connection is replaced before the vendor ends it, and the request is sent whole', async (t) => {
  const time = testTime();
  const { upstreams, vendors, call } = await setUp(t, { clock: time.clock });
  const [vendor] = vendors;
  const input: object[] = [];
  const ask = async () => {
    input.push({ role: 'user', content: 'more' });
    const { bytes, fault } = await read(upstreams, call('one', input));
    t.is(fault, undefined);
    t.regex(bytes.toString(), /response\.completed/);
    const count = vendor?.requests.length ?? 0;
    input.push(messageItem(String(count), `answer ${count}`));
    return vendor?.requests.at(-1);
  };
  const connections: (number | undefined)[] = [];
  for (let minute = 0; minute < 65; minute += 1) {
    const sent = await ask();
    const isNew = sent?.connection !== connections.at(-1);
    t.deepEqual([sent?.over, sent?.body.input.length], ['socket', isNew ? input.length - 1 : 1], `minute ${minute}`);
    connections.push(sent?.connection);
    time.pass(minuteMs / 2);
    await vendor?.answered();
    time.pass(minuteMs / 2 - 1);
  }
  // Vendors end a connection after an hour.
  const replacedAt = connections.indexOf(2);
  t.true(replacedAt >= 50 && replacedAt < 60, String(replacedAt));
  t.deepEqual([connections[0], connections[64]], [1, 2]);
  await until(() => vendor?.state.closed === 1);
  t.deepEqual(vendor?.complaints, []);
});

test('an answer that lasts longer than its connection should is not ended', async (t) => {
  const time = testTime();
  const { upstreams, vendors, call } = await setUp(t, { script: stalls, clock: time.clock, idleMs: 0 });
  const asked = start(upstreams, call('one'));
  await until(() => asked.chunks.length === 1);
  for (let passedMs = 0; passedMs < 59 * minuteMs; passedMs += minuteMs / 4) {
    time.pass(minuteMs / 4);
    await vendors[0]?.answered();
  }
  const [webSocket] = vendors[0]?.open ?? [];
  for (const event of responseEvents('resp_1', []).slice(1)) webSocket?.send(JSON.stringify(event));
  t.regex((await asked.outcome).bytes.toString(), /response\.completed/);
  time.pass(minuteMs / 2);
  await until(() => vendors[0]?.state.closed === 1);
});

test('at most 64 connections to one origin, and 4 of one conversation; the others are made over HTTP', async (t) => {
  const { upstreams, vendors, call, came, sockets } = await setUp(t, { script: stalls });
  for (let count = 0; count < 5; count += 1) start(upstreams, call('one'));
  await until(() => came().length === 5);
  t.is(sockets(), 4);
  for (let count = 0; count < 61; count += 1) start(upstreams, call(`conversation ${count}`));
  await until(() => came().length === 66);
  t.deepEqual([sockets(), vendors[0]?.open.size], [64, 64]);
});

test('fewer if the configuration allows fewer; the longest idle one makes room', async (t) => {
  const time = testTime();
  const { upstreams, vendors, call } = await setUp(t, { connectionsPerProvider: 2, clock: time.clock });
  const [vendor] = vendors;
  const inputs: Record<string, object[]> = {};
  const connectionOf = async (conversation: string) => {
    inputs[conversation] ??= [];
    inputs[conversation].push({ role: 'user', content: 'more' });
    await read(upstreams, call(conversation, inputs[conversation]));
    const count = vendor?.requests.length ?? 0;
    inputs[conversation].push(messageItem(String(count), `answer ${count}`));
    time.pass(1);
    return vendor?.requests.at(-1)?.connection;
  };
  t.deepEqual([await connectionOf('a'), await connectionOf('b'), await connectionOf('c')], [1, 2, 3]);
  await until(() => vendor?.state.closed === 1);
  t.is(await connectionOf('b'), 2, 'the one of the first conversation made room');
  t.is(await connectionOf('a'), 4);
  await until(() => vendor?.state.closed === 2);
  t.is(await connectionOf('b'), 2, 'the third conversation was idle longer');
  t.is(vendor?.open.size, 2);
});

test('at most 256 connections in all', async (t) => {
  const { upstreams, vendors, call, came, sockets } = await setUp(t, { script: stalls, origins: 5 });
  for (let at = 0; at < 4; at += 1) {
    for (let count = 0; count < 64; count += 1) start(upstreams, call(`conversation ${count}`, undefined, at));
    await until(() => sockets(at) === 64);
  }
  start(upstreams, call('one', undefined, 4));
  await until(() => came(4).length === 1);
  t.deepEqual(came(4), ['http']);
  for (const webSocket of vendors[0]?.open ?? []) webSocket.terminate();
  await until(() => vendors[0]?.open.size === 0);
  await until(() => {
    start(upstreams, call('two', undefined, 4));
    return sockets(4) > 0;
  });
  t.true(came(4).includes('socket'), 'closed connections make room');
});

test("a proxy that doesn't lead to the provider is the fault of the call, and says nothing about WebSocket", async (t) => {
  const asked: string[] = [];
  const proxy = createServer().on('connect', (incoming, socket) => {
    asked.push(incoming.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  // A TCP server's address is always of this kind; `string` is for pipes.
  const { port } = proxy.address() as AddressInfo;
  const { upstreams, call } = await setUp(t, { environment: { HTTPS_PROXY: `http://127.0.0.1:${port}` } });
  for (let count = 1; count < 3; count += 1) {
    const url = new URL('https://upstream.test/v1/responses');
    const { fault } = await read(upstreams, { ...call('one'), url });
    t.is(fault?.kind, 'upstream-unreachable');
    t.regex(fault?.message ?? '', /proxy .* answered with status 403/);
    t.is(asked.length, count);
  }
  t.is(asked[0], 'upstream.test:443');
});
