import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { moduleUrl } from '../../../engine/paths.ts';
import { startSocketUpstream } from '../../support/upstreams/socket-upstream.ts';
import { certificate, certificateKey } from './certificate.ts';
import { callOf, read, testUpstreams } from './harness.ts';

const startTls = async () => {
  const resumed: boolean[] = [];
  const server = createServer({ cert: certificate, key: certificateKey }, (incoming, response) => {
    incoming.resume().on('end', () => {
      response.writeHead(200, { connection: 'close' });
      response.write('over ');
      setTimeout(() => response.end('TLS'), 20);
    });
  });
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server's address is always of this kind; `string` is for pipes.
  return { server, resumed, port: (server.address() as AddressInfo).port };
};

test('R1 an untrusted certificate is rejected with its reason', async (t) => {
  const { server, port } = await startTls();
  const { fault } = await read(testUpstreams(), callOf(`https://127.0.0.1:${port}`));
  t.is(fault?.kind, 'upstream-unreachable');
  t.is(
    fault?.message,
    `The upstream 127.0.0.1:${port} can't be reached: its TLS certificate can't be trusted (DEPTH_ZERO_SELF_SIGNED_CERT).`,
  );
  server.close();
});

/** Runs `tls-client.ts` in a process that trusts the certificate. */
const runClient = async (port: number | string, over: 'http' | 'socket'): Promise<unknown> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-tls-'));
  await writeFile(join(folder, 'ca.pem'), certificate);
  // Node reads this variable when it starts and at no other time.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      fileURLToPath(moduleUrl('test/engine/upstream/tls-client', 'test/engine/upstream/tls-client.ts')),
      `${port}`,
      over,
    ],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } },
  );
  await rm(folder, { recursive: true });
  return JSON.parse(stdout);
};

test('with the certificate trusted: answers, resumed sessions, a proxy in between', async (t) => {
  const { server, port, resumed } = await startTls();
  t.deepEqual(await runClient(port, 'http'), {
    direct: ['200 over TLS', '200 over TLS'],
    wrongName: "its TLS certificate can't be trusted (ERR_TLS_CERT_ALTNAME_INVALID)",
    proxied: ['200 over TLS', '200 over TLS'],
    connects: ['upstream.test:443', 'upstream.test:443'],
  });
  t.true(resumed.includes(true), 'sessions are resumed');
  server.close();
});

test('WebSockets over TLS, directly and through a proxy', async (t) => {
  const upstream = await startSocketUpstream({ tls: { cert: certificate, key: certificateKey } });
  t.teardown(upstream.close);
  t.deepEqual(await runClient(new URL(upstream.url).port, 'socket'), {
    direct: ['200 over websocket', '200 over websocket'],
    wrongName: "its TLS certificate can't be trusted (ERR_TLS_CERT_ALTNAME_INVALID)",
    proxied: ['200 over websocket', '200 over websocket'],
    connects: ['upstream.test:443'],
  });
  t.deepEqual(
    upstream.requests.map(({ over, connection, headers, body }) => [over, connection, headers.host, body.input.length]),
    [
      ['socket', 1, new URL(upstream.url).host, 1],
      ['socket', 1, new URL(upstream.url).host, 1],
      ['socket', 2, 'upstream.test', 1],
      ['socket', 2, 'upstream.test', 1],
    ],
  );
});
