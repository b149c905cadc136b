import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Script, startUpstream } from '../support/upstreams/upstream.ts';

/** A gateway before a scripted upstream that several providers name. */
const open = async (t: ExecutionContext, script: Script, config: (url: string) => object, file?: string) => {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(
    config(upstream.url),
    {},
    file === undefined ? {} : { files: { 'stage.ts': file } },
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  return {
    ...gateway,
    upstream,
    async ask(path: string, body?: object | string, headers: Readonly<Record<string, string>> = {}) {
      const answer = await request(`${gateway.baseUrl}${path}`, {
        headers,
        ...(body !== undefined && { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
  };
};

const messages = [{ role: 'user', content: 'hi' }];
const ok: Script = () => jsonAnswer(chatReply('ok'));
const provider = (name: string, baseUrl: string, models: readonly string[] = ['m']) => ({
  name,
  baseUrl,
  apiKey: 'k',
  models,
});

test('C1 a renamed haiku is still the background model, and a provider is found however its name is cased', async (t) => {
  const { ask } = await open(t, ok, (url) => ({
    LOG: false,
    Providers: [provider('MyVendor', url), provider('small', url)],
    Router: { default: 'MyVendor,m', routes: { background: 'small,m' } },
  }));
  const routeOf = async (model: string) =>
    (await ask('/v1/messages', { model, max_tokens: 9, messages })).headers['x-junctor-route'];
  for (const model of ['claude-3-5-haiku-latest', 'claude-haiku-4-5', 'my-HAIKU-5', 'vendor/haiku']) {
    t.is(await routeOf(model), 'small,m;background', model);
  }
  t.is(await routeOf('claude-sonnet-4-5'), 'MyVendor,m;default');
  for (const model of ['MyVendor,m', 'myvendor,m', 'MYVENDOR,m'])
    t.is(await routeOf(model), 'MyVendor,m;explicit', model);
});

test('C2 C3 each response names its provider and rule; the log has the reason; explain gives the rule beforehand', async (t) => {
  const { ask, home } = await open(t, ok, (url) => ({
    Providers: [provider('base', url), provider('deep', url)],
    Router: { default: 'base,m', routes: { think: 'deep,m' } },
  }));
  const plain = { model: 'any', max_tokens: 4000, messages };
  const deep = { ...plain, thinking: { type: 'enabled', budget_tokens: 2000 } };
  // What an agent sends on every request isn't a wish to think hard.
  for (const body of [
    plain,
    { ...plain, thinking: { type: 'adaptive' } },
    { ...plain, output_config: { effort: 'low' } },
  ]) {
    t.is((await ask('/v1/messages', body)).headers['x-junctor-route'], 'base,m;default');
  }
  t.is((await ask('/v1/messages', deep)).headers['x-junctor-route'], 'deep,m;think');
  const explained = JSON.parse((await ask('/api/explain', { body: deep })).text);
  t.like(explained, { provider: 'deep', model: 'm', scenario: 'think' });
  t.regex(explained.reason, /think/i);
  const log = () => readFile(join(home, 'app.log'), 'utf8').catch(() => '');
  await until(async () => /"scenario":"think","reason":"[^"]+".*"msg":"routed to deep,m"/.test(await log()));
});

test('C4 saving and restarting work from the page itself: its Origin is welcome, a key in either header is, nothing is cached', async (t) => {
  const config = { APIKEY: 'the-key', LOG: false, Providers: [] };
  const { ask, baseUrl } = await open(t, ok, () => config);
  const port = new URL(baseUrl).port;
  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
    for (const key of [{ 'x-api-key': 'the-key' }, { authorization: 'Bearer the-key' }]) {
      const headers = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', ...key };
      t.is((await ask('/api/config', config, headers)).status, 200);
      const read = await ask('/api/config', undefined, headers);
      t.is(read.status, 200);
      t.is(read.headers['cache-control'], 'no-store');
      // Alone in a test's process it can't be restarted, but the request gets that far.
      t.is((await ask('/api/restart', {}, headers)).status, 503);
    }
  }
  // The key is asked for each time, whatever came before: never now and then.
  const statuses = await Promise.all(
    Array.from(
      { length: 40 },
      async (_, at) => (await ask('/api/config', undefined, at % 2 === 0 ? { 'x-api-key': 'the-key' } : {})).status,
    ),
  );
  t.true(statuses.every((status, at) => status === (at % 2 === 0 ? 200 : 401)));
});

test('C6 the saved configuration is in the file, and read at the next start', async (t) => {
  const { ask, home } = await open(t, ok, (url) => ({ LOG: false, Providers: [provider('a', url)] }));
  const next = { LOG: false, Providers: [provider('b', 'http://127.0.0.1:1')], mine: { kept: true } };
  t.is((await ask('/api/config', next)).status, 200);
  const file = JSON.parse(await readFile(join(home, 'config.json'), 'utf8'));
  t.deepEqual(file, next);
  const again = await startGateway(file);
  t.teardown(again.stop);
  const read = await (await request(`${again.baseUrl}/api/config`)).body.json();
  t.deepEqual(read, next);
});

test('C7 a bad response affects only its request, and no error shows a stack or a path', async (t) => {
  const broken = ['<html>no</html>', '', '{"choices":', '[]', 'null', '{"choices":[{}]}'];
  const stage = `export default { name: 'bad', request(asked) { if (asked.model === 'throw') throw new Error('at /home/me/secret.ts:1'); return asked; } };`;
  const { ask } = await open(
    t,
    (_, count) =>
      count % 2 === 1
        ? jsonAnswer(chatReply('ok'))
        : { headers: { 'content-type': 'application/json' }, pieces: [broken[(count / 2) % broken.length] ?? ''] },
    (url) => ({
      LOG: false,
      RETRY: { attempts: 0 },
      Providers: [provider('p', url, ['m', 'throw'])],
      transformers: [{ path: 'stage.ts' }],
    }),
    stage,
  );
  const stack = /\bat \S+ \(|\.(?:ts|js):\d|node_modules|\/home\//;
  const statuses: number[] = [];
  for (let at = 0; at < 2 * broken.length; at += 1) {
    const { status, text } = await ask('/v1/messages', { model: 'p,m', max_tokens: 9, messages });
    statuses.push(status);
    t.notRegex(text, stack);
  }
  t.is(statuses.filter((status) => status === 200).length, broken.length);
  t.is(statuses.filter((status) => status === 502).length, broken.length);
  const thrown = await ask('/v1/messages', { model: 'p,throw', max_tokens: 9, messages });
  t.is(thrown.status, 500);
  t.regex(thrown.text, /bad/);
  t.notRegex(thrown.text, stack);
});

test('C8 a configuration of many megabytes is accepted, and one over the limit gets a 413', async (t) => {
  const { ask } = await open(t, ok, () => ({ LOG: false }));
  const large = { LOG: false, mine: 'x'.repeat(12_000_000) };
  t.is((await ask('/api/config', large)).status, 200);
  t.is((await ask('/api/config')).text.length, JSON.stringify(large).length);
  t.is((await ask('/api/config', { mine: 'x'.repeat(33 * 1024 * 1024) })).status, 413);
  t.is((await ask('/health')).status, 200);
});

test('C9 logs grow by a few hundred bytes per request of any size: no bodies are logged', async (t) => {
  const { ask, home } = await open(t, ok, (url) => ({ LOG_LEVEL: 'debug', Providers: [provider('p', url)] }));
  const body = {
    model: 'p,m',
    max_tokens: 9,
    messages: [{ role: 'user', content: `needle ${'x'.repeat(1_000_000)}` }],
  };
  for (let at = 0; at < 10; at += 1) t.is((await ask('/v1/messages', body)).status, 200);
  const records = async (): Promise<number> =>
    (await readFile(join(home, 'app.log'), 'utf8').catch(() => '')).split('"msg":"routed to p,m"').length - 1;
  let files: readonly { path: string; size: number }[] = [];
  await until(async () => (await records()) === 10);
  await until(async () => {
    files = JSON.parse((await ask('/api/logs/files')).text);
    return files.length >= 2;
  });
  const logs = await Promise.all(files.map(({ path }) => readFile(path, 'utf8')));
  t.false(logs.join('').includes('needle'));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  t.log(`${Math.round(bytes / 10)} bytes for a request of 1 MB`);
  t.true(bytes < 10 * 3_000);
});
