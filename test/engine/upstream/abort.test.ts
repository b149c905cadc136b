import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test from 'ava';
import { startUpstream } from '../../support/upstream.ts';
import { callOf, read, start, testUpstreams, until } from './harness.ts';

/** How soon the upstream must see that its connection is closed, in milliseconds. */
const promptMs = 100;

test('while connecting', async (t) => {
  const times: number[] = [];
  // A busy machine may delay one of them; that one is prompt shows that nothing waits for a timer.
  for (let attempt = 0; attempt < 3 && !times.some((ms) => ms < promptMs); attempt += 1) times.push(await leave());
  t.true(Math.min(...times) < promptMs, times.join(', '));
});

/** Leaves while TLS is being set up with a server that says nothing; milliseconds until its socket is closed. */
const leave = async (): Promise<number> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is always of this kind; `string` is for pipes.
  const { port } = server.address() as AddressInfo;
  const { subscription } = start(testUpstreams(), callOf(`https://127.0.0.1:${port}`));
  await until(() => sockets.length === 1);
  subscription.unsubscribe();
  const ms = await until(() => sockets[0]?.closed === true);
  server.close();
  return ms;
};

test('before the first turn of the event loop: no connection is made', async (t) => {
  const upstream = await startUpstream(() => ({}));
  start(testUpstreams(), callOf(upstream.url)).subscription.unsubscribe();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(upstream.requests.length, 0);
  t.is(upstream.openSockets, 0);
  await upstream.close();
});

test('while queued: it is never sent, and the queue goes on', async (t) => {
  const upstream = await startUpstream((_request, count) => ({ pieces: [count === 1 ? 50 : 0, String(count)] }));
  const upstreams = testUpstreams({ connections: 1 });
  const first = start(upstreams, callOf(upstream.url, { body: '"first"' }));
  const queued = start(upstreams, callOf(upstream.url, { body: '"queued"' }));
  const third = start(upstreams, callOf(upstream.url, { body: '"third"' }));
  queued.subscription.unsubscribe();
  await Promise.all([first.outcome, third.outcome]);
  t.deepEqual(
    upstream.requests.map(({ body }) => body),
    ['first', 'third'],
  );
  t.is(upstream.totalSockets, 1);
  await upstream.close();
});

test('the one before is aborted: a queued call gets a connection of its own', async (t) => {
  const upstream = await startUpstream((_request, count) => (count === 1 ? 'never' : { pieces: ['b'] }));
  const upstreams = testUpstreams({ connections: 1 });
  const first = start(upstreams, callOf(upstream.url));
  const second = start(upstreams, callOf(upstream.url));
  await until(() => upstream.requests.length === 1);
  first.subscription.unsubscribe();
  const { bytes, error } = await second.outcome;
  t.is(error, undefined);
  t.is(bytes.toString(), 'b');
  await upstream.close();
});

test('while waiting for the head', async (t) => {
  const upstream = await startUpstream(() => 'never');
  const { subscription } = start(testUpstreams(), callOf(upstream.url));
  await until(() => upstream.requests.length === 1);
  subscription.unsubscribe();
  t.true((await until(() => upstream.openSockets === 0)) < promptMs);
  await upstream.close();
});

test('amid the body', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'], finish: 'stall' }));
  const { subscription, chunks } = start(testUpstreams(), callOf(upstream.url));
  await until(() => chunks.length === 1);
  subscription.unsubscribe();
  t.true((await until(() => upstream.openSockets === 0)) < promptMs);
  await upstream.close();
});

test('by its body alone: the call completes', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'], finish: 'stall' }));
  const done = new Promise<void>((resolve, reject) => {
    testUpstreams()
      .call(callOf(upstream.url))
      .subscribe({
        next: ({ body }) => {
          const subscription = body.subscribe(() => setImmediate(() => subscription.unsubscribe()));
        },
        error: reject,
        complete: resolve,
      });
  });
  await done;
  t.true((await until(() => upstream.openSockets === 0)) < promptMs);
  await upstream.close();
});

test('inside the callback that brings a chunk', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 'b', 'c'] }));
  const upstreams = testUpstreams();
  for (let round = 0; round < 20; round += 1) {
    await new Promise<void>((resolve) => {
      const outer = upstreams.call(callOf(upstream.url)).subscribe(({ body }) => {
        body.subscribe(() => {
          outer.unsubscribe();
          resolve();
        });
      });
    });
  }
  t.true((await until(() => upstream.openSockets === 0)) < promptMs);
  t.is((await read(upstreams, callOf(upstream.url))).bytes.toString(), 'abc');
  await upstream.close();
});

test('while the body is held back, whatever the head said of the connection', async (t) => {
  for (const connection of ['keep-alive', 'close']) {
    const upstream = await startUpstream(() => ({
      headers: { connection },
      pieces: Array.from({ length: 200 }, () => new Uint8Array(65_536)),
    }));
    const call = callOf(upstream.url);
    const { subscription, chunks } = start(testUpstreams(), call);
    await until(() => chunks.length > 0);
    call.flow.pause();
    await new Promise((resolve) => setTimeout(resolve, 50));
    subscription.unsubscribe();
    t.true((await until(() => upstream.openSockets === 0)) < promptMs);
    await upstream.close();
  }
});

test('a thousand aborts at random moments leave nothing behind', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 1, 'b', 1, 'c'] }));
  const upstreams = testUpstreams({ connections: 20 });
  const before = process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length;
  for (let round = 0; round < 20; round += 1) {
    const calls = Array.from({ length: 50 }, () => start(upstreams, callOf(upstream.url)));
    await Promise.all(
      calls.map(async ({ subscription }, index) => {
        await new Promise((resolve) => setTimeout(resolve, (index * 7) % 13));
        subscription.unsubscribe();
      }),
    );
  }
  await upstreams.close();
  await until(() => upstream.openSockets === 0);
  await until(() => process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length <= before);
  t.pass();
  await upstream.close();
});
