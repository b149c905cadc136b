import test, { type ExecutionContext } from 'ava';
import type { HttpRoute } from '../../engine/http/router.ts';
import { headerOf, raw, statusesOf } from '../engine/http/rig.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams/upstream.ts';

const key = 'the-right-key';
const rightKey = `x-api-key: ${key}\r\n`;

/** What may be asked without a key: signs of life, and the web interface's own files, which hold nothing secret. */
const openPath = /^\/(?:health(?:\/.*)?|ui(?:\/.*)?)?$/;

interface Case {
  readonly title: string;
  /** Header lines before the empty one; without `Host`. */
  readonly headers: string;
  readonly host?: string;
  /** What a row that needs the key must answer, and an open one; a function says which statuses are right. */
  readonly closed: number | ((status: number) => boolean);
  readonly open: number | ((status: number) => boolean);
}

const passed = (status: number): boolean => status !== 401 && status !== 403;

/** Health has to answer a balancer, by whatever name. */
const foreignHost = 'a foreign Host';

const cases: readonly Case[] = [
  { title: 'no key', headers: '', closed: 401, open: passed },
  { title: 'a wrong key', headers: 'x-api-key: wrong\r\n', closed: 401, open: passed },
  { title: 'a wrong bearer', headers: `Authorization: Bearer ${key}x\r\n`, closed: 401, open: passed },
  { title: 'an empty key', headers: 'x-api-key: \r\nAuthorization: Bearer \r\n', closed: 401, open: passed },
  { title: foreignHost, headers: rightKey, host: 'Host: evil.example\r\n', closed: 403, open: 403 },
  // Refused by the native code, as RFC 9112 (3.2) wants it.
  { title: 'two Hosts', headers: rightKey, host: 'Host: localhost\r\nHost: evil.example\r\n', closed: 400, open: 400 },
  { title: 'a foreign Origin', headers: `${rightKey}Origin: https://evil.example\r\n`, closed: 403, open: 403 },
  { title: 'the Origin null', headers: `${rightKey}Origin: null\r\n`, closed: 403, open: 403 },
  { title: 'another site', headers: `${rightKey}Sec-Fetch-Site: cross-site\r\n`, closed: 403, open: 403 },
  {
    title: 'a form post from another site',
    headers: 'Content-Type: text/plain\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Site: cross-site\r\n',
    closed: 403,
    open: 403,
  },
  // Last: what is served may change what is asked of next.
  { title: 'the right key', headers: rightKey, closed: passed, open: passed },
  { title: 'the right bearer', headers: `Authorization: Bearer ${key}\r\n`, closed: passed, open: passed },
];

const pathOf = ({ path }: HttpRoute): string => path.replace(/:\w+/g, 'x').replace(/\*$/, 'x');

/** The head alone for a request that is to be refused: the answer must not wait for a body that never comes. */
const requestOf = (row: HttpRoute, { headers, host = 'Host: localhost\r\n', closed }: Case): string => {
  const head = `${row.method} ${pathOf(row)} HTTP/1.1\r\n${host}Connection: close\r\n${headers}`;
  if (row.method === 'GET') return `${head}\r\n`;
  const refused = typeof closed === 'number' && !row.endpoint.open;
  return refused ? `${head}Content-Length: 1000\r\n\r\n` : `${head}Content-Length: 1\r\n\r\nx`;
};

const isRight = (expected: Case['closed'], status: number): boolean =>
  typeof expected === 'number' ? status === expected : expected(status);

/** Every row by every case; what isn't as it must be, in words. */
const misfits = async (t: ExecutionContext, port: number, rows: readonly HttpRoute[], list: readonly Case[]) => {
  const found: string[] = [];
  for (const one of list) {
    await Promise.all(
      rows.map(async (row) => {
        const { text } = await raw(port, requestOf(row, one), 5_000);
        const [status = 0, ...more] = statusesOf(text);
        const where = `${one.title}: ${row.method} ${row.path} → ${[status, ...more].join(' ')}`;
        const expected =
          row.endpoint.anyHost && one.title === foreignHost ? 200 : row.endpoint.open ? one.open : one.closed;
        if (more.length > 0 || !isRight(expected, status)) found.push(where);
        if (/^access-control-/im.test(text)) found.push(`${where} with CORS headers`);
        if (!row.endpoint.open && status === 200 && headerOf(text, 'cache-control') !== 'no-store') {
          found.push(`${where} without cache-control: no-store`);
        }
      }),
    );
  }
  t.true(rows.length > 25, 'the rows were found');
  return found;
};

const portOf = (baseUrl: string): number => Number(new URL(baseUrl).port);

const configurations: readonly (readonly [title: string, written: (url: string) => object])[] = [
  ['a provider', (baseUrl) => ({ Providers: [{ name: 'p', baseUrl, apiKey: 'k', models: ['m'] }] })],
  ['an empty configuration but for the key', () => ({})],
];

for (const [title, written] of configurations) {
  test(`S4 all rows ask for the key before any other work, S2 S3 and none answers a web page: ${title}`, async (t) => {
    const upstream = await startUpstream(() => 'never');
    const gateway = await startGateway({ ...written(upstream.url), APIKEY: key, LOG: false });
    t.teardown(async () => {
      await gateway.stop();
      await upstream.close();
    });
    t.deepEqual(await misfits(t, portOf(gateway.baseUrl), gateway.routes, cases), []);
    t.is(upstream.requests.length, 0);
  });
}

test('S4 nothing but signs of life and the web interface is open', async (t) => {
  const gateway = await startGateway({ APIKEY: key, LOG: false });
  t.teardown(gateway.stop);
  const open = gateway.routes.filter(({ endpoint }) => endpoint.open);
  t.deepEqual(
    open.filter(({ method, path }) => method !== 'GET' || !openPath.test(path)),
    [],
  );
  t.true(open.some(({ path }) => path === '/health'));
  t.deepEqual(
    gateway.routes.flatMap(({ path, endpoint }) => (endpoint.anyHost ? [path] : [])),
    ['/health', '/health/ready', '/health/live'],
  );
  const port = portOf(gateway.baseUrl);
  for (const [line, headers, status] of [
    ['GET /nothing', '', 401],
    ['OPTIONS /v1/messages', 'Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n', 403],
    ['OPTIONS /v1/messages', '', 401],
    ['PUT /api/config', '', 401],
    ['GET /api/../health', '', 401],
    ['GET //api/config', '', 401],
    ['GET /API/config', '', 401],
    ['GET /health/%2e%2e/api/config', '', 401],
  ] as const) {
    const { text } = await raw(
      port,
      `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`,
      5_000,
    );
    t.deepEqual(statusesOf(text), [status], line);
    t.notRegex(text, /^access-control-/im);
  }
});

test('S1 S3 without a key and a configuration, only this machine is served, and no web page', async (t) => {
  const gateway = await startGateway();
  t.teardown(gateway.stop);
  t.is(new URL(gateway.baseUrl).hostname, '127.0.0.1');
  const foreign = cases.filter(({ closed }) => typeof closed === 'number' && closed !== 401);
  t.deepEqual(await misfits(t, portOf(gateway.baseUrl), gateway.routes, foreign), []);
});

const hosts: readonly (readonly [host: string, status?: number])[] = [
  ['Host: localhost\r\n'],
  ['Host: LocalHost:3456\r\n'],
  ['Host: localhost.\r\n'],
  ['Host: 127.0.0.1:80\r\n'],
  ['Host: [::1]:3456\r\n'],
  ['Host: [::ffff:127.0.0.1]\r\n'],
  ['Host: evil.example\r\n', 403],
  ['Host: localhost.evil.example\r\n', 403],
  ['Host: 127.0.0.1.evil.example:3456\r\n', 403],
  ['Host: 0.0.0.0:3456\r\n', 403],
  ['Host: [::ffff:10.0.0.1]\r\n', 403],
  ['Host: localhost\r\nHost: localhost\r\n', 400],
  ['Host: localhost:99999\r\n', 403],
  ['Host: user@localhost\r\n', 403],
];

test('S2 the spellings of Host over a socket: foreign ones get 403 before the body is read', async (t) => {
  const gateway = await startGateway();
  t.teardown(gateway.stop);
  const answers = hosts.map(async ([host]) => {
    const request = `POST /v1/messages HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\n`;
    return statusesOf((await raw(portOf(gateway.baseUrl), request, 400)).text);
  });
  // Who passes is waited for.
  t.deepEqual(
    await Promise.all(answers),
    hosts.map(([, ...statuses]) => statuses),
  );
});

test('where no WebSockets are served, one gets 426 in the shape of its route, presets too, and only with the key', async (t) => {
  const gateway = await startGateway({ APIKEY: key, LIMITS: { webSockets: 0 } });
  t.teardown(gateway.stop);
  const { port, host } = new URL(gateway.baseUrl);
  const handshake = (path: string, headers: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const paths = gateway.routes.filter(({ method, path }) => method === 'POST' && /\/responses$/.test(path));
  t.deepEqual(
    paths.map(({ path }) => path),
    ['/v1/responses', '/responses', '/preset/:preset/v1/responses', '/preset/:preset/responses'],
  );
  for (const { path } of paths) {
    const { text, closed } = await raw(Number(port), handshake(path.replace(':preset', 'p'), rightKey), 10_000);
    t.deepEqual(statusesOf(text), [426], path);
    t.true(closed, path);
    const { error } = JSON.parse(text.split('\r\n\r\n')[1] ?? '');
    t.is(error.type, 'invalid_request_error');
    t.is(error.code, 'upgrade_required');
    t.regex(error.message, /POST/);
  }
  t.deepEqual(statusesOf((await raw(Number(port), handshake('/v1/responses', ''), 2_000)).text), [401]);
});
