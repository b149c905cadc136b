import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { until } from '../../../support/until.ts';
import type { Script, UpstreamRequest } from '../../../support/upstreams/upstream.ts';
import { failing, good, rig } from '../../operators/retry/rig.ts';

/** A command that runs this code. It works in the configuration's folder. */
const node = (code: string): readonly string[] => [
  process.execPath,
  '-e',
  `const { appendFileSync, readFileSync } = require('node:fs'); ${code}`,
];

/** Prints `printed-key-1`, then `printed-key-2` … */
const counting = node(
  "appendFileSync('runs', 'x'); process.stdout.write(`printed-key-${readFileSync('runs').length}\\n`)",
);

const keyOf = ({ headers }: UpstreamRequest): string => String(headers['x-api-key']);

/** A provider whose key the command prints, by leave of the command line. */
const withCommand = (
  t: ExecutionContext,
  scripts: readonly Script[],
  command: readonly string[],
  { keyCommandMs, config = {} }: { readonly keyCommandMs?: number; readonly config?: object } = {},
) =>
  rig(t, scripts, {
    keyCommands: [JSON.stringify(command)],
    ...(keyCommandMs !== undefined && { keyCommandMs }),
    providers: [{ apiKey: { command } }],
    config,
  });

test('a key by command is sent; one run serves all requests at that time and those after it', async (t) => {
  const { ask, upstreams, home } = await withCommand(t, [good()], counting);
  const answers = await Promise.all([ask(), ask(), ask({ stream: true })]);
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  t.is((await ask()).status, 200);
  t.deepEqual([...new Set(upstreams[0]?.requests.map(keyOf))], ['printed-key-1']);
  t.is(await readFile(join(home, 'runs'), 'utf8'), 'x');
});

test('a refused key is renewed at once, without a fault of the provider and by one run for all', async (t) => {
  const refusesFirst: Script = (asked) => (keyOf(asked) === 'printed-key-1' ? failing(401)(asked, 1) : good()(asked));
  const { ask, get, home } = await withCommand(t, [refusesFirst, good('from the fallback')], counting);
  const answers = await Promise.all([ask(), ask(), ask()]);
  for (const { status, text } of answers) {
    t.is(status, 200, text);
    t.regex(text, /"fine"/);
  }
  t.is(await readFile(join(home, 'runs'), 'utf8'), 'xx');
  const [{ keys = [] } = {}] = await get<readonly { readonly keys?: readonly object[] }[]>('/api/upstreams').then(
    (shown) => Object(shown).upstreams ?? shown,
  );
  t.deepEqual(keys, [{ number: 1, rest: null }]);
});

test('a key that stays refused is renewed once; the client gets the refusal', async (t) => {
  const { ask, upstreams, home } = await withCommand(t, [failing(401)], counting);
  for (const runs of ['xx', 'xx']) {
    const { status, text } = await ask();
    t.is(status, 401, text);
    t.is(await readFile(join(home, 'runs'), 'utf8'), runs);
  }
  t.is(upstreams[0]?.requests.length, 3);
});

const hang = 'setInterval(() => {}, 1000);';
const secret = 'sk-printed-by-mistake';
const bad: readonly (readonly [title: string, command: readonly string[], says: RegExp])[] = [
  ['hangs', node(`process.stdout.write('half-a-key'); ${hang}`), /gave no key within 0\.5 s/],
  ['prints nothing', node(''), /printed nothing/],
  ['prints blank lines', node("process.stdout.write('\\n \\n')"), /printed nothing/],
  ['prints two lines', node(`process.stdout.write('one\\n${secret}\\n')`), /printed more than one line/],
  [
    'prints a secret to its error output',
    node(`process.stderr.write('${secret}'); process.exitCode = 3`),
    /exit code 3/,
  ],
  ['prints a key and fails', node(`process.stdout.write('${secret}'); process.exitCode = 1`), /exit code 1/],
  ['prints too much', node("process.stdout.write('x'.repeat(1e6))"), /printed more than 16 KiB/],
  ['prints what no header holds', node("process.stdout.write('k\\u00e9y')"), /a character that no key has/],
  ['kills itself', node("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)"), /ended by SIGKILL/],
  ['is not found', ['no-such-program-here'], /"no-such-program-here" is not found/],
  ['is no program', ['.'], /can't be run \(E[A-Z]+\)/],
];
for (const [title, command, says] of bad) {
  test(`a command that ${title}: an error that names the provider, and the service goes on`, async (t) => {
    // Only the one that hangs may meet the limit.
    const keyCommandMs = title === 'hangs' ? 500 : 600_000;
    const { ask, upstreams, home, baseUrl } = await withCommand(t, [good()], command, {
      keyCommandMs,
      config: { LOG: true, LOG_LEVEL: 'debug' },
    });
    const { status, text } = await ask();
    t.is(status, 401);
    const { message } = Object(JSON.parse(text).error);
    t.regex(message, /^Provider "a" can't be used: the command for its key /);
    t.regex(message, says);
    t.is(upstreams[0]?.requests.length, 0);
    t.is((await request(`${baseUrl}/health`)).statusCode, 200);
    const log = join(home, 'app.log');
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes("can't be used"));
    const kept = readFileSync(log, 'utf8');
    for (const shown of [text, kept]) t.false(shown.includes(secret), shown);
  });
}

test('a command that fails: the fallback answers, and so does another key of the list', async (t) => {
  const fails = node('process.exitCode = 1');
  const apart = await withCommand(t, [good(), good('from the fallback')], fails);
  t.regex((await apart.ask()).text, /from the fallback/);
  const listed = await rig(t, [good()], {
    keyCommands: [JSON.stringify(fails)],
    providers: [{ apiKey: [{ command: fails }, 'plain-key'] }],
  });
  t.is((await listed.ask()).status, 200);
  t.deepEqual(listed.upstreams[0]?.requests.map(keyOf), ['plain-key']);
});

test('without leave of the command line, a command never runs: neither as configured, nor tried, nor over the config API', async (t) => {
  const { ask, home, baseUrl, upstreams } = await rig(t, [good()], {
    keyCommands: ['gcloud auth print-access-token'],
    providers: [{ apiKey: { command: counting } }],
  });
  const { status, text } = await ask();
  t.is(status, 401);
  t.regex(text, /not allowed: the service must be started with --allow-key-command/);
  const send = async (path: string, body: object) => {
    const answer = await request(`${baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return answer.body.text();
  };
  const provider = { name: 'a', baseUrl: upstreams[0]?.url, apiKey: { command: counting }, models: ['m'] };
  t.regex(await send('/api/providers/test', { provider, model: 'm' }), /not allowed/);
  t.regex(await send('/api/providers/models', { provider }), /not allowed/);
  const config = Object(await (await request(`${baseUrl}/api/config`)).body.json());
  t.deepEqual(config.Providers[0].apiKey, { command: counting });
  await send('/api/config', { ...config, Router: { default: 'a,m' } });
  t.is((await ask()).status, 401);
  t.false(existsSync(join(home, 'runs')));
  t.is(upstreams[0]?.requests.length, 0);
});

test('the printed key is shown and logged nowhere, also where the upstream repeats it', async (t) => {
  const key = 'plain-words-from-the-command';
  const repeats: Script = (asked) => ({
    status: 500,
    headers: { 'content-type': 'application/json' },
    pieces: [JSON.stringify({ type: 'error', error: { type: 'api_error', message: `key ${keyOf(asked)} is odd` } })],
  });
  const { ask, get, home, baseUrl } = await withCommand(
    t,
    [repeats],
    node(`process.stdout.write('${[...key].reverse().join('')}'.split('').reverse().join(''))`),
    {
      config: { LOG: true, RETRY: { attempts: 0 } },
    },
  );
  const { text } = await ask();
  t.regex(text, /is odd/);
  const shown = [text, JSON.stringify(await get('/api/config')), JSON.stringify(await get('/api/upstreams'))];
  const explained = await request(`${baseUrl}/api/explain`, {
    method: 'POST',
    body: JSON.stringify({ client: 'messages', body: { model: 'a,m', max_tokens: 5, messages: [] } }),
  });
  shown.push(await explained.body.text());
  const log = join(home, 'app.log');
  await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('is odd'));
  for (const one of [...shown, readFileSync(log, 'utf8')]) t.false(one.includes(key), one);
});

test('a command that is mended serves the next request', async (t) => {
  const reading = node("process.stdout.write(readFileSync('key'))");
  const { ask, home, upstreams } = await withCommand(t, [good()], reading);
  t.is((await ask()).status, 401);
  await writeFile(join(home, 'key'), 'mended-key');
  t.is((await ask()).status, 200);
  await rm(join(home, 'key'));
  t.is((await ask()).status, 200);
  t.deepEqual(upstreams[0]?.requests.map(keyOf), ['mended-key', 'mended-key']);
});
