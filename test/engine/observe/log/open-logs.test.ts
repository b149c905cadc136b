import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { quietLogs } from '../../../../engine/observe/log/logs.ts';
import { type LogOptions, openLogs } from '../../../../engine/observe/log/open-logs.ts';
import { recordsIn, serverFiles, temporaryHome } from './temporary-home.ts';

const open = (t: ExecutionContext, options: Partial<LogOptions> = {}) => {
  const home = options.home ?? temporaryHome(t);
  const troubles: string[] = [];
  const logs = openLogs({
    enabled: true,
    level: 'debug',
    onTrouble: (message) => troubles.push(message),
    ...options,
    home,
  });
  t.teardown(() => logs.close());
  return { home, logs, troubles, app: join(home, 'app.log') };
};

const request = { reqId: 7, method: 'POST', url: '/v1/messages?beta=true', remoteAddress: '127.0.0.1' };

const route = {
  requestId: 'req_0123456789abcdef01234567',
  provider: 'p',
  model: 'm',
  client: 'messages',
  requestedModel: 'fast "one"',
  scenario: 'default',
  reason: 'Router.default',
  tokens: 12,
  url: 'https://api.example/v1',
  relays: { request: true, reply: false },
  losses: undefined,
};

const messages = (path: string) => recordsIn(path).map(({ msg }) => msg);

/** Longer than the time between looks whether a file is still there, and between attempts. */
const pollMs = 1200;

test('records have the fields of the specification', async (t) => {
  const { home, logs, app } = open(t);
  const before = Date.now();
  logs.server.request(request);
  logs.server.completed({ reqId: 7, statusCode: 200, responseTimeMs: 12.6 });
  logs.server.completed({ reqId: 8, statusCode: 499, responseTimeMs: -0.2, aborted: true });
  logs.server.event('warn', 'draining 100%% of %s', { streams: 2 });
  logs.app.error('no route', { model: 'm' });
  logs.app.routed(route);
  logs.app.routed({
    ...route,
    requestedModel: undefined,
    tokens: undefined,
    losses: [{ path: 'top_k', outcome: 'dropped' }],
  });
  await logs.flush();
  const [file = ''] = serverFiles(home);
  const common = { pid: process.pid, hostname: hostname() };
  const [first, ...rest] = recordsIn(file);
  const time = Number(first?.time);
  t.true(Number.isInteger(time) && time >= before && time <= Date.now());
  t.deepEqual(first, {
    level: 30,
    time,
    ...common,
    msg: 'incoming request',
    req: { id: 7, method: 'POST', url: '/v1/messages?beta=true', remoteAddress: '127.0.0.1' },
  });
  t.like(rest[0], {
    level: 30,
    ...common,
    msg: 'request completed',
    reqId: 7,
    res: { statusCode: 200, responseTime: 13 },
  });
  t.like(rest[1], { level: 30, msg: 'request aborted', reqId: 8, res: { statusCode: 499, responseTime: 0 } });
  t.like(rest[2], { level: 40, msg: 'draining 100%% of %s', streams: 2 });
  const [failed, routed, lossy] = recordsIn(app);
  t.like(failed, { level: 50, ...common, msg: 'no route', model: 'm' });
  const { provider, model, losses, requestedModel: asked, ...fields } = route;
  t.deepEqual(routed, { level: 30, time: routed?.time, ...common, ...fields, asked, msg: 'routed to p,m' });
  t.false(Object.hasOwn(lossy ?? {}, 'tokens') || Object.hasOwn(lossy ?? {}, 'asked'));
  t.deepEqual(lossy?.losses, [{ path: 'top_k', outcome: 'dropped' }]);
});

test('records below the level are left out, and both settings can change', async (t) => {
  const { home, logs, app } = open(t, { level: 'warn' });
  const all = (tag: string) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logs.app[level](`${level} ${tag}`);
    logs.server.request(request);
    logs.server.event('error', `server ${tag}`);
    logs.app.routed(route);
  };
  all('1');
  logs.adjust({ enabled: true, level: 'debug' });
  all('2');
  logs.adjust({ enabled: false, level: 'debug' });
  all('3');
  await logs.flush();
  t.deepEqual(messages(app), ['warn 1', 'error 1', 'debug 2', 'info 2', 'warn 2', 'error 2', 'routed to p,m']);
  t.deepEqual(messages(serverFiles(home)[0] ?? ''), ['server 1', 'incoming request', 'server 2']);
});

test('switched off, nothing is written and no file is made', async (t) => {
  const { home, logs } = open(t, { enabled: false });
  logs.server.request(request);
  logs.server.completed({ reqId: 1, statusCode: 200, responseTimeMs: 1 });
  logs.server.event('error', 'x');
  logs.app.error('x', { a: 1 });
  logs.flushSync();
  await logs.flush();
  await logs.close();
  t.deepEqual(readdirSync(home), []);
});

test('no secret reaches a file', async (t) => {
  const configured = 'canary configured, of no known shape';
  const { home, logs, app } = open(t, { secrets: () => [configured] });
  const headers = {
    authorization: 'Bearer canary1',
    'x-api-key': 'canary2',
    'api-key': 'canary3',
    'x-goog-api-key': 'canary4',
  };
  const fields = { ...headers, headers, apiKey: 'canary5', token: ['canary6'], set: { cookie: 'a=canary7' } };
  const error = Object.assign(new Error('sk-canary8-000000 refused'), { request: { headers } });
  logs.app.debug('sent with Bearer canary9', { ...fields, error, list: Object.entries(headers).flat() });
  logs.app.warn(`key ${configured} refused`, { provider: { name: 'p', note: `[${configured}]` } });
  logs.server.event('info', 'x-api-key: canary10', { ...fields, cause: error });
  logs.server.request({
    ...request,
    url: '/sk-canary11-0000?key=canary12&api_key=canary13&limit=1',
    method: 'sk-canary14-0000',
  });
  logs.server.request({ ...request, url: `/?q=${encodeURIComponent(configured)}` });
  logs.app.routed({
    ...route,
    requestId: 'sk-canary15-0000',
    model: 'sk-canary16-0000',
    requestedModel: configured,
    reason: 'tag sk-canary17-0000',
    url: 'https://u:canary18@h/',
    losses: [{ path: 'sk-canary19-0000' }],
  });
  await logs.flush();
  const written = readFileSync(app, 'utf8') + readFileSync(serverFiles(home)[0] ?? '', 'utf8');
  t.is(written.split('\n').length, 7);
  t.notRegex(written, /canary/);
  t.regex(written, /&limit=1/);
});

test('a url is cut to a bounded length', async (t) => {
  const { home, logs } = open(t);
  logs.server.request({ ...request, url: `/${'x'.repeat(60_000)}` });
  await logs.flush();
  t.true(readFileSync(serverFiles(home)[0] ?? '', 'utf8').length < 3000);
});

test('flushSync writes before it returns, whether files are open or not', async (t) => {
  const { home, logs, app } = open(t);
  logs.app.info('1');
  logs.server.event('info', '1');
  logs.flushSync();
  t.deepEqual(messages(app), ['1']);
  t.deepEqual(messages(serverFiles(home)[0] ?? ''), ['1']);
  logs.app.info('2');
  logs.server.event('info', '2');
  await logs.flush();
  logs.app.info('3');
  logs.server.event('info', '3');
  logs.flushSync();
  t.deepEqual(messages(app), ['1', '2', '3']);
  t.deepEqual(serverFiles(home).map(messages), [['1', '2', '3']]);
});

test('close writes pending records; later ones are ignored', async (t) => {
  const { logs, app } = open(t);
  for (let count = 0; count < 1000; count += 1) logs.app.info(`${count}`);
  await logs.close();
  logs.app.info('late');
  logs.server.request(request);
  logs.flushSync();
  await logs.close();
  t.deepEqual(
    messages(app),
    Array.from({ length: 1000 }, (_, index) => `${index}`),
  );
});

test('R12 removed files and folders: one warning, and writing continues', async (t) => {
  const { home, logs, app, troubles } = open(t);
  logs.app.info('1');
  logs.server.event('info', '1');
  await logs.flush();
  unlinkSync(app);
  rmSync(join(home, 'logs'), { recursive: true });
  await sleep(pollMs);
  logs.app.info('2');
  logs.server.event('info', '2');
  await logs.flush();
  t.deepEqual(messages(app), ['2']);
  t.deepEqual(serverFiles(home).map(messages), [['2']]);
  t.is(troubles.length, 1);
  rmSync(home, { recursive: true });
  await sleep(pollMs);
  logs.app.info('3');
  logs.server.event('info', '3');
  await logs.flush();
  t.deepEqual(messages(app), ['3']);
  t.deepEqual(serverFiles(home).map(messages), [['3']]);
  t.is(troubles.length, 1);
});

test("R12 a folder that can't be created: one warning, and writing begins once it can", async (t) => {
  const parent = temporaryHome(t);
  const blocker = join(parent, 'blocker');
  writeFileSync(blocker, '');
  const home = join(blocker, 'home');
  const { logs, app, troubles } = open(t, { home });
  logs.app.info('1');
  logs.server.request(request);
  await logs.flush();
  logs.flushSync();
  t.is(troubles.length, 1);
  t.regex(troubles[0] ?? '', /ENOTDIR/);
  unlinkSync(blocker);
  mkdirSync(blocker);
  logs.app.info('2');
  logs.server.event('info', '2');
  await sleep(pollMs);
  await logs.flush();
  t.deepEqual(messages(app).slice(-1), ['2']);
  t.deepEqual(messages(serverFiles(home)[0] ?? '').slice(-1), ['2']);
  t.is(troubles.length, 1);
});

const fullDisk = existsSync('/dev/full') ? test : test.skip;
fullDisk('a full disk: one warning, and no call fails', async (t) => {
  const home = temporaryHome(t);
  const app = join(home, 'app.log');
  symlinkSync('/dev/full', app);
  const { logs, troubles } = open(t, { home });
  for (let count = 0; count < 5000; count += 1) logs.app.info(`${count}`);
  await logs.flush();
  await logs.flush();
  logs.flushSync();
  t.is(troubles.length, 1);
  t.regex(troubles[0] ?? '', /ENOSPC/);
  unlinkSync(app);
  await sleep(pollMs);
  logs.app.info('again');
  await logs.flush();
  t.is(messages(app).at(-1), 'again');
});

test('quiet logs take everything and do nothing', async (t) => {
  quietLogs.server.request(request);
  quietLogs.app.error('x', { a: 1 });
  quietLogs.flushSync();
  await quietLogs.close();
  t.pass();
});
