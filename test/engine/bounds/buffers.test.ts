import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { of } from 'rxjs';
import { Feeds } from '../../../engine/features/history/api/feeds.ts';
import { PendingLines } from '../../../engine/features/record/pending-lines.ts';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { EntryTable } from '../../../engine/hub/entries.ts';
import { MemoryStore } from '../../../engine/hub/memory-store.ts';
import { openLink } from '../../../engine/hub/redis-link.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { ResponseItems } from '../../../protocols/responses/socket/chain.ts';
import { responsesSocket } from '../../../protocols/responses/socket/socket.ts';
import { openSocket } from '../../support/faults/socket-client.ts';
import { until } from '../../support/until.ts';
import { responseEvents, startSocketUpstream } from '../../support/upstreams/socket-upstream.ts';
import { endpoint, serve } from '../http/rig.ts';
import { callOf, overSocket, read, start, testUpstreams } from '../upstream/harness.ts';

/*
 * Bounds of single buffers, of the gateway's own and of its libraries, that no other test reaches.
 */

/** Parts of one message that the library `ws` holds. */
const maxParts = 16_384;

for (const name of ['uws', 'node'] as const) {
  test(`${name}: no compression is agreed with a WebSocket client; its messages have a largest number of parts or bytes`, async (t) => {
    const socket = endpoint(() => of(), { formatFault: responsesClient.encodeFault, socket: responsesSocket });
    const { port } = await serve(t, [{ method: 'POST', path: '/v1/responses', endpoint: socket }], {
      limits: { bodyBytes: 8_000 },
      server: chooseServer(name),
    });
    const client = await openSocket(t, `http://127.0.0.1:${port}/v1/responses`);
    t.is(client.socket.extensions, '');
    // uWebSockets.js puts the parts together, `ws` keeps each.
    const part = name === 'uws' ? 'x' : '';
    for (let count = 0; count <= maxParts; count += 1) client.socket.send(part, { binary: false, fin: false });
    const { code } = await client.closed;
    t.is(code, name === 'uws' ? 1006 : 1008);
  });
}

const socketCall = (url: string, conversation = 'one') =>
  callOf(url, {
    url: new URL('/v1/responses', url),
    body: JSON.stringify({ model: 'm', stream: true, input: [{ role: 'user', content: 'hi' }] }),
    socket: overSocket(conversation),
  });

test("no compression is agreed with a provider's WebSocket; its messages have a largest number of parts", async (t) => {
  const upstreams = testUpstreams();
  const vendor = await startSocketUpstream({
    script: ({ over }) =>
      over === 'http' ? { events: responseEvents('resp_http', []) } : { events: [], ending: 'stall' },
  });
  t.teardown(async () => {
    await vendor.close();
    await upstreams.close();
  });
  const { outcome } = start(upstreams, socketCall(vendor.url));
  await until(() => vendor.requests.length === 1);
  const [socket] = vendor.open;
  t.is(socket?.extensions, '');
  for (let count = 0; count <= maxParts; count += 1) socket?.send('', { binary: false, fin: false });
  t.regex((await outcome).bytes.toString(), /resp_http/);
});

/** A server whose connections the test's end closes. */
const listenFor = async (t: ExecutionContext, connected: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};

for (const [who, environment, url, words] of [
  ['an upstream', () => ({}), (at: string) => at, /headers that are too large/],
  ['a proxy', (at: string) => ({ HTTPS_PROXY: at }), () => 'https://upstream.test', /sent an invalid response/],
] as const) {
  test(`the head without end of ${who} is read in part`, async (t) => {
    const port = await listenFor(t, (socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(`x: ${'y'.repeat(1_000)}\r\n`));
      };
      socket
        .once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\n');
          more();
        })
        .on('drain', more);
    });
    const at = `http://127.0.0.1:${port}`;
    const upstreams = testUpstreams({ environment: environment(at) });
    t.teardown(() => upstreams.close());
    const { fault } = await read(upstreams, callOf(url(at)));
    t.regex(fault?.message ?? '', words);
  });
}

test("a refused upgrade's body without end is read in part", async (t) => {
  let isClosed = false;
  const port = await listenFor(t, (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(10_000, 'x')));
    };
    socket
      .once('data', () => {
        socket.write('HTTP/1.1 429 Too Many\r\ncontent-type: application/json\r\n\r\n');
        more();
      })
      .on('drain', more)
      .on('close', () => {
        isClosed = true;
      });
  });
  const upstreams = testUpstreams();
  t.teardown(() => upstreams.close());
  const { answer, bytes } = await read(upstreams, socketCall(`http://127.0.0.1:${port}`));
  t.is(answer?.status, 429);
  t.true(bytes.length >= 65_536 && bytes.length < 2 * 65_536, `${bytes.length} bytes`);
  await until(() => isClosed);
});

test('of an answer with more than 1 MiB of items, a connection to a provider remembers none', (t) => {
  const items = new ResponseItems();
  const add = (bytes: number) =>
    items.add(
      Buffer.from(`{"type":"response.output_item.done","item":{"type":"message","text":"${'x'.repeat(bytes)}"}}`),
    );
  const end = Buffer.from('{"type":"response.completed","response":{"id":"resp_1"}}');
  const sent = { model: '"m"', count: 1, digest: '' };
  add(600_000);
  t.is(items.chain(end, sent)?.output.length, 1);
  add(600_000);
  t.is(items.chain(end, sent), undefined);
});

test('a process has at most 100 feeds', (t) => {
  const feeds = new Feeds();
  const open = Array.from({ length: 100 }, () => feeds.add());
  t.throws(() => feeds.add(), { message: /100 feeds are open/ });
  for (const feed of open) feeds.remove(feed);
  t.notThrows(() => feeds.remove(feeds.add()));
});

test('of the lines of requests, 5,000 wait for a disk that refuses, and the newest 1,000 are kept', (t) => {
  const lines = new PendingLines();
  for (let n = 1; n <= 5_000; n += 1) lines.add(n, `{"n":${n}}`);
  t.false(lines.isOverfull);
  for (let n = 5_001; n <= 6_000; n += 1) lines.add(n, `{"n":${n}}`);
  t.deepEqual([lines.unwritten, lines.isOverfull], [5_000, true]);
  t.is([...lines.newest()].length, 1_000);
});

test('what processes share has a bound: facts, and characters of what is kept', async (t) => {
  const facts = new EntryTable<{ readonly id: string; readonly value: string; readonly expiresMs: number }>(2);
  for (const id of ['a', 'b', 'c']) facts.put({ id, value: '', expiresMs: 1_000 + id.charCodeAt(0) }, 0);
  t.is(facts.live(0).length, 2);
  const store = new MemoryStore({ nowMs: () => 0, epoch: 'e', blobCharacters: 10_000 });
  const names = Array.from({ length: 10 }, (_, count) => `n${count}`);
  for (const name of names) store.putBlob({ name, value: 'x'.repeat(2_000), forMs: 1_000 });
  const left = (await store.readBlobs(names)).filter((value) => value !== null).length;
  t.true(left > 0 && left < 6, `${left} are left`);
});

test('beyond 2,000 commands that a store leaves unanswered, further ones fail at once', async (t) => {
  let isSilent = false;
  const port = await listenFor(t, (socket) => {
    // Each command is an array: `*` and its length. Source: RESP, "Sending commands to a Redis server".
    socket.on('data', (data) => {
      if (!isSilent) socket.write('+OK\r\n'.repeat(data.toString().match(/^\*\d+\r$/gm)?.length ?? 0));
    });
  });
  const link = await openLink({ urls: [new URL(`redis://127.0.0.1:${port}`)], primary: undefined, ca: undefined });
  t.teardown(() => link.close());
  // What is asked before there is a connection may never be answered.
  const isConnected = () => Promise.race([link.send('k', ['SET', 'k', 'v']), wait(50)]).catch(() => undefined);
  await until(async () => (await isConnected()) === 'OK');
  isSilent = true;
  let refused = 0;
  for (let count = 0; count < 2_100; count += 1) {
    link.send('k', ['GET', 'k']).catch(() => {
      refused += 1;
    });
  }
  await until(() => refused > 0);
  t.is(refused, 100);
});
