import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { addressIn, type CommandRig, commandRig } from '../../support/processes/command.ts';
import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const pidFile = (home: string) => join(home, 'junctor.pid');

const occupied = (): Promise<{ readonly port: number; readonly server: Server }> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' && address ? address.port : 0 });
    });
  });

interface Facts {
  readonly pid: number;
  readonly restarts: number;
  readonly providers: readonly string[];
}

const factsOf = async (baseUrl: string): Promise<Facts> =>
  // The answer's shape is the service's own.
  (await (await fetch(`${baseUrl}/api/service`)).json()) as Facts;

/** Elsewhere, loopback is one address alone. */
const linux = process.platform === 'linux' ? test : test.skip;

/** Starts a service in the foreground; returns where it answers. */
const begun = async (begin: CommandRig['begin']): Promise<string> => {
  const service = begin(['start']);
  await service.says('Try it');
  return addressIn(service.out());
};

/** Waits for what a process does. The test's own time limit ends the wait. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await wait(50);
};

test('C5 a service in the background: start, status, restart, stop', async (t) => {
  const { home, ask, run } = await commandRig(t, { Providers: [], TIMEOUTS: { drainMs: 2000 } });
  t.deepEqual(await ask(['status']), { code: 3, out: 'Junctor is not running.\n', err: '' });

  const started = await run(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const baseUrl = addressIn(started.out);
  t.is((await fetch(`${baseUrl}/health`)).status, 200, 'it answers as soon as the command returns');
  const { pid, port, startedAtMs } = JSON.parse(readFileSync(pidFile(home), 'utf8'));
  t.is(baseUrl, `http://127.0.0.1:${port}`);
  t.true(Math.abs(Date.now() - startedAtMs) < 60_000);

  const status = await ask(['status', '--json']);
  t.is(status.code, 0);
  t.like(JSON.parse(status.out), { state: 'running', pid, port, baseUrl, restarts: 0, providers: [], home });
  const { out } = await ask(['status']);
  t.regex(out, new RegExp(`is running on ${baseUrl}\\n.*\\n.*process +${pid}`));
  t.regex(out, /^ {2}HTTP server {4}(?:uWebSockets\.js|node:http) \(.+\)$/m);

  const restarted = await ask(['restart']);
  t.is(restarted.code, 0, restarted.err);
  const after = JSON.parse((await ask(['status', '--json'])).out);
  t.like(after, { state: 'running', pid, port, restarts: 1 }, 'the service is the same to the outside');
  t.not(after.workers[0].pid, pid, 'another process serves');

  const stopped = await run(['stop']);
  // A slow machine is also told that the command waits.
  t.like(stopped, { code: 0, out: `Stopped Junctor (process ${pid}).\n` });
  t.false(existsSync(pidFile(home)));
  await t.throwsAsync(fetch(`${baseUrl}/health`));
  t.deepEqual(await ask(['stop']), { code: 0, out: 'Junctor is not running.\n', err: '' });
});

test('R20 a second start on the same folder, or on the same port, fails with one line, and the first keeps running', async (t) => {
  const { ask, run, begin } = await commandRig(t, { Providers: [] });
  const baseUrl = await begun(begin);
  for (const second of [await run(['start']), await ask(['start', '--daemon'])]) {
    t.is(second.code, 1);
    t.regex(second.err, /^junctor: Junctor is already running on \S+ \(process \d+, http:\S+\)[^\n]*\n$/);
  }
  const { port } = new URL(baseUrl);
  const elsewhere = await commandRig(t, { Providers: [] });
  const second = await elsewhere.ask(['start', '--daemon'], { env: { JUNCTOR_PORT: port } });
  t.is(second.code, 1);
  t.regex(second.err, new RegExp(`^junctor: Can't listen: port ${port} on 127.0.0.1 is in use[^\n]*\n$`));
  t.is((await fetch(`${baseUrl}/health`)).status, 200);
});

test('R20 a port used by another program is reported in one line', async (t) => {
  const { server, port } = await occupied();
  t.teardown(() => server.close());
  const { home, run } = await commandRig(t, { PORT: port, Providers: [] });
  const { code, err } = await run(['start']);
  t.is(code, 1);
  t.regex(err, new RegExp(`^junctor: Can't listen: port ${port}[^\n]*\n$`));
  t.false(existsSync(pidFile(home)), 'nothing is left behind');
});

test('a folder in place of the PID file, and a wrong variable, are reported in one line', async (t) => {
  const { home, ask } = await commandRig(t, { Providers: [] });
  mkdirSync(pidFile(home));
  const refused = await ask(['start', '--daemon']);
  t.is(refused.code, 1);
  t.regex(refused.err, /^junctor: \S+junctor\.pid is a folder, and the service writes its file there: remove it\.\n$/);
  rmdirSync(pidFile(home));
  const wrong = await ask(['start', '--daemon'], { env: { JUNCTOR_PORT: '99999' } });
  t.is(wrong.code, 1);
  t.regex(wrong.err, /^junctor: The environment can't be used:\n {2}JUNCTOR_PORT must be [^\n]*; it replaces PORT\n$/);
});

test('an invalid configuration is reported with a line for each fault', async (t) => {
  const { home, ask, run } = await commandRig(t, { PORT: 'x', Router: { default: 'none,such' } });
  for (const result of [await run(['start']), await ask(['start', '--daemon'])]) {
    t.is(result.code, 1);
    t.regex(result.err, /^junctor: \S+config\.json can't be used:\n {2}PORT [^\n]*\n {2}Router\.default [^\n]*\n$/);
  }
  // What only the tables of transformers show is told the same way.
  writeFileSync(join(home, 'config.json'), '{"PORT": 0, "transformers": ["no-such-stage", {"name": "maxtoken"}]}');
  const refused = await ask(['start', '--daemon']);
  t.is(refused.code, 1);
  t.regex(
    refused.err,
    /^junctor: \S+config\.json can't be used:\n {2}transformers\[0\] [^\n]*\n {2}transformers\[1\]\.options\.max_tokens is required\n$/,
  );
});

test('R20 C5 a stale file is detected, reported and removed, a killed service too; no other process is signalled', async (t) => {
  const { home, ask } = await commandRig(t, { Providers: [] });
  // This very process: alive, and not a Junctor.
  const left = { pid: process.pid, startedAtMs: 0, state: 'serving', port: 1, baseUrl: 'http://127.0.0.1:1' };
  for (const content of [JSON.stringify(left), JSON.stringify({ ...left, pid: 999_999_999 }), 'rubbish']) {
    writeFileSync(pidFile(home), content);
    t.is((await ask(['status'])).code, 1);
    const stopped = await ask(['stop']);
    t.is(stopped.code, 0);
    t.regex(stopped.out, /^Junctor is not running\. Removed the stale file \S+junctor\.pid of process \d+\.\n$/);
    t.false(existsSync(pidFile(home)));
  }
  writeFileSync(pidFile(home), JSON.stringify(left));
  const started = await ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  t.regex(readFileSync(join(home, 'start.log'), 'utf8'), /removed the stale file \S+ of process \d+/);

  const { pid } = JSON.parse((await ask(['status', '--json'])).out);
  process.kill(pid, 'SIGKILL');
  // A signal may take a moment.
  await until(async () => !(await ask(['status'])).out.startsWith('Junctor is running'));
  t.regex((await ask(['status'])).out, /^Junctor is not running\. Process \d+ left a stale file/);
  t.is((await ask(['restart'])).code, 1);
  t.is((await ask(['start', '--daemon'])).code, 0);
});

test('a restart with an invalid configuration changes nothing and reports why; one with a new port applies it', async (t) => {
  const { home, ask, begin } = await commandRig(t, { Providers: [] });
  const before = await begun(begin);
  writeFileSync(join(home, 'config.json'), '{"PORT": "x"}');
  const refused = await ask(['restart']);
  t.is(refused.code, 1);
  t.regex(refused.err, /^junctor: The service was not restarted, and goes on: \S+ can't be used:\n {2}PORT [^\n]*\n$/);
  t.is((await fetch(`${before}/health`)).status, 200);

  const { server, port } = await occupied();
  await new Promise((resolve) => server.close(resolve));
  writeFileSync(join(home, 'config.json'), JSON.stringify({ PORT: port, Providers: [] }));
  t.is((await ask(['restart'])).code, 0);
  t.like(JSON.parse((await ask(['status', '--json'])).out), { port, baseUrl: `http://127.0.0.1:${port}` });
  t.not(before, `http://127.0.0.1:${port}`);
  // The old process may answer for a moment still.
  await until(() =>
    fetch(`${before}/health`).then(
      () => false,
      () => true,
    ),
  );
});

linux('a restart applies another HOST at the same port, in both directions', async (t) => {
  const { home, ask, begin } = await commandRig(t, { HOST: '127.0.0.1', APIKEY: 'k', Providers: [] });
  const { port: PORT } = new URL(await begun(begin));
  const configure = (HOST: string) =>
    writeFileSync(join(home, 'config.json'), JSON.stringify({ HOST, PORT: Number(PORT), APIKEY: 'k', Providers: [] }));
  // Only a listener at all addresses takes this one, which needs no interface of its own.
  const elsewhere = () =>
    fetch(`http://127.0.0.9:${PORT}/health`).then(
      ({ status }) => status,
      () => 'refused',
    );
  t.is(await elsewhere(), 'refused');
  for (const [host, expected] of [
    ['0.0.0.0', 200],
    ['localhost', 'refused'],
    ['0.0.0.0', 200],
  ] as const) {
    configure(host);
    const restarted = await ask(['restart']);
    t.is(restarted.code, 0, restarted.err);
    await until(async () => (await elsewhere()) === expected);
    t.is((await fetch(`http://127.0.0.1:${PORT}/health`)).status, 200);
  }
});

linux('a restart does not open a port that another service shares at another address', async (t) => {
  const other = await commandRig(t, { Providers: [] });
  writeFileSync(
    join(other.home, 'config.json'),
    JSON.stringify({ HOST: '127.0.0.9', PORT: 0, APIKEY: 'k', Providers: [] }),
  );
  const theirs = await other.ask(['start', '--daemon']);
  const PORT = Number(/:(\d+) /.exec(theirs.out)?.[1]);
  const { home, ask, begin } = await commandRig(t, { PORT, Providers: [], APIKEY: 'k' });
  const baseUrl = await begun(begin);
  t.is(baseUrl, `http://127.0.0.1:${PORT}`);
  writeFileSync(join(home, 'config.json'), JSON.stringify({ HOST: '127.0.0.9', PORT, APIKEY: 'k', Providers: [] }));
  const refused = await ask(['restart']);
  t.is(refused.code, 1);
  t.regex(refused.err, /port \d+ on 127\.0\.0\.9 is in use/);
  t.is((await fetch(`${baseUrl}/health`)).status, 200);
});

test('SIGHUP reloads the configuration, in the foreground and in the background, and leaves no file', async (t) => {
  for (const background of [false, true]) {
    const { home, ask, begin } = await commandRig(t, { Providers: [] });
    const service = background ? undefined : begin(['start']);
    await service?.says('Try it');
    const baseUrl = addressIn(service?.out() ?? (await ask(['start', '--daemon'])).out);
    const status = () => factsOf(baseUrl);
    const { pid } = await status();
    const added = { name: 'added', baseUrl: 'http://127.0.0.1:1', apiKey: '', models: ['m'] };
    writeFileSync(join(home, 'config.json'), JSON.stringify({ PORT: 0, Providers: [added] }));
    process.kill(pid, 'SIGHUP');
    await until(async () => (await status()).restarts === 1);
    // The old process may answer for a moment still.
    await until(async () => (await status()).providers.includes('added'));
    t.is((await status()).pid, pid);

    writeFileSync(join(home, 'config.json'), '{');
    process.kill(pid, 'SIGHUP');
    const told = () => service?.out() ?? readFileSync(join(home, 'start.log'), 'utf8');
    await until(async () => told().includes('the restart failed; the service continues unchanged'));
    t.like(await status(), { pid, restarts: 1 });
    process.kill(pid, 'SIGTERM');
    await until(async () => !existsSync(pidFile(home)));
    t.is((await ask(['status'])).code, 3);
  }
});

test('a signal during startup stops the service and leaves no file', async (t) => {
  const { home, begin } = await commandRig(t, { Providers: [] });
  const service = begin(['start']);
  await until(async () => existsSync(pidFile(home)));
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
  t.false(existsSync(pidFile(home)));
});

/** Has a process send itself a signal as soon as it has made its file, before any other code runs. */
const signalAtClaim = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { writeFileSync } = fs;
  fs.writeFileSync = (path, ...more) => {
    writeFileSync(path, ...more);
    if (String(path).endsWith('junctor.pid')) process.kill(process.pid, 'SIGTERM');
  };
  syncBuiltinESMExports();
`)}`;

test('a signal while the PID file is written stops the service and leaves no file', async (t) => {
  const { home, begin } = await commandRig(t, { Providers: [] });
  const service = begin(['start'], { env: { NODE_OPTIONS: `--import=${signalAtClaim}` } });
  t.is((await service.ended).code, 0);
  t.false(existsSync(pidFile(home)));
});

test('the service keeps running when its output is closed', async (t) => {
  const { home, ask, begin } = await commandRig(t, { Providers: [] });
  const service = begin(['start']);
  await service.says('Try it');
  const baseUrl = addressIn(service.out());
  service.child.stdout?.destroy();
  service.child.stderr?.destroy();
  // Nothing reads the output from here on: first this process writes to it, then the workers that a restart starts.
  for (const restarts of [1, 2]) {
    writeFileSync(join(home, 'config.json'), '{');
    t.is((await ask(['restart'])).code, 1);
    writeFileSync(join(home, 'config.json'), JSON.stringify({ PORT: 0, Providers: [] }));
    service.child.kill('SIGHUP');
    await until(async () => (await factsOf(baseUrl)).restarts >= restarts);
  }
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
});

test('a service started by npm stops with npm', async (t) => {
  const folder = resolve(import.meta.dirname, '../../..');
  // `npx` is a shell without these: what it does at a signal has a test below.
  const { home, ask } = await commandRig(t, { Providers: [] });
  const { PATH = '' } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: folder,
    env: { PATH, HOME: home, JUNCTOR_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => npm.kill('SIGKILL'));
  let out = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (data) => (out += data));
  await until(async () => npm.exitCode !== null || out.includes('Try it'));
  t.is((await ask(['status'])).code, 0, out);
  npm.kill('SIGTERM');
  await until(async () => !existsSync(pidFile(home)));
  t.is((await ask(['status'])).code, 3);
});

/** The process that a process started, as both are numbered here. */
const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);

const inContainer = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const hasContainers = spawnSync(inContainer[0] ?? '', [...inContainer.slice(1), 'true']).status === 0;

for (const [place, within, env, signalled, code] of [
  ['in the foreground', [], {}, (pid: number) => pid, 0],
  // The shell ends by the signal, and doesn't pass it on.
  [
    'below the shell of npx',
    ['sh', '-c', '"$@"; exit $?', 'sh'],
    { npm_lifecycle_event: 'npx' },
    (pid: number) => pid,
    null,
  ],
  ['as process 1 of a container', inContainer, {}, childOf, 0],
] as const) {
  const isPossible = within !== inContainer || hasContainers;
  (isPossible ? linux : test.skip)(`SIGTERM ${place}: a stream is finished, then the service ends`, async (t) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const upstream = await startUpstream(() =>
      sseAnswer(
        (async function* () {
          const [first = '', ...rest] = chatStream(['one', 'two'], 2);
          yield first;
          await released;
          yield* rest;
        })(),
      ),
    );
    t.teardown(() => upstream.close());
    const { home, ask, begin } = await commandRig(t, {
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models: ['m'] }],
    });
    const service = begin(['start'], { within, env });
    await service.says('Try it');
    const answer = await fetch(`${addressIn(service.out())}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'p,m', stream: true, messages: [{ role: 'user', content: 'x' }] }),
    });
    if (within !== inContainer) t.is((await ask(['status'])).code, 0);
    process.kill(signalled(service.child.pid ?? 0), 'SIGTERM');
    await until(async () => JSON.parse(readFileSync(pidFile(home), 'utf8')).state === 'stopping');
    release();
    t.true((await answer.text()).endsWith('data: [DONE]\n\n'));
    t.is((await service.ended).code, code);
    await until(async () => !existsSync(pidFile(home)));
  });
}

test('a daemon that npm started outlives npm', async (t) => {
  const { ask, run } = await commandRig(t, { Providers: [] });
  t.is((await run(['start', '--daemon'], { env: { npm_lifecycle_event: 'npx' } })).code, 0);
  await wait(1_200);
  t.is((await ask(['status'])).code, 0);
});

/** Runs a command while a folder can't be written, by its owner or by root. */
const readOnly = (folder: string) => [
  ...['unshare', '--mount', 'sh', '-c'],
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
  folder,
];

test('JUNCTOR_CONFIG names the file; if it is read-only, writes through the API get 409', async (t) => {
  const { home, run, begin } = await commandRig(t);
  const mount = join(home, 'mounted');
  const file = join(mount, 'gateway.json');
  const env = { JUNCTOR_CONFIG: file };
  const missing = await run(['start'], { env });
  t.is(missing.code, 1);
  t.regex(missing.err, /gateway\.json can't be used:\n {2}The configuration doesn't exist: JUNCTOR_CONFIG names it\n/);
  mkdirSync(mount);
  writeFileSync(file, JSON.stringify({ PORT: 0, Providers: [] }));
  const [program = '', ...args] = readOnly(mount);
  const within = spawnSync(program, [...args, 'true']).status === 0 ? readOnly(mount) : [];
  // Elsewhere, only root can write where permissions alone forbid it.
  if (within.length === 0) chmodSync(mount, 0o500);
  t.teardown(() => chmodSync(mount, 0o700));
  const service = begin(['start'], { env, within });
  await service.says('Try it');
  t.true(service.out().includes(file));
  const baseUrl = addressIn(service.out());
  const send = async (method: string, path: string, body: object) => {
    const answer = await fetch(baseUrl + path, { method, body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  };
  const refused = await send('POST', '/api/config', { Providers: [], LOG_LEVEL: 'warn' });
  t.is(refused.status, 409);
  t.regex(
    refused.text,
    /gateway\.json can't be written \(E\w+\): change it where it comes from\. Nothing was changed\./,
  );
  t.deepEqual(await (await fetch(`${baseUrl}/api/config`)).json(), { PORT: 0, Providers: [] });
  t.is((await send('PUT', '/api/presets/mine', {})).status, 200, 'the folder can be written');
  t.deepEqual(
    readdirSync(home).filter((name) => name.startsWith('config')),
    [],
    'no backup of what was not replaced',
  );
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
});

test('environment variables override the configuration', async (t) => {
  const { ask, run } = await commandRig(t, { HOST: '127.0.0.1', Providers: [] });
  const open = await run(['start'], { env: { JUNCTOR_HOST: '0.0.0.0' } });
  t.is(open.code, 1);
  t.regex(open.err, /HOST is not a loopback address.*APIKEY must be set/);
  const env = { JUNCTOR_HOST: '0.0.0.0', JUNCTOR_APIKEY: 'a-key-of-mine' };
  const started = await ask(['start', '--daemon'], { env });
  t.is(started.code, 0, started.err);
  const baseUrl = addressIn(started.out);
  t.is((await fetch(`${baseUrl}/api/config`)).status, 401);
  t.is((await ask(['status', '--json'], { env })).code, 0);
});
