import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import test from 'ava';
import { proxyCredentials, proxyFor } from '../../../engine/upstream/proxy.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstreams/upstream.ts';
import { callOf, read, start, testUpstreams } from './harness.ts';

const both = { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:2' };
const rules: readonly (readonly [string, Readonly<Record<string, string>>, string | undefined])[] = [
  ['https://api.example', {}, undefined],
  ['https://api.example', both, 'http://p:1/'],
  ['http://api.example', both, 'http://q:2/'],
  ['https://api.example', { HTTP_PROXY: 'http://q:2' }, undefined],
  ['https://api.example', { ...both, https_proxy: 'http://lower:3' }, 'http://lower:3/'],
  ['https://api.example', { ...both, https_proxy: '' }, undefined],
  ['https://api.example', { HTTPS_PROXY: 'proxy.corp:3128' }, 'http://proxy.corp:3128/'],
  ['https://api.example', { HTTPS_PROXY: ' https://s:1 ' }, 'https://s:1/'],
  ['https://localhost', both, undefined],
  ['http://a.localhost:1', both, undefined],
  ['http://127.0.0.1:8080', both, undefined],
  ['http://127.8.0.1', both, undefined],
  ['http://[::1]:8080', both, undefined],
  ['https://api.example', { ...both, NO_PROXY: '*' }, undefined],
  ['https://api.example', { ...both, NO_PROXY: 'a.b, api.example' }, undefined],
  ['https://api.example', { ...both, no_proxy: 'example' }, undefined],
  ['https://api.example', { ...both, NO_PROXY: '.example' }, undefined],
  ['https://api.example', { ...both, NO_PROXY: '*.EXAMPLE' }, undefined],
  ['https://api.example', { ...both, NO_PROXY: 'pi.example' }, 'http://p:1/'],
  ['https://api.example', { ...both, NO_PROXY: 'api.example:443' }, undefined],
  ['https://api.example', { ...both, NO_PROXY: 'api.example:8443' }, 'http://p:1/'],
  ['http://10.0.0.5', { ...both, NO_PROXY: '10.0.0.5' }, undefined],
  ['http://[fd00::1]', { ...both, NO_PROXY: 'fd00::1' }, undefined],
  ['http://10.2.0.5', { ...both, NO_PROXY: '10.0.0.0/8' }, undefined],
  ['http://11.2.0.5', { ...both, NO_PROXY: '10.0.0.0/8' }, 'http://q:2/'],
  ['http://172.31.9.9:8000', { ...both, NO_PROXY: 'corp.example, 172.16.0.0/12' }, undefined],
  ['http://172.32.0.1', { ...both, NO_PROXY: '172.16.0.0/12' }, 'http://q:2/'],
  ['http://10.2.0.5', { ...both, NO_PROXY: '10.*' }, undefined],
  ['http://192.168.4.5', { ...both, NO_PROXY: '192.168.*.*' }, undefined],
  ['http://192.169.4.5', { ...both, NO_PROXY: '192.168.*' }, 'http://q:2/'],
  ['http://[fd12::1]', { ...both, NO_PROXY: 'fd00::/8' }, undefined],
  ['http://[fd12::1]', { ...both, NO_PROXY: '[fd12::]/64' }, undefined],
  ['http://[fe80::1]', { ...both, NO_PROXY: 'fd00::/8, 0.0.0.0/0' }, 'http://q:2/'],
  ['http://10.2.0.5', { ...both, NO_PROXY: '10.0.0.0/33, 10.0.0/8, 999.*' }, 'http://q:2/'],
  ['http://api.example', { ...both, NO_PROXY: '0.0.0.0/0' }, 'http://q:2/'],
  ['https://api.example', { ALL_PROXY: 'http://all:4' }, 'http://all:4/'],
  ['http://api.example', { all_proxy: 'http://all:4', HTTPS_PROXY: 'http://p:1' }, 'http://all:4/'],
  ['https://api.example', { ALL_PROXY: 'http://all:4', HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
  ['https://api.example', { ALL_PROXY: 'http://all:4', HTTPS_PROXY: '' }, undefined],
  ['https://api.example', { ALL_PROXY: 'http://all:4', NO_PROXY: 'example' }, undefined],
  ['http://127.0.0.1', { ALL_PROXY: 'http://all:4' }, undefined],
];

for (const [url, environment, expected] of rules) {
  test(`${url} with ${JSON.stringify(environment)}`, (t) => {
    t.is(proxyFor(new URL(url), environment)?.href, expected);
  });
}

test("a proxy that can't be used is said to be so, without its text", (t) => {
  for (const value of ['socks5://user:secret@p:1', 'http://', 'http://user:secret@p:99999']) {
    const error = t.throws(() => proxyFor(new URL('https://api.example'), { HTTPS_PROXY: value }));
    t.is(error?.message, 'The environment variable HTTPS_PROXY is not the URL of an http or https proxy.');
  }
});

test('a proxy whose credentials can not be decoded fails the request that would use it, and nothing else', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['ok'] }));
  t.teardown(upstream.close);
  for (const credentials of ['user:50%secret', 'us%er:secret', 'user:%zz']) {
    const environment = {
      HTTP_PROXY: `http://${credentials}@127.0.0.1:1`,
      HTTPS_PROXY: `http://${credentials}@127.0.0.1:1`,
    };
    const upstreams = testUpstreams({ environment });
    for (const [scheme, name] of [
      ['http', 'HTTP_PROXY'],
      ['https', 'HTTPS_PROXY'],
    ] as const) {
      const { fault } = await read(upstreams, callOf(`${scheme}://api.example`));
      t.is(fault?.kind, 'misconfigured');
      t.regex(
        fault?.message ?? '',
        new RegExp(`^The environment variable ${name} has a user name or password with an invalid %`),
      );
      t.notRegex(fault?.message ?? '', /secret|zz/);
    }
    t.is((await read(upstreams, callOf(upstream.url))).error, undefined, 'loopback is reached directly');
  }
});

test('credentials', (t) => {
  t.is(proxyCredentials(new URL('http://p:1')), undefined);
  t.is(
    proxyCredentials(new URL('http://us%40er:pa%3Ass@p:1')),
    `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`,
  );
});

/** A proxy that leads every host to `port`, as real ones do: CONNECT, and plain requests by their whole URL. */
const startProxy = async (port: number, refusal = '') => {
  const seen: IncomingMessage[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((incoming, response) => {
    seen.push(incoming);
    const { pathname, search } = new URL(incoming.url ?? '');
    const onward = request({
      port,
      host: '127.0.0.1',
      path: pathname + search,
      method: 'POST',
      headers: incoming.headers,
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    seen.push(incoming);
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (refusal !== '') return socket.end(refusal);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => {});
    socket.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server's address is always of this kind; `string` is for pipes.
  const url = `http://us:pw@127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen, sockets, close: () => server.close() };
};

test('a plain request goes through a proxy by its whole URL, with the credentials', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['through'] }));
  t.teardown(() => upstream.close());
  const proxy = await startProxy(upstream.port);
  const upstreams = testUpstreams({ environment: { HTTP_PROXY: proxy.url } });
  for (let count = 0; count < 2; count += 1) {
    const { bytes, error } = await read(upstreams, callOf('http://upstream.test:8080'));
    t.is(error, undefined);
    t.is(bytes.toString(), 'through');
  }
  t.is(proxy.seen[0]?.url, 'http://upstream.test:8080/v1/messages?beta=true');
  t.is(proxy.seen[0]?.headers['proxy-authorization'], `Basic ${Buffer.from('us:pw').toString('base64')}`);
  t.is(upstream.requests[0]?.url, '/v1/messages?beta=true');
  t.is(upstream.requests[0]?.headers.host, 'upstream.test:8080');
  t.deepEqual(upstream.requests[0]?.body, { model: 'm' });
  await upstreams.close();
  proxy.close();
});

test("a proxy's refusal is the reason given", async (t) => {
  const proxy = await startProxy(9, 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  const upstreams = testUpstreams({ environment: { HTTPS_PROXY: proxy.url } });
  const { fault } = await read(upstreams, callOf('https://upstream.test'));
  t.is(fault?.kind, 'upstream-unreachable');
  t.is(
    fault?.message,
    `The proxy ${new URL(proxy.url).host} answered with status 407 when asked to connect to upstream.test.`,
  );
  t.is(proxy.seen[0]?.url, 'upstream.test:443');
  t.is(proxy.seen[0]?.headers['proxy-authorization'], `Basic ${Buffer.from('us:pw').toString('base64')}`);
  await until(() => proxy.sockets.size === 0);
  proxy.close();
});

test('a proxy that closes, or talks nonsense', async (t) => {
  for (const [refusal, words] of [
    ['HTTP/1.1 ', /closed the connection/],
    ['SSH-2.0\r\n\r\n', /invalid response/],
  ] as const) {
    const proxy = await startProxy(9, refusal);
    const upstreams = testUpstreams({ environment: { HTTPS_PROXY: proxy.url } });
    const { fault } = await read(upstreams, callOf('https://upstream.test'));
    t.is(fault?.kind, 'upstream-unreachable');
    t.regex(fault?.message ?? '', words);
    proxy.close();
  }
});

test("no connection to the proxy is the upstream's not being reached", async (t) => {
  const gone = await startUpstream(() => 'never');
  await gone.close();
  const upstreams = testUpstreams({ environment: { HTTP_PROXY: gone.url } });
  const { fault } = await read(upstreams, callOf('http://upstream.test'));
  t.is(fault?.kind, 'upstream-unreachable');
  t.is(fault?.message, `The proxy 127.0.0.1:${gone.port} can't be reached: it refused the connection.`);
});

test('an abort while the proxy connects closes the tunnel at once', async (t) => {
  const upstream = await startUpstream(() => 'never');
  t.teardown(() => upstream.close());
  const proxy = await startProxy(upstream.port);
  t.teardown(() => proxy.close());
  const upstreams = testUpstreams({ environment: { HTTPS_PROXY: proxy.url } });
  const { subscription } = start(upstreams, callOf('https://upstream.test'));
  await until(() => proxy.sockets.size === 1);
  subscription.unsubscribe();
  await until(() => proxy.sockets.size === 0);
  t.is(upstream.requests.length, 0);
});
