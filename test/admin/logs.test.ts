import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { lastValueFrom, toArray } from 'rxjs';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import { logOperations, sendLog } from '../../admin/logs.ts';
import { dataLength } from '../../engine/http/endpoint.ts';
import { type Logs, quietLogs } from '../../engine/observe/log/logs.ts';
import { openLogs } from '../../engine/observe/log/open-logs.ts';
import { Backpressure } from '../../engine/runtime/backpressure.ts';
import { until } from '../support/until.ts';
import { apiKey, jsonOf, type Rig, serveRoutes, temporaryFolder } from './rig.ts';

const server = 'junctor-20260131093000.log';
const older = 'junctor-20260130093000.log';

/** A config directory with logs, and with all sorts of things that aren't logs. */
const makeHome = (t: ExecutionContext): string => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, 'logs', '.roll', 'server'), { recursive: true });
  const write = (path: string, text: string, atS: number): void => {
    writeFileSync(join(home, path), text);
    utimesSync(join(home, path), atS, atS);
  };
  write('app.log', '{"msg":"a"}\n{"msg":"b"}\n', 3_000);
  write('app.log.1', '{"msg":"old"}\n', 1_000);
  write(`logs/${server}`, '{"msg":"s"}\n', 4_000);
  write(`logs/${older}`, '{"msg":"t"}\n', 2_000);
  write('config.json', '{"APIKEY":"secret"}', 1);
  write('secret.log', 'secret', 1);
  write('logs/other.log', 'secret', 1);
  write('logs/.roll/server/log.1.log', 'secret', 1);
  symlinkSync(join(home, 'config.json'), join(home, 'logs', 'junctor-20260101000000.log'));
  symlinkSync(home, join(home, 'logs', 'junctor-20260101000001.log'));
  mkdirSync(join(home, 'logs', 'junctor-20260101000002.log'));
  execFileSync('mkfifo', [join(home, 'logs', 'junctor-20260101000003.log')]);
  return home;
};

const logRoutes = (...parts: Parameters<typeof logOperations>) =>
  lazyRoutes({ files: 'GET /api/logs/files', lines: 'GET /api/logs', clear: 'DELETE /api/logs' }, async () =>
    logOperations(...parts),
  );

const serve = async (t: ExecutionContext, logs: Logs = quietLogs): Promise<Rig & { home: string }> => {
  const home = makeHome(t);
  return { ...(await serveRoutes(t, logRoutes(home, logs))), home };
};

test('files are listed newest first, and only logs', async (t) => {
  const { ask, home } = await serve(t);
  const answer = await ask('/api/logs/files');
  t.is(answer.status, 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.deepEqual(await answer.json(), [
    { name: server, path: join(home, 'logs', server), size: 12, lastModified: '1970-01-01T01:06:40.000Z' },
    { name: 'app.log', path: join(home, 'app.log'), size: 24, lastModified: '1970-01-01T00:50:00.000Z' },
    { name: older, path: join(home, 'logs', older), size: 12, lastModified: '1970-01-01T00:33:20.000Z' },
    { name: 'app.log.1', path: join(home, 'app.log.1'), size: 14, lastModified: '1970-01-01T00:16:40.000Z' },
  ]);
});

test('a file is read by default, by name and by path', async (t) => {
  const { ask, home } = await serve(t);
  const read = async (query: string): Promise<unknown> => (await ask(`/api/logs${query}`)).json();
  t.deepEqual(await read(''), ['{"msg":"a"}', '{"msg":"b"}']);
  t.deepEqual(await read('?file=app.log'), ['{"msg":"a"}', '{"msg":"b"}']);
  t.deepEqual(await read(`?file=${server}`), ['{"msg":"s"}']);
  t.deepEqual(await read(`?file=${encodeURIComponent(join(home, 'logs', older))}`), ['{"msg":"t"}']);
  t.deepEqual(await read(`?file=${join(home, 'app.log.1')}`), ['{"msg":"old"}']);
  t.deepEqual(await read('?limit=1'), ['{"msg":"b"}']);
});

test('a file is truncated in place, so that open writers continue', async (t) => {
  const { ask, home } = await serve(t);
  const path = join(home, 'logs', server);
  const { ino } = statSync(path);
  const answer = await ask(`/api/logs?file=${server}`, { method: 'DELETE' });
  t.is(answer.status, 200);
  t.deepEqual(await answer.json(), { success: true, message: `${server} was emptied.` });
  t.like(statSync(path), { ino, size: 0 });
  t.deepEqual(await (await ask(`/api/logs?file=${server}`)).json(), []);
  await ask('/api/logs', { method: 'DELETE' });
  t.is(readFileSync(join(home, 'app.log'), 'utf8'), '');
});

/** `{home}` stands for the config directory. */
const confined = [
  'config.json',
  'secret.log',
  '',
  '.',
  '..',
  'logs',
  'APP.LOG',
  'app.log ',
  ' app.log',
  'app.log\0',
  'app.log\0.txt',
  './app.log',
  '/app.log',
  'app.log/',
  'app.log/.',
  'app.log/../config.json',
  'logs/../app.log',
  `logs/${server}`,
  `../logs/${server}`,
  `./${server}`,
  'other.log',
  'logs/other.log',
  'junctor-20260131093000.log.1',
  'junctor-2026013109300.log',
  'junctor-20260131093001.log',
  '.roll/server/log.1.log',
  'logs/.roll/server/log.1.log',
  'config.json/../app.log',
  '/etc/passwd',
  '../../../../../../etc/passwd',
  '....//....//etc/passwd',
  '..\\..\\app.log',
  'file:///etc/passwd',
  '%2e%2e%2fconfig.json',
  'app%2elog',
  '~/.junctor/app.log',
  '{home}',
  '{home}/',
  '{home}/config.json',
  '{home}/secret.log',
  '{home}//app.log',
  '{home}/./app.log',
  '{home}/logs/../app.log',
  '{home}/logs/other.log',
  '{home}/logs/.roll/server/log.1.log',
  // A link to a file, a link to a folder, a folder, a pipe.
  ...['0', '1', '2', '3'].flatMap((digit) => [
    `junctor-2026010100000${digit}.log`,
    `{home}/logs/junctor-2026010100000${digit}.log`,
  ]),
];

const foldersAndFiles = ['config.json', 'secret.log', 'logs/other.log', 'logs/.roll/server/log.1.log', 'app.log'];

for (const method of ['GET', 'DELETE']) {
  test(`S5 ${method}: what isn't listed is not there`, async (t) => {
    const { ask, home } = await serve(t);
    const contents = (): string[] => foldersAndFiles.map((path) => readFileSync(join(home, path), 'utf8'));
    const before = contents();
    for (const pattern of confined) {
      const file = pattern.replace('{home}', home);
      for (const spelling of new Set([encodeURIComponent(file), encodeURI(file).replaceAll('#', '%23')])) {
        const answer = await ask(`/api/logs?file=${spelling}`, { method });
        t.is(answer.status, 404, pattern);
        const { success, message } = await jsonOf<{ success: boolean; message: string }>(answer);
        t.is(success, false);
        t.notRegex(message, /secret|passwd/);
      }
    }
    t.deepEqual(contents(), before);
  });
}

test('S5 an application log that is a link is not there', async (t) => {
  const home = temporaryFolder(t);
  const outside = join(temporaryFolder(t), 'outside.txt');
  writeFileSync(outside, 'secret');
  symlinkSync(outside, join(home, 'app.log'));
  const { ask } = await serveRoutes(t, logRoutes(home, quietLogs));
  t.deepEqual(await (await ask('/api/logs/files')).json(), []);
  t.is((await ask('/api/logs')).status, 404);
  t.is((await ask('/api/logs', { method: 'DELETE' })).status, 404);
  t.is(readFileSync(outside, 'utf8'), 'secret');
});

test('nothing has been logged yet', async (t) => {
  const { ask } = await serveRoutes(t, logRoutes(join(temporaryFolder(t), 'none'), quietLogs));
  t.deepEqual(await (await ask('/api/logs/files')).json(), []);
  t.deepEqual(await (await ask('/api/logs')).json(), []);
  t.like(await (await ask('/api/logs', { method: 'DELETE' })).json(), { success: true });
  t.is((await ask('/api/logs?file=app.log.1')).status, 404);
});

for (const limit of ['0', '-1', '1.5', 'x', '', '1e3', '9999999999']) {
  test(`a limit of ${JSON.stringify(limit)} is refused`, async (t) => {
    const { ask } = await serve(t);
    const answer = await ask(`/api/logs?limit=${limit}`);
    t.is(answer.status, 400);
    t.like(await answer.json(), { success: false });
  });
}

test('every row asks for the key', async (t) => {
  const { baseUrl } = await serve(t);
  for (const [method, path] of [
    ['GET', '/api/logs/files'],
    ['GET', '/api/logs'],
    ['DELETE', '/api/logs'],
  ] as const) {
    t.is((await fetch(`${baseUrl}${path}`, { method })).status, 401, `${method} ${path}`);
  }
});

test('what was just logged is there, and after an emptying only what came later', async (t) => {
  const home = temporaryFolder(t);
  const logs = openLogs({ home, enabled: true, level: 'info' });
  t.teardown(() => logs.close());
  const { ask } = await serveRoutes(t, logRoutes(home, logs));
  const messages = async (): Promise<string[]> => {
    const lines = await jsonOf<string[]>(await ask('/api/logs'));
    return lines.map((line) => JSON.parse(line).msg);
  };
  logs.app.info('one');
  t.deepEqual(await messages(), ['one']);
  logs.app.info('two');
  t.is((await ask('/api/logs', { method: 'DELETE' })).status, 200);
  t.deepEqual(await messages(), []);
  logs.app.info('three');
  t.deepEqual(await messages(), ['three']);
  t.false(readFileSync(join(home, 'app.log')).includes(0), 'the file has no hole where the old records were');
  logs.server.event('info', 'here');
  const files = await jsonOf<{ size: number }[]>(await ask('/api/logs/files'));
  t.is(files.length, 2);
  t.true(files.every(({ size }) => size > 0));
});

const line = JSON.stringify({ level: 30, msg: `"quoted" ${'x'.repeat(170)}` });

test('only the end of a large file is sent, with the number of omitted bytes', async (t) => {
  const { ask, home } = await serve(t);
  const count = 300_000;
  writeFileSync(join(home, 'app.log'), `${line}\n`.repeat(count));
  const size = (line.length + 1) * count;
  const answer = await ask('/api/logs');
  const lines = await jsonOf<string[]>(answer);
  t.is(answer.headers.get('x-junctor-log-omitted'), String(size - 16 * 1024 * 1024));
  t.is(lines.length, Math.floor((16 * 1024 * 1024) / (line.length + 1)));
  t.true(lines.every((entry) => entry === line));
  const newest = await jsonOf<string[]>(await ask('/api/logs?limit=1000'));
  t.is(newest.length, 1_000);
});

test('a large file is sent in small pieces, so that no other request waits for it', async (t) => {
  const path = join(temporaryFolder(t), 'app.log');
  writeFileSync(path, `${line}\n`.repeat(60_000));
  const tail = { maxBytes: 1e9, maxLines: undefined };
  const parts = await lastValueFrom(sendLog({ name: 'app.log', path }, tail, new Backpressure()).pipe(toArray()));
  const lengths = parts.map((part) => (part.type === 'data' ? dataLength(part) : 0));
  t.true(Math.max(...lengths) < 400_000);
  t.true(lengths.length > 40);
});

test('a client that stops reading holds up the reading, and one that leaves ends it', async (t) => {
  const { baseUrl, home } = await serve(t);
  writeFileSync(join(home, 'app.log'), `${line}\n`.repeat(60_000));
  const target = (descriptor: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return 'closed since';
    }
  };
  const openFiles = (): number =>
    readdirSync('/proc/self/fd').filter((descriptor) => target(descriptor) === join(home, 'app.log')).length;
  if (process.platform !== 'linux') return t.pass('needs /proc');
  const { port } = new URL(baseUrl);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`GET /api/logs HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${apiKey}\r\n\r\n`);
  socket.pause();
  await until(() => openFiles() === 1);
  await new Promise((resolve) => setTimeout(resolve, 400));
  t.is(openFiles(), 1, 'still being read');
  socket.destroy();
  await until(() => openFiles() === 0);
  t.is((await fetch(`${baseUrl}/api/logs`, { method: 'HEAD', headers: { 'x-api-key': apiKey } })).status, 200);
  // A request for the head alone leaves nothing open.
  await until(() => openFiles() === 0);
});
