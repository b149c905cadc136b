import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import { uiOperations } from '../../admin/ui.ts';
import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { misfitsOf } from '../support/openapi.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Script, startUpstream } from '../support/upstreams/upstream.ts';
import { serveRoutes } from './rig.ts';

const key = 'the-key-of-the-service';
const secret = 'the-secret-of-the-provider';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** What an endpoint answers is what the tests are about. */
  readonly body: Record<string, unknown> & { message?: string };
}

interface Rig extends TestGateway {
  readonly upstreamUrl: string;
  readonly requests: readonly { method: string; url: string; headers: object; body: unknown }[];
  /** With the key; each answer must be as the service's own description says. */
  readonly ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

const open = async (t: ExecutionContext, script: Script, more: object = {}, extras = {}): Promise<Rig> => {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(
    {
      APIKEY: key,
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: '$P_KEY', models: ['m'] }],
      Router: { default: 'p,m' },
      ...more,
    },
    { P_KEY: secret, OPENAI_API_KEY: 'of-a-vendor', OTHER_SECRET: 'never-to-be-read' },
    extras,
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await request(`${gateway.baseUrl}${path}`, {
      method: method as 'GET',
      // On a busy machine, a kept connection may be closed while it is taken for the next request.
      reset: true,
      headers: { 'x-api-key': key, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, bytes };
  };
  const description = parseJson((await send('GET', '/openapi.json')).bytes.toString());
  return {
    ...gateway,
    upstreamUrl: upstream.url,
    requests: upstream.requests,
    async ask(method, path, body, headers) {
      const { status, headers: given, bytes } = await send(method, path, body, headers);
      const text = bytes.toString();
      if (isJsonObject(description)) {
        const contentType = given['content-type']?.toString();
        t.deepEqual(misfitsOf(description, { method, path, status, contentType, body: text }), [], `${method} ${path}`);
      }
      return { status, headers: given, text, body: (parseJson(text) ?? {}) as Answer['body'] };
    },
  };
};

const quiet: Script = () => jsonAnswer(chatReply('Hi there'));

test('every endpoint of the interface asks for the key, and none may be kept', async (t) => {
  const rig = await open(t, quiet);
  const rows = [
    ['GET', '/api/requests'],
    ['DELETE', '/api/requests'],
    ['GET', '/api/history/extent'],
    ['DELETE', '/api/history'],
    ['GET', '/api/requests/x'],
    ['POST', '/api/requests/x/replay'],
    ['GET', '/api/activity'],
    ['GET', '/api/capture'],
    ['POST', '/api/capture'],
    ['POST', '/api/providers/test'],
    ['POST', '/api/providers/models'],
    ['POST', '/api/config/check'],
    ['GET', '/api/config/schema'],
    ['GET', '/api/config/backups/x'],
    ['GET', '/api/presets'],
    ['GET', '/api/presets/x'],
    ['PUT', '/api/presets/x'],
    ['DELETE', '/api/presets/x'],
  ] as const;
  for (const [method, path] of rows) {
    const refused = await rig.ask(method, path, method === 'GET' ? undefined : '{}', { 'x-api-key': 'wrong' });
    t.is(refused.status, 401, `${method} ${path}`);
    if (method !== 'GET') continue;
    const answer = await rig.ask(method, path);
    if (answer.status === 200) t.is(answer.headers['cache-control'], 'no-store', path);
  }
});

test('activity and requests match their schemas; processes are listed', async (t) => {
  const rig = await open(t, quiet);
  const body = { model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  t.is((await rig.ask('POST', '/v1/messages', body, { 'x-junctor-capture': '1', 'x-request-id': 'one' })).status, 200);
  const activity = await rig.ask('GET', '/api/activity');
  t.like(activity.body, { process: { pid: process.pid }, inFlightCount: 0 });
  t.is((await rig.ask('GET', '/api/requests')).status, 200);
  t.is((await rig.ask('GET', '/api/requests/one')).status, 200);
  t.is((await rig.ask('POST', '/api/requests/one/replay', {})).status, 200);
  t.is((await rig.ask('DELETE', '/api/requests')).status, 200);
});

test('a trial, a list of models and a saved change send a hidden key to its own address alone', async (t) => {
  const rig = await open(t, quiet);
  const stranger = await startUpstream(quiet);
  t.teardown(stranger.close);
  const stored = { name: 'kept', baseUrl: `${rig.upstreamUrl}/v1`, apiKey: 'a-key-in-the-file', models: ['m'] };
  const { body: present } = await rig.ask('GET', '/api/config');
  t.is((await rig.ask('POST', '/api/config', { ...present, Providers: [stored], Router: {} })).status, 200);
  const provider = { ...stored, apiKey: '•••• Providers[kept].apiKey' };
  t.like((await rig.ask('POST', '/api/providers/test', { provider, model: 'm' })).body, { ok: true });
  t.like(rig.requests.at(-1)?.headers, { authorization: 'Bearer a-key-in-the-file' });
  for (const place of [
    { baseUrl: stranger.url },
    { otherBaseUrls: [stranger.url] },
    { name: 'other', baseUrl: stranger.url, apiKey: '', headers: { authorization: provider.apiKey } },
  ]) {
    const moved = { ...provider, ...place };
    for (const [path, body] of [
      ['/api/providers/test', { provider: moved, model: 'm' }],
      ['/api/providers/models', { provider: moved }],
    ] as const) {
      const { body: outcome } = await rig.ask('POST', path, body);
      t.like(outcome, { ok: false });
      t.regex(String(outcome.message), /no secret is stored for it at this address/);
    }
    t.is((await rig.ask('POST', '/api/config', { ...present, Providers: [moved], Router: {} })).status, 400);
  }
  t.deepEqual(stranger.requests, []);
});

test('a provider is tried with the transformers of the draft, which decide about its format', async (t) => {
  const rig = await open(t, ({ url }) =>
    url.startsWith('/v1/models')
      ? jsonAnswer({ data: [{ id: 'listed', type: 'model' }], has_more: false })
      : jsonAnswer({ error: { message: 'no' } }, 404),
  );
  const provider = { name: 'new', baseUrl: `${rig.upstreamUrl}/v1`, apiKey: 'k', models: ['m'] };
  const transformers = [
    { name: 'anthropic', provider: 'new' },
    { name: 'nothing-of-this-name', provider: 'another' },
  ];
  await rig.ask('POST', '/api/providers/test', { provider, model: 'm', transformers });
  t.like(rig.requests.at(-1), { url: '/v1/messages', headers: { 'x-api-key': 'k' } });
  await rig.ask('POST', '/api/providers/models', { provider, transformers });
  t.like(rig.requests.at(-1)?.headers, { 'x-api-key': 'k' });
  await rig.ask('POST', '/api/providers/test', { provider, model: 'm', transformers: [] });
  t.like(rig.requests.at(-1), { url: '/v1/chat/completions', headers: { authorization: 'Bearer k' } });
  const faulty = await rig.ask('POST', '/api/providers/test', { provider, model: 'm', transformers: [1] });
  t.is(faulty.status, 400);
});

test('a provider is tried as it is written, saved or not', async (t) => {
  const rig = await open(t, ({ headers, body, url }) => {
    const { model } = Object(body);
    if (headers.authorization !== `Bearer ${secret}`)
      return jsonAnswer({ error: { message: `bad key ${headers.authorization}` } }, 401);
    if (url !== '/v1/chat/completions') return jsonAnswer({ error: { message: 'nothing here' } }, 404);
    return model === 'silent' ? jsonAnswer(chatReply('')) : jsonAnswer(chatReply('Hi there'));
  });
  const provider = { name: 'new', baseUrl: `${rig.upstreamUrl}/v1`, apiKey: '$P_KEY', models: [] };
  const tried = async (over: object, model = 'm') =>
    (await rig.ask('POST', '/api/providers/test', { provider: { ...provider, ...over }, model })).body;
  t.like(await tried({}), { ok: true, status: 200, reply: 'Hi there', message: 'The provider answered.' });
  t.like(rig.requests.at(-1)?.body, { model: 'm', messages: [{ role: 'user' }] });
  t.true(Object(rig.requests.at(-1)?.body).max_tokens <= 16);
  t.like(await tried({}, 'silent'), { ok: true, reply: undefined });
  t.like(await tried({ name: 'p' }), { ok: true });
  const wrong = await tried({ apiKey: 'another-key-of-mine' });
  t.like(wrong, { ok: false, status: 401 });
  t.false(JSON.stringify(wrong).includes('another-key-of-mine'));
  const unset = await tried({ apiKey: '$DEEPSEEK_API_KEY' });
  t.regex(String(unset.message), /DEEPSEEK_API_KEY is not set/);
  t.like(unset, { ok: false, status: undefined });
  t.like(await tried({ baseUrl: 'nonsense' }), {
    ok: false,
    message: 'Providers[0].baseUrl must be a URL (http or https).',
  });
  const dead = await tried({ baseUrl: 'http://127.0.0.1:1' });
  t.false(dead.ok);
  t.regex(String(dead.message), /127\.0\.0\.1:1/);
  t.is((await rig.ask('POST', '/api/providers/test', { provider })).status, 400);
  t.is((await rig.ask('POST', '/api/providers/test', { provider: 1, model: 'm' })).status, 400);
  const { requests } = (await rig.ask('GET', '/api/requests')).body;
  t.deepEqual(requests, [], 'no request of a client');
  t.false((await rig.ask('GET', '/metrics')).text.includes('provider="new"'));
  t.deepEqual((await rig.ask('GET', '/api/config')).body.Providers, [
    { name: 'p', baseUrl: `${rig.upstreamUrl}/v1`, apiKey: '$P_KEY', models: ['m'] },
  ]);
});

test("a provider's trial reads only variables that the configuration or a vendor's row names", async (t) => {
  const rig = await open(t, () => jsonAnswer({ data: [{ id: 'a' }] }));
  const own = { name: 'new', baseUrl: `${rig.upstreamUrl}/v1`, apiKey: '$P_KEY', models: ['m'] };
  const attempts: readonly (readonly [change: object, path: string])[] = [
    [{ apiKey: '$OTHER_SECRET' }, 'Providers[0].apiKey'],
    [{ apiKey: ['$P_KEY', 'x-${OTHER_SECRET}'] }, 'Providers[0].apiKey[1]'],
    [{ baseUrl: `${rig.upstreamUrl}/$OTHER_SECRET/v1` }, 'Providers[0].baseUrl'],
    [{ models: ['$OTHER_SECRET'] }, 'Providers[0].models[0]'],
    [{ name: 'p', apiKey: '$NOT_SET' }, 'Providers[0].apiKey'],
  ];
  for (const path of ['/api/providers/test', '/api/providers/models']) {
    for (const [change, at] of attempts) {
      const answer = await rig.ask('POST', path, { provider: { ...own, ...change }, model: 'm' });
      const name = JSON.stringify(change).includes('NOT_SET') ? 'NOT_SET' : 'OTHER_SECRET';
      t.like(answer.body, { ok: false });
      t.true(String(answer.body.message).startsWith(`${at} names the environment variable ${name}, `), answer.text);
    }
  }
  t.deepEqual(rig.requests, [], 'no upstream was asked');
  t.like((await rig.ask('POST', '/api/providers/models', { provider: own })).body, { ok: true });
  const vendor = await rig.ask('POST', '/api/providers/models', { provider: { ...own, apiKey: '$OPENAI_API_KEY' } });
  t.like(vendor.body, { ok: true });
});

const lists: readonly (readonly [format: string, base: string, urls: readonly string[], models: readonly string[]])[] =
  [
    ['openai', '/v1', ['/v1/models'], ['b', 'a']],
    ['openai', '', ['/v1/models'], ['b', 'a']],
    ['openai', '/v1/responses', ['/v1/models'], ['b', 'a']],
    ['openai', '/v1/chat/completions?x=1', ['/v1/models?x=1'], ['b', 'a']],
    ['openrouter', '/api/v1', ['/api/v1/models'], ['b', 'a']],
    ['groq', '/openai/v1', ['/openai/v1/models'], ['b', 'a']],
    ['deepseek', '', ['/v1/models'], ['b', 'a']],
    ['anthropic', '', ['/v1/models?limit=1000', '/v1/models?limit=1000&after_id=c%2Fd'], ['c/d', 'e']],
    ['gemini', '', ['/v1beta/models?pageSize=1000', '/v1beta/models?pageSize=1000&pageToken=next'], ['g-1', 'g-2']],
  ];

test('a list of models that is too long is an error, not an empty list', async (t) => {
  const rig = await open(t, () => ({
    pieces: ['{"data":[{"id":"m","x":"', Buffer.alloc(16 * 1024 * 1024, 'x'), '"}]}'],
  }));
  const provider = { name: 'p', baseUrl: rig.upstreamUrl, apiKey: '$P_KEY', models: [] };
  const { body } = await rig.ask('POST', '/api/providers/models', { provider });
  t.like(body, { ok: false, models: [] });
  t.regex(String(body.message), /list of models .*16 MiB/);
});

test('a provider that gives no answer is waited for a while, in a test and for its list of models', async (t) => {
  const rig = await open(t, () => 'never', {}, { waits: { modelListMs: 1, countMs: 1, trialMs: 200 } });
  const provider = { name: 'p', baseUrl: rig.upstreamUrl, apiKey: '$P_KEY', models: ['m'] };
  for (const [path, more] of [
    ['/api/providers/models', {}],
    ['/api/providers/test', { model: 'm' }],
  ] as const) {
    const { status, body } = await rig.ask('POST', path, { provider, ...more });
    t.is(status, 200);
    t.like(body, { ok: false, message: 'The provider gave no whole answer within 0.2 s.' });
  }
});

test("a provider's own models, in each vendor's shape, page by page", async (t) => {
  const rig = await open(t, ({ url }) => {
    if (url.includes('after_id')) return jsonAnswer({ data: [{ id: 'e' }], has_more: false, last_id: 'e' });
    if (url.includes('limit=1000')) return jsonAnswer({ data: [{ id: 'c/d' }], has_more: true, last_id: 'c/d' });
    if (url.includes('pageToken')) return jsonAnswer({ models: [{ name: 'models/g-2' }] });
    if (url.includes('pageSize')) {
      return jsonAnswer({
        models: [
          { name: 'models/g-1', supportedGenerationMethods: ['generateContent', 'countTokens'] },
          { name: 'models/embed', supportedGenerationMethods: ['embedContent'] },
        ],
        nextPageToken: 'next',
      });
    }
    return jsonAnswer({ object: 'list', data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }] });
  });
  for (const [format, base, urls, models] of lists) {
    const name = `${format}-provider`;
    const transformers = lists.map(([one]) => ({ name: one, provider: `${one}-provider` }));
    const provider = { name, baseUrl: `${rig.upstreamUrl}${base}`, apiKey: secret, models: [] };
    const Providers = [...new Set(lists.map(([one]) => `${one}-provider`))].map((one) => ({ ...provider, name: one }));
    t.is((await rig.ask('POST', '/api/config', { APIKEY: key, Providers, transformers })).status, 200);
    const before = rig.requests.length;
    const { body } = await rig.ask('POST', '/api/providers/models', { provider });
    t.deepEqual(
      body,
      { ok: true, models, message: `The provider lists ${models.length} models.` },
      `${format} ${base}`,
    );
    const asked = rig.requests.slice(before);
    t.deepEqual(
      asked.map(({ method, url }) => `${method} ${url}`),
      urls.map((url) => `GET ${url}`),
    );
    t.true(JSON.stringify(asked[0]?.headers).includes(secret));
  }
  const refusing = await open(t, () => jsonAnswer({ error: { message: `no, ${secret}` } }, 403));
  const provider = { name: 'p', baseUrl: refusing.upstreamUrl, apiKey: '$P_KEY', models: [] };
  const refused = await refusing.ask('POST', '/api/providers/models', { provider });
  t.like(refused.body, { ok: false, models: [] });
  t.false(refused.text.includes(secret));
  const garbled = await open(t, () => jsonAnswer({ models: 'many' }));
  const odd = await garbled.ask('POST', '/api/providers/models', {
    provider: { ...provider, baseUrl: garbled.upstreamUrl },
  });
  t.regex(String(odd.body.message), /not with a list of models/);
});

test('a configuration is checked without being saved, and its schema is served', async (t) => {
  const rig = await open(t, quiet);
  const before = await readFile(join(rig.home, 'config.json'), 'utf8');
  const wrong = await rig.ask('POST', '/api/config/check', {
    PORT: 'x',
    Router: { default: 'q,m' },
    transformers: ['nope'],
  });
  t.is(wrong.status, 200);
  const paths = (wrong.body.faults as { path: string }[]).map(({ path }) => path);
  t.true(paths.includes('PORT') && paths.includes('Router.default'), paths.join());
  const unknown = await rig.ask('POST', '/api/config/check', { transformers: ['nope'], mine: 1 });
  t.deepEqual(unknown.body.faults, [
    { path: 'transformers[0]', message: 'names a transformer that is not loaded: "nope"' },
  ]);
  t.deepEqual(unknown.body.warnings, [{ path: 'mine', message: 'is unknown and has no effect' }]);
  t.deepEqual((await rig.ask('POST', '/api/config/check', { PORT: 1, APIKEY: key })).body, {
    faults: [],
    warnings: [],
    restart: ['PORT'],
  });
  t.is((await rig.ask('POST', '/api/config/check', '{')).status, 400);
  t.is(await readFile(join(rig.home, 'config.json'), 'utf8'), before);
  const schema = await rig.ask('GET', '/api/config/schema');
  t.like(schema.body, { type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema' });
  t.truthy(Object(schema.body.properties).Providers.items.properties.apiKey.description);
});

const strictModule = `import { transformer, Type } from 'junctor/transformer';
  export default transformer({
    name: 'strict',
    options: Type.Object({ word: Type.String() }),
    request: (request, { word }) => ({ ...request, metadata: { ...request.metadata, word } }),
  });`;

test('a module that is missing or whose options do not fit is refused with its path, over HTTP and on disk', async (t) => {
  const absentBefore = { path: 'absent-before.ts', provider: 'p', models: ['other'] };
  const rig = await open(
    t,
    quiet,
    { transformers: [absentBefore, { path: 'strict.ts', options: { word: 'a' } }] },
    { files: { 'strict.ts': strictModule } },
  );
  const file = join(rig.home, 'config.json');
  const good = await readFile(file, 'utf8');
  const { body: present } = await rig.ask('GET', '/api/config');
  const answers = async () =>
    (
      await rig.ask('POST', '/v1/messages', {
        model: 'p,m',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
      })
    ).status;
  const cases = [
    [{ path: 'nope.ts' }, 'transformers[1].path'],
    [{ path: 'strict.ts' }, 'transformers[1].options.word'],
    [{ path: 'strict.ts', options: { word: 1 } }, 'transformers[1].options.word'],
  ] as const;
  for (const [entry, path] of cases) {
    const config = { ...present, transformers: [absentBefore, entry] };
    const { body } = await rig.ask('POST', '/api/config/check', config);
    t.deepEqual(
      (body.faults as { path: string }[]).map((fault) => fault.path),
      [path],
    );
    const refused = await rig.ask('POST', '/api/config', config);
    t.is(refused.status, 400);
    t.true(refused.body.message?.includes(`\n- ${path} `), refused.body.message);
    t.is(await readFile(file, 'utf8'), good, 'nothing was written');

    await writeFile(file, JSON.stringify({ ...config, APIKEY: key }));
    const logged = (): Promise<boolean> =>
      readFile(join(rig.home, 'app.log'), 'utf8').then((text) =>
        text.split('\n').some((line) => line.includes("can't be used") && line.includes(path)),
      );
    while (!(await logged())) await new Promise((resolve) => setTimeout(resolve, 20));
    t.is(await answers(), 200, 'the last good configuration serves');
    await writeFile(join(rig.home, 'app.log'), '');
    await writeFile(file, good);
  }
  const mended = await rig.ask('POST', '/api/config', { ...present, note: 1 });
  t.is(mended.status, 200, 'what was broken before keeps no other change from being made');
});

test('an option that a stage does not know is told at the start, by the API and after an edit on disk', async (t) => {
  const cap = { name: 'maxtoken', options: { max_tokens: 9, max_token: 9 } };
  const path = 'transformers[0].options.max_token';
  const warning = `${path} is unknown and has no effect; did you mean max_tokens?`;
  const rig = await open(t, quiet, { transformers: [cap] });
  t.true(rig.reports.includes(`warning: ${warning}`), rig.reports.join('\n'));
  const { body: present } = await rig.ask('GET', '/api/config');
  const checked = await rig.ask('POST', '/api/config/check', present);
  t.like(checked.body, { faults: [], warnings: [{ path }] });
  const saved = await rig.ask('POST', '/api/config', { ...present, note: 1 });
  t.regex(saved.body.message ?? '', /Warning: note is unknown/);
  t.false(saved.body.message?.includes(warning), 'the change did not bring it');

  const log = join(rig.home, 'app.log');
  const warned = async () => (await readFile(log, 'utf8')).split(warning).length - 1;
  await until(async () => (await warned()) === 2);
  await writeFile(join(rig.home, 'config.json'), JSON.stringify({ ...present, APIKEY: key, note: 2 }));
  await until(async () => (await warned()) === 3);
  t.pass();
});

test('an edit of a module is taken up, and one that can not be used is not', async (t) => {
  const rig = await open(
    t,
    quiet,
    { transformers: [{ path: 'stages/word.js' }] },
    {
      files: { 'stages/word.js': wordModule('one'), 'stages/other.js': `export const other = 'x';` },
    },
  );
  const sent = async (): Promise<string> => {
    const body = { model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    t.is((await rig.ask('POST', '/v1/messages', body)).status, 200);
    return JSON.stringify(rig.requests.at(-1)?.body);
  };
  const file = join(rig.home, 'stages/word.js');
  t.regex(await sent(), /word-one/);
  // Written again until it is seen: the watching may begin a little after the service does.
  for (let text = await sent(); !text.includes('word-two'); text = await sent()) {
    await writeFile(file, wordModule('two'));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await writeFile(file, 'export default 1;');
  const log = join(rig.home, 'app.log');
  while (!(await readFile(log, 'utf8')).includes("a changed transformer module can't be used")) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.regex(await sent(), /word-two/);
});

const wordModule = (word: string): string =>
  `export default { name: 'word', request: (request) => ({ ...request, model: 'word-${word}' }) };`;

test('a preset is sent as written, or with placeholders, which a changed one keeps its secrets by', async (t) => {
  const rig = await open(t, quiet);
  const provider = { name: 'own', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'canary-of-a-preset', models: ['m'] };
  const manifest = { Providers: [provider], Router: { default: 'own,m' } };
  t.is((await rig.ask('PUT', '/api/presets/mine', manifest)).status, 200);
  t.deepEqual((await rig.ask('GET', '/api/presets/mine')).body, manifest);
  t.is((await rig.ask('GET', '/api/presets/mine?secrets=all')).status, 400);
  const read = await rig.ask('GET', '/api/presets/mine?secrets=hidden');
  t.deepEqual(read.body, { ...manifest, Providers: [{ ...provider, apiKey: '•••• Providers[own].apiKey' }] });
  t.is((await rig.ask('PUT', '/api/presets/mine', { ...read.body, fallback: {} })).status, 200);
  const written = JSON.parse(await readFile(join(rig.home, 'presets/mine/manifest.json'), 'utf8'));
  t.deepEqual(written, { ...manifest, fallback: {} });
  const other = await rig.ask('PUT', '/api/presets/other', read.body);
  t.is(other.status, 400);
  t.regex(String(other.body.message), /Providers\[0\]\.apiKey is the placeholder/);
});

test('two editors can not overwrite one another, here or on disk', async (t) => {
  const rig = await open(t, quiet);
  const read = await rig.ask('GET', '/api/config');
  const etag = String(read.headers.etag);
  t.regex(etag, /^"[\w-]{22}"$/);
  t.is((await rig.ask('GET', '/api/config')).headers.etag, etag);
  const mine = { ...read.body, note: 'mine' };
  t.is((await rig.ask('POST', '/api/config', mine, { 'if-match': etag })).status, 200);
  const stale = await rig.ask('POST', '/api/config', { ...read.body, note: 'theirs' }, { 'if-match': etag });
  t.is(stale.status, 412);
  t.regex(String(stale.body.message), /^Nothing was changed: the configuration has changed since it was read/);
  t.is((await rig.ask('GET', '/api/config')).body.note, 'mine');
  const fresh = String(stale.headers.etag);
  // Written by hand a moment ago; whether the watcher has seen it yet doesn't matter.
  await writeFile(join(rig.home, 'config.json'), JSON.stringify({ ...mine, APIKEY: key, note: 'by hand' }));
  t.is((await rig.ask('POST', '/api/config', mine, { 'if-match': fresh })).status, 412);
  t.is((await rig.ask('POST', '/api/config', mine, { 'if-match': '*' })).status, 200);
  const again = String((await rig.ask('GET', '/api/config')).headers.etag);
  t.is((await rig.ask('POST', '/api/config', mine, { 'if-match': `"x", W/${again}` })).status, 200);
  t.is((await rig.ask('POST', '/api/config', { PORT: 'x' }, { 'if-match': again })).status, 400);
  const { backups } = (await rig.ask('GET', '/api/config/backups')).body as { backups: { name: string }[] };
  const earlier = await rig.ask('GET', `/api/config/backups/${backups[1]?.name}`);
  t.like(earlier.body, { note: 'by hand' });
  t.is((await rig.ask('GET', '/api/config/backups/config.json')).status, 404);
  t.is((await rig.ask('GET', '/api/config/backups/..%2Fconfig.json')).status, 404);
});

test('presets are listed, read, written and removed', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'junctor-outside-'));
  t.teardown(() => rm(outside, { recursive: true, force: true }));
  const rig = await open(
    t,
    quiet,
    {},
    {
      files: {
        'presets/good/manifest.json': '{ /* mine */ "Router": { "default": "p,n" } }',
        'presets/bad/manifest.json': '{ "Router": { "default": "q,n" } }',
        'presets/torn/manifest.json': '{',
        'presets/none/readme.md': 'no manifest',
      },
    },
  );
  await symlink(outside, join(rig.home, 'presets', 'away'));
  const listed = (await rig.ask('GET', '/api/presets')).body.presets as {
    name: string;
    path: string;
    faults?: { path: string }[];
  }[];
  t.deepEqual(
    listed.map(({ name, faults = [] }) => [name, faults.map(({ path }) => path)]),
    [
      ['bad', ['Router.default']],
      ['good', []],
      ['torn', ['']],
    ],
  );
  t.deepEqual((await rig.ask('GET', '/api/presets/good')).body, { Router: { default: 'p,n' } });
  t.is((await rig.ask('GET', '/api/presets/torn')).status, 400);
  t.is((await rig.ask('GET', '/api/presets/none')).status, 404);
  const refused = await rig.ask('PUT', '/api/presets/fresh', { Router: { default: 'q,n' }, transformers: [1] });
  t.is(refused.status, 400);
  t.regex(String(refused.body.message), /:\n- transformers\[0\] .*\n- Router\.default [^\n]*$/);
  const unloaded = await rig.ask('PUT', '/api/presets/fresh', { transformers: ['nope'] });
  t.regex(String(unloaded.body.message), /transformers\[0\] names a transformer that is not loaded/);
  t.false((await readdir(join(rig.home, 'presets'))).includes('fresh'), 'nothing was made');
  const written = await rig.ask('PUT', '/api/presets/fresh', { Router: { default: 'p,m' }, PORT: 1 });
  t.deepEqual(written.body, {
    success: true,
    message: 'The preset fresh was saved. Warning: PORT has no effect in a preset.',
  });
  const body = { model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  const answer = await rig.ask('POST', '/preset/fresh/v1/messages', body);
  t.is(answer.headers['x-junctor-route'], 'p,m;default');
  for (const name of ['.hidden', 'a%2Fb', '..%2F..%2Fx', 'a'.repeat(65), 'a%20b']) {
    t.is((await rig.ask('PUT', `/api/presets/${name}`, {})).status, 400, name);
  }
  const away = await rig.ask('PUT', '/api/presets/away', {});
  t.is(away.status, 400);
  t.deepEqual(await readdir(outside), []);
  t.is((await rig.ask('DELETE', '/api/presets/fresh')).status, 200);
  t.is((await rig.ask('DELETE', '/api/presets/fresh')).status, 404);
  t.false((await readdir(join(rig.home, 'presets'))).includes('fresh'));
  t.is((await rig.ask('POST', '/preset/fresh/v1/messages', body)).status, 404);
});

test('a log is followed by its offset', async (t) => {
  const rig = await open(t, quiet);
  const path = join(rig.home, 'app.log.1');
  const read = async (query = '') => {
    const answer = await rig.ask('GET', `/api/logs?file=app.log.1${query}`);
    const offset = answer.headers['x-junctor-log-offset'];
    return { lines: JSON.parse(answer.text) as string[], offset: Number(offset), headers: answer.headers };
  };
  await writeFile(path, '{"n":1}\n{"n":2}\n');
  const first = await read();
  t.deepEqual([first.lines, first.offset], [['{"n":1}', '{"n":2}'], 16]);
  const idle = await read('&after=16');
  t.deepEqual([idle.lines, idle.offset], [[], 16]);
  t.is(idle.headers['x-junctor-log-omitted'], undefined);
  await writeFile(path, '{"n":1}\n{"n":2}\n{"n":3}\n{"n"');
  const more = await read('&after=16');
  t.deepEqual([more.lines, more.offset], [['{"n":3}'], 24]);
  await writeFile(path, '{"n":1}\n{"n":2}\n{"n":3}\n{"n":4}\n{"n":5}\n');
  const rest = await read('&after=24');
  t.deepEqual([rest.lines, rest.offset], [['{"n":4}', '{"n":5}'], 40]);
  const few = await read('&after=8&limit=2');
  t.deepEqual([few.lines, few.offset], [['{"n":4}', '{"n":5}'], 40]);
  await writeFile(path, '{"n":6}\n');
  const anew = await read('&after=40');
  t.deepEqual([anew.lines, anew.offset], [['{"n":6}'], 8]);
  for (const after of ['-1', 'x', '1.5', ''])
    t.is((await rig.ask('GET', `/api/logs?after=${after}`)).status, 400, after);
});

test('the built interface is served: types, caching, compression, a strict policy; nothing else is', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-ui-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'assets'));
  const script = `console.log(${JSON.stringify('x'.repeat(5_000))});`;
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Overview</title>');
  await writeFile(join(folder, 'assets', 'index-4f2a9b1c.js'), script);
  await writeFile(join(folder, 'assets', 'plain.css'), 'a{}');
  await writeFile(join(folder, 'assets', 'notes.secret'), 'no');
  await writeFile(join(folder, 'secret.html'), 'no');
  const rig = await open(t, quiet, {}, { uiFolder: folder });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await request(`${rig.baseUrl}${path}`, { headers });
    return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
  };
  const page = await ask('/ui');
  t.is(page.status, 200);
  t.is(page.bytes.toString(), '<!doctype html><title>Overview</title>');
  t.like(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const policy = String(page.headers['content-security-policy']);
  t.regex(policy, /default-src 'self'/);
  t.regex(policy, /frame-ancestors 'none'/);
  t.notRegex(policy, /unsafe|\*|https?:/);
  const forms = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [encoding, undo] of Object.entries(forms)) {
    for (const turn of ['first', 'kept']) {
      const asset = await ask('/ui/assets/index-4f2a9b1c.js', { 'accept-encoding': encoding });
      t.is(asset.headers['content-encoding'], encoding, turn);
      t.true(asset.bytes.length < 500);
      t.is(undo(asset.bytes).toString(), script);
    }
  }
  const plain = await ask('/ui/assets/index-4f2a9b1c.js', { 'accept-encoding': 'br;q=0, zstd' });
  t.is(plain.bytes.toString(), script);
  t.like(plain.headers, {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
    'content-encoding': undefined,
  });
  t.is((await ask('/ui/assets/plain.css')).headers['cache-control'], 'no-cache');
  const moved = await ask('/ui/');
  t.deepEqual(
    [moved.status, moved.headers.location],
    [308, '../ui'],
    'relative, so that it holds below a path of a proxy',
  );
  for (const path of ['notes.secret', 'none.js', '..%2Findex.html', '..%2Fsecret.html', '../secret.html', '']) {
    t.is((await ask(`/ui/assets/${path}`, { 'x-api-key': key })).status, 404, path);
  }
  t.is((await ask('/ui/secret.html', { 'x-api-key': key })).status, 404);
  t.is((await rig.ask('GET', '/ui')).status, 200);
  t.is((await rig.ask('GET', '/ui/')).status, 308);
});

test('until the interface is built, its page says so and loads itself again; a new build is served at once', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-ui-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, 'dist');
  const rig = await open(t, quiet, {}, { uiFolder: folder });
  const page = await rig.ask('GET', '/ui');
  t.is(page.status, 503);
  t.regex(page.text, /is being built/);
  t.regex(page.text, /<meta http-equiv="refresh" content="2">/);
  t.is((await rig.ask('GET', '/ui/assets/x.js')).status, 404);
  for (const name of ['one', 'two']) {
    const draft = join(home, name);
    await mkdir(join(draft, 'assets'), { recursive: true });
    await writeFile(join(draft, 'index.html'), name);
    await writeFile(join(draft, 'assets', `${name}.js`), '');
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
    t.is((await rig.ask('GET', '/ui')).text, name);
    t.is((await rig.ask('GET', `/ui/assets/${name}.js`)).status, 200);
  }
  t.is((await rig.ask('GET', '/ui/assets/one.js')).status, 404);
});

test("a package that has lost its interface's files says so, and what to do", async (t) => {
  const load = async () =>
    uiOperations(
      async () => new Map(),
      () => false,
    );
  const places = { page: 'GET /ui', redirect: 'GET /ui/', asset: 'GET /ui/assets/*' } as const;
  const { ask } = await serveRoutes(t, lazyRoutes(places, load, { open: true }));
  const page = await ask('/ui');
  t.is(page.status, 503);
  t.regex(await page.text(), /files of the web interface are missing[\s\S]*junctor stop/);
});
