import test from 'ava';
import { of } from 'rxjs';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { UnseenMemory } from '../../../engine/http/socket/unseen-memory.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { responsesSocket } from '../../../protocols/responses/socket/socket.ts';
import { openSocket } from '../../support/faults/socket-client.ts';
import { until } from '../../support/until.ts';
import { endpoint, serve } from './rig.ts';

/*
 * What WebSocket clients make the servers hold of their messages, in sum.
 */

const mebibyte = 1 << 20;
const limits = { bodyBytes: 4 * mebibyte, bodiesBytes: 16 * mebibyte };
const clients = 12;
const sentBytes = 3 * mebibyte;

for (const name of ['uws', 'node'] as const) {
  const setUp = async (t: Parameters<typeof serve>[0]) => {
    const socket = endpoint(() => of(), { formatFault: responsesClient.encodeFault, socket: responsesSocket });
    const { port } = await serve(t, [{ method: 'POST', path: '/v1/responses', endpoint: socket }], {
      limits,
      server: chooseServer(name),
    });
    let open = clients;
    const sockets = await Promise.all(
      Array.from({ length: clients }, () => openSocket(t, `http://127.0.0.1:${port}/v1/responses`)),
    );
    for (const { closed } of sockets) void closed.then(() => (open -= 1));
    return { sockets, open: () => open };
  };

  test(`${name}: parts of messages have a bound in sum, although pings are answered between them`, async (t) => {
    const { sockets, open } = await setUp(t);
    const part = Buffer.alloc(sentBytes / 6, 'x');
    for (let sent = 0; sent < sentBytes; sent += part.length) {
      for (const { socket } of sockets) {
        socket.send(part, { binary: false, fin: false });
        socket.ping();
      }
    }
    await until(() => open() * sentBytes <= limits.bodiesBytes + sentBytes);
    t.true(open() < clients);
  });

  test(`${name}: so has the room that large messages leave with their connections`, async (t) => {
    const { sockets, open } = await setUp(t);
    const message = JSON.stringify({ type: 'nothing', text: 'x'.repeat(sentBytes) });
    for (const client of sockets) {
      client.send(message);
      // An open connection gets an error; a closed one gets nothing.
      await client.next().catch(() => undefined);
    }
    if (name === 'uws') await until(() => open() * sentBytes <= limits.bodiesBytes + sentBytes);
    // `node:http` leaves none.
    t.is(open() < clients, name === 'uws');
  });
}

test('growth beyond the bound is told once, and measured from where it was least', (t) => {
  let bytes = 50;
  let told = 0;
  const memory = new UnseenMemory(
    () => 100,
    () => (told += 1),
    () => bytes,
  );
  const after = (...measures: readonly number[]) => {
    told = 0;
    for (const measure of measures) {
      bytes = measure;
      memory.tick();
    }
    return told;
  };
  t.is(after(50, 150, 90, 150), 0);
  t.is(after(151), 1);
  t.is(after(151, 200, 251), 0, 'what is still held is told no second time');
  t.is(after(252), 1);
  t.is(after(20, 120), 0);
  t.is(after(121), 1);
});
