import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test from 'ava';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstreams/upstream.ts';
import { callOf, read, start, testUpstreams } from './harness.ts';

test('while connecting', async (t) => {
  // TLS is being set up with a server that says nothing.
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is always of this kind; `string` is for pipes.
  const { port } = server.address() as AddressInfo;
  const { subscription } = start(testUpstreams(), callOf(`https://127.0.0.1:${port}`));
  await until(() => sockets.length === 1);
  subscription.unsubscribe();
  await until(() => sockets[0]?.closed === true);
  t.is(sockets.length, 1);
});

test('before the first turn of the event loop: no connection is made', async (t) => {
  const upstream = await startUpstream(() => ({}));
  t.teardown(() => upstream.close());
  start(testUpstreams(), callOf(upstream.url)).subscription.unsubscribe();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(upstream.requests.length, 0);
  t.is(upstream.openSockets, 0);
});

test('while queued: it is never sent, and the queue continues', async (t) => {
  const upstream = await startUpstream((_request, count) => ({ pieces: [count === 1 ? 50 : 0, String(count)] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams({ connectionsPerProvider: 1 });
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
});

test('the one before is aborted: a queued call gets a connection of its own', async (t) => {
  const upstream = await startUpstream((_request, count) => (count === 1 ? 'never' : { pieces: ['b'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams({ connectionsPerProvider: 1 });
  const first = start(upstreams, callOf(upstream.url));
  const second = start(upstreams, callOf(upstream.url));
  await until(() => upstream.requests.length === 1);
  first.subscription.unsubscribe();
  const { bytes, error } = await second.outcome;
  t.is(error, undefined);
  t.is(bytes.toString(), 'b');
});

test('while waiting for the head', async (t) => {
  const upstream = await startUpstream(() => 'never');
  t.teardown(() => upstream.close());
  const { subscription } = start(testUpstreams(), callOf(upstream.url));
  await until(() => upstream.requests.length === 1);
  subscription.unsubscribe();
  await until(() => upstream.openSockets === 0);
  t.is(upstream.requests.length, 1);
});

test('amid the body', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'], finish: 'stall' }));
  t.teardown(() => upstream.close());
  const { subscription, chunks } = start(testUpstreams(), callOf(upstream.url));
  await until(() => chunks.length === 1);
  subscription.unsubscribe();
  await until(() => upstream.openSockets === 0);
  t.is(upstream.requests.length, 1);
});

test('by its body alone: the call completes', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'], finish: 'stall' }));
  t.teardown(() => upstream.close());
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
  await until(() => upstream.openSockets === 0);
  t.is(upstream.requests.length, 1);
});

test('inside the callback that brings a chunk', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 'b', 'c'] }));
  t.teardown(() => upstream.close());
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
  await until(() => upstream.openSockets === 0);
  t.is((await read(upstreams, callOf(upstream.url))).bytes.toString(), 'abc');
});

test('while the body is held back, whatever the head said of the connection', async (t) => {
  for (const connection of ['keep-alive', 'close']) {
    const upstream = await startUpstream(() => ({
      headers: { connection },
      pieces: Array.from({ length: 200 }, () => new Uint8Array(65_536)),
    }));
    t.teardown(() => upstream.close());
    const call = callOf(upstream.url);
    const { subscription, chunks } = start(testUpstreams(), call);
    await until(() => chunks.length > 0);
    call.backpressure.pause();
    await new Promise((resolve) => setTimeout(resolve, 50));
    subscription.unsubscribe();
    await until(() => upstream.openSockets === 0);
    t.is(upstream.requests.length, 1);
  }
});

test('a thousand aborts at random moments leave nothing behind', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 1, 'b', 1, 'c'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams({ connectionsPerProvider: 20 });
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
});
