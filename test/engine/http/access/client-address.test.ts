import { connect } from 'node:net';
import test from 'ava';
import { NEVER, of } from 'rxjs';
import { trustedProxies } from '../../../../engine/http/access/access.ts';
import { until } from '../../../support/until.ts';
import { endpoint, raw, serve, statusesOf, text } from '../rig.ts';

const proxies = trustedProxies(['10.0.0.0/8', '127.0.0.1', 'fd00::/8']);

for (const [remoteAddress, proxied, forwarded, client] of [
  ['10.1.2.3', '', '203.0.113.7', '203.0.113.7'],
  ['11.0.0.1', '', '203.0.113.7', '11.0.0.1'],
  ['11.0.0.1', '203.0.113.7', undefined, '11.0.0.1'],
  ['127.0.0.2', '', '203.0.113.7', '127.0.0.2'],
  ['10.1.2.3', '', undefined, '10.1.2.3'],
  ['10.1.2.3', '', '', '10.1.2.3'],
  // What a client says itself comes first.
  ['10.1.2.3', '', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
  ['10.1.2.3', '', '1.1.1.1, 203.0.113.7, 10.9.9.9,fd00::9', '203.0.113.7'],
  ['10.1.2.3', '', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
  ['10.1.2.3', '', '203.0.113.7, unknown', '10.1.2.3'],
  ['10.1.2.3', '', '203.0.113.7, 10.0.0.5, _hidden', '10.1.2.3'],
  ['10.1.2.3', '', 'evil.example', '10.1.2.3'],
  ['10.1.2.3', '', '203.0.113.7:50123', '203.0.113.7'],
  ['10.1.2.3', '', '[2001:db8:0:0::7]:50123', '2001:db8::7'],
  ['10.1.2.3', '', '2001:DB8:0:0::7', '2001:db8::7'],
  ['10.1.2.3', '', '::ffff:203.0.113.7', '203.0.113.7'],
  ['10.1.2.3', '', 'fe80::1%eth0', '10.1.2.3'],
  ['fd00::1', '', '203.0.113.7', '203.0.113.7'],
  ['10.1.2.3', '203.0.113.7', undefined, '203.0.113.7'],
  // The proxy's own word comes before what the client has sent through it.
  ['10.1.2.3', '203.0.113.7', '1.1.1.1', '203.0.113.7'],
  ['10.1.2.3', '10.4.4.4', '203.0.113.7', '203.0.113.7'],
] as const) {
  test(`${remoteAddress}, PROXY ${proxied || 'none'}, X-Forwarded-For ${forwarded ?? 'none'}: ${client}`, (t) => {
    const headers = forwarded === undefined ? [] : ['x-forwarded-for', forwarded];
    t.is(proxies.clientOf({ remoteAddress, proxiedAddress: () => proxied, headers }), client);
  });
}

const get = (path: string, forwarded: string) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${forwarded}\r\n\r\n`;

const routes = [
  {
    method: 'GET',
    path: '/who',
    endpoint: endpoint(({ remoteAddress }) => of(text(`you are ${remoteAddress}`)), { forClients: true }),
  },
  { method: 'GET', path: '/never', endpoint: endpoint(() => NEVER, { forClients: true }) },
];

test('limits are per client of a trusted proxy, and the proxy has as many connections as it needs', async (t) => {
  const limits = { requestsPerClient: 1, connectionsPerClient: 1 };
  const { port } = await serve(t, routes, { proxies: ['127.0.0.0/8'], limits });
  const listener = await serve(t, routes, { limits, proxies: ['127.0.0.0/8'] });
  const held = ['203.0.113.1', '203.0.113.2'].map((client) => {
    const socket = connect(listener.port, '127.0.0.1', () => socket.write(get('/never', client)));
    t.teardown(() => socket.destroy());
    return socket;
  });
  await until(() => listener.activeRequests === held.length);
  t.deepEqual(statusesOf((await raw(listener.port, get('/who', '203.0.113.1'))).text), [503]);
  t.true((await raw(listener.port, get('/who', '203.0.113.3'))).text.endsWith('you are 203.0.113.3'));
  t.true((await raw(port, get('/who', '203.0.113.1'))).text.endsWith('you are 203.0.113.1'));
});

test('an untrusted client is who it is, whatever it says', async (t) => {
  const { port } = await serve(t, routes, { proxies: ['10.0.0.0/8'] });
  t.true((await raw(port, get('/who', '203.0.113.1'))).text.endsWith('you are 127.0.0.1'));
});

test('the PROXY protocol is understood by uWebSockets.js, and refused by node:http', async (t) => {
  // Version 2, TCP over IPv4: 203.0.113.7:12345 to 10.0.0.1:80. Source: HAProxy, "The PROXY protocol", section 2.2.
  const head = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb0071070a00000130390050', 'hex');
  const bytes = Buffer.concat([head, Buffer.from('GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n')]);
  const trusting = await serve(t, routes, { proxies: ['127.0.0.1'] });
  const strict = await serve(t, routes);
  const [told, untold] = [await raw(trusting.port, bytes), await raw(strict.port, bytes)];
  if (trusting.http.server === 'node')
    t.deepEqual(
      [told, untold].flatMap(({ text }) => statusesOf(text)),
      [400, 400],
    );
  else {
    t.true(told.text.endsWith('you are 203.0.113.7'));
    t.true(untold.text.endsWith('you are 127.0.0.1'));
  }
});
