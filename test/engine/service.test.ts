import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { request } from 'undici';
import type { Format } from '../../engine/model/transformer.ts';
import { formats } from '../../transformers/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readChatReply, readChatStream } from '../support/readers/chat.ts';
import { readMessagesReply, readMessagesStream } from '../support/readers/messages.ts';
import { readResponsesReply, readResponsesStream } from '../support/readers/responses.ts';
import { jsonAnswer, recordedAnswer, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { serveVendor } from '../support/vendors/serve-vendor.ts';

const hi = [{ role: 'user', content: 'Hello!' }];
const routes = [
  ['/v1/messages', { max_tokens: 99, messages: hi }, readMessagesStream, readMessagesReply],
  ['/v1/chat/completions', { messages: hi }, readChatStream, readChatReply],
  ['/chat/completions', { messages: hi }, readChatStream, readChatReply],
  ['/v1/responses', { input: 'Hello!' }, readResponsesStream, readResponsesReply],
  ['/responses', { input: 'Hello!' }, readResponsesStream, readResponsesReply],
] as const;

const post = (
  gateway: Pick<TestGateway, 'baseUrl'>,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) => request(`${gateway.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body), headers });

test('a first start without any key answers on each route, streamed and whole, and writes nothing', async (t) => {
  const gateway = await startGateway();
  try {
    for (const [path, ask, readStream, readReply] of routes) {
      const whole = await post(gateway, path, { ...ask, model: 'any' });
      t.is(whole.headers['x-junctor-route'], 'demo,echo;default');
      t.regex(readReply(await whole.body.json()).text, /Hello!/);
      const streamed = await post(gateway, `${path}?beta=true`, { ...ask, model: 'any', stream: true });
      t.is(streamed.headers['content-type'], 'text/event-stream; charset=utf-8');
      t.is(streamed.headers['cache-control'], 'no-cache, no-transform');
      t.is(streamed.headers['x-accel-buffering'], 'no');
      t.regex(readStream(await streamed.body.text()).text, /Hello!/);
    }
    await t.throwsAsync(stat(join(gateway.home, 'config.json')), { code: 'ENOENT' });
  } finally {
    await gateway.stop();
  }
});

test('a first start with keys in the environment writes references, never the keys', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer({}, 500));
  const keys = { ANTHROPIC_API_KEY: 'canary-a', OPENAI_API_KEY: 'canary-b' };
  const gateway = await startGateway(undefined, keys, { vendors: vendorsAt(upstream.url, 'anthropic', 'openai') });
  try {
    const file = join(gateway.home, 'config.json');
    const text = await readFile(file, 'utf8');
    t.false(text.includes('canary'));
    const written: { Providers: { apiKey: string }[] } = JSON.parse(text);
    t.deepEqual(written.Providers.map(({ apiKey }) => apiKey).sort(), ['$ANTHROPIC_API_KEY', '$OPENAI_API_KEY']);
    t.is((await stat(file)).mode & 0o777, 0o600);
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});

/** Rows of these vendors, at an address of the test's. */
const vendorsAt = (url: string, ...names: readonly string[]): readonly Format[] =>
  names.flatMap((name) => {
    const row = formats.get(name);
    if (!row?.firstStart) return [];
    const baseUrl = url + new URL(row.firstStart.baseUrl).pathname;
    return [{ ...row, hosts: [new URL(url).hostname], firstStart: { ...row.firstStart, baseUrl } }];
  });

interface FirstRun {
  readonly vendor: string;
  readonly variable: string;
  /** Where its list stands, and the list. */
  readonly list: string;
  readonly lists: (models: readonly string[]) => object;
  readonly answer: string;
}

const openAiList = (models: readonly string[]) => ({ object: 'list', data: models.map((id) => ({ id })) });
const firstRuns: readonly FirstRun[] = [
  {
    vendor: 'anthropic',
    variable: 'ANTHROPIC_API_KEY',
    list: '/v1/models?limit=1000',
    lists: (models) => ({ data: models.map((id) => ({ type: 'model', id })), has_more: false }),
    answer: 'anthropic/json-text-stop-sequence.json',
  },
  {
    vendor: 'openai',
    variable: 'OPENAI_API_KEY',
    list: '/v1/models',
    lists: openAiList,
    answer: 'openai-chat/json-cached-tokens.json',
  },
  {
    vendor: 'deepseek',
    variable: 'DEEPSEEK_API_KEY',
    list: '/v1/models',
    lists: openAiList,
    answer: 'deepseek/json-json-mode.json',
  },
  {
    vendor: 'gemini',
    variable: 'GEMINI_API_KEY',
    list: '/v1beta/models?pageSize=1000',
    lists: (models) => ({ models: models.map((name) => ({ name: `models/${name}` })) }),
    answer: 'gemini/json-structured.json',
  },
  {
    vendor: 'openrouter',
    variable: 'OPENROUTER_API_KEY',
    list: '/api/v1/models',
    lists: openAiList,
    answer: 'openrouter/json-image.json',
  },
  {
    vendor: 'groq',
    variable: 'GROQ_API_KEY',
    list: '/openai/v1/models',
    lists: openAiList,
    answer: 'groq/json-cached.json',
  },
];

for (const { vendor, variable, list, lists, answer } of firstRuns) {
  const today = formats.get(vendor)?.firstStart?.models ?? [];
  const [strong = '', ...others] = today;
  const fast = today.at(-1) ?? '';
  for (const [title, listed, used] of [
    ['lists its models', today, strong],
    ...(others.length > 0
      ? [['no longer has the strongest', ['something-else', ...others], others[0] ?? ''] as const]
      : []),
    ['lists nothing', undefined, strong],
  ] as const) {
    test(`a run from nothing with a key of ${vendor}, which ${title}, answers its first request`, async (t) => {
      const upstream = await startUpstream(({ method }) => {
        if (method === 'POST') return recordedAnswer(answer);
        return listed ? jsonAnswer(lists(listed)) : jsonAnswer({ error: { message: 'not now' } }, 503);
      });
      t.teardown(() => upstream.close());
      const gateway = await startGateway(
        undefined,
        { [variable]: 'canary' },
        { vendors: vendorsAt(upstream.url, vendor) },
      );
      t.teardown(() => gateway.stop());
      const asked = upstream.requests.filter(({ method }) => method === 'GET').map(({ url }) => url);
      t.deepEqual(asked, [list]);
      const reply = await post(gateway, '/v1/messages', { model: 'any', max_tokens: 99, messages: hi });
      t.is(reply.headers['x-junctor-route'], `${vendor},${used};default`);
      t.is(reply.statusCode, 200);
      t.true(JSON.stringify(readMessagesReply(await reply.body.json())).length > 50);
      const sent = upstream.requests.at(-1);
      t.true(`${sent?.url} ${sent?.text}`.includes(used));
      const small = await post(gateway, '/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 99, messages: hi });
      t.is(
        small.headers['x-junctor-route'],
        used === fast ? `${vendor},${used};default` : `${vendor},${fast};background`,
      );
      await small.body.dump();
      const written = await readFile(join(gateway.home, 'config.json'), 'utf8');
      t.false(written.includes('canary'));
    });
  }
}

test('a vendor that gives neither its list nor a count is waited for a while', async (t) => {
  const upstream = await startUpstream(() => 'never');
  t.teardown(() => upstream.close());
  const vendors = vendorsAt(upstream.url, 'anthropic');
  const waits = { modelListMs: 200, countMs: 200, trialMs: 600_000 };
  const gateway = await startGateway(undefined, { ANTHROPIC_API_KEY: 'k' }, { vendors, waits });
  t.teardown(() => gateway.stop());
  const count = await post(gateway, '/v1/messages/count_tokens', { model: 'anthropic,m', messages: hi });
  t.deepEqual([count.statusCode, count.headers['x-junctor-count']], [200, 'estimate'], await count.body.text());
});

test('the scenarios, the tag and the explicit name each find their provider', async (t) => {
  const upstream = await serveVendor(chatVendor, 'k');
  const provider = (name: string) => ({ name, baseUrl: upstream.url, apiKey: 'k', models: [`${name}-model`] });
  const names = ['base', 'long', 'eye', 'web', 'back', 'deep', 'tagged'];
  const gateway = await startGateway({
    LOG: false,
    Providers: names.map(provider),
    Router: {
      default: 'base,base-model',
      longContextThreshold: 2_000,
      routes: {
        longContext: 'long,long-model',
        image: 'eye,eye-model',
        webSearch: 'web,web-model',
        background: 'back,back-model',
        think: 'deep-model',
      },
    },
  });
  const image = [
    { type: 'text', text: 'look' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  ];
  const cases: readonly (readonly [expected: string, change: object])[] = [
    ['base,base-model;default', { model: 'claude-sonnet' }],
    ['long,long-model;longContext', { messages: [{ role: 'user', content: 'many words '.repeat(3_000) }] }],
    ['eye,eye-model;image', { messages: [{ role: 'user', content: image }] }],
    ['web,web-model;webSearch', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['back,back-model;background', { model: 'claude-3-5-Haiku-latest' }],
    ['deep,deep-model;think', { max_tokens: 4_000, thinking: { type: 'enabled', budget_tokens: 2_000 } }],
    ['base,base-model;default', { thinking: { type: 'adaptive' } }],
    ['web,some/other:model,x;explicit', { model: 'web,some/other:model,x' }],
    ['tagged,tagged-model;tag', { system: 'Be kind. <JUNCTOR-MODEL>tagged,tagged-model</JUNCTOR-MODEL>' }],
    [
      'tagged,tagged-model;tag',
      { system: [{ type: 'text', text: '<CCR-SUBAGENT-MODEL>tagged,tagged-model</CCR-SUBAGENT-MODEL>x' }] },
    ],
  ];
  try {
    for (const [expected, change] of cases) {
      const answer = await post(gateway, '/v1/messages', { model: 'm', max_tokens: 9, messages: hi, ...change });
      await answer.body.dump();
      t.is(answer.headers['x-junctor-route'], expected);
      t.false(upstream.requests.at(-1)?.text.includes('-MODEL>'));
    }
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});

test('the key is asked for on every model route; health and the root need none', async (t) => {
  const gateway = await startGateway({ APIKEY: 'the-key', LOG: false });
  try {
    for (const [path, ask] of routes) {
      for (const headers of [{}, { 'x-api-key': 'wrong' }, { authorization: 'Bearer wrong' }]) {
        const refused = await post(gateway, path, { ...ask, model: 'x' }, headers);
        t.is(refused.statusCode, 401);
        t.truthy(Object(await refused.body.json()).error.message);
      }
      for (const headers of [{ 'x-api-key': 'the-key' }, { authorization: 'Bearer the-key' }]) {
        const answer = await post(gateway, path, { ...ask, model: 'x' }, headers);
        t.is(answer.statusCode, 400, 'no provider, but past the key');
        await answer.body.dump();
      }
    }
    for (const [path, method] of [
      ['/health', 'GET'],
      ['/', 'HEAD'],
    ] as const) {
      const answer = await request(`${gateway.baseUrl}${path}`, { method });
      t.is(answer.statusCode, 200);
      await answer.body.dump();
    }
  } finally {
    await gateway.stop();
  }
});

test('a compressed body, a long header and the request id', async (t) => {
  const gateway = await startGateway();
  try {
    const answer = await request(`${gateway.baseUrl}/v1/messages`, {
      method: 'POST',
      body: gzipSync(JSON.stringify({ model: 'any', max_tokens: 9, messages: hi })),
      headers: { 'content-encoding': 'gzip', 'x-request-id': 'mine-1', 'x-long': 'y'.repeat(60_000) },
    });
    t.is(answer.statusCode, 200);
    t.is(answer.headers['x-request-id'], 'mine-1');
    await answer.body.dump();
  } finally {
    await gateway.stop();
  }
});

test.serial('a client that leaves takes its upstream request with it', async (t) => {
  const upstream = await startUpstream(() =>
    sseAnswer(['data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'], 'stall'),
  );
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: [] }],
  });
  try {
    for (const [path, ask] of routes) {
      const answer = await post(gateway, path, { ...ask, model: 'p,m', stream: true });
      await new Promise((resolve) => answer.body.once('data', resolve));
      answer.body.destroy();
      await upstream.requests.at(-1)?.closed;
      t.pass();
    }
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});

const runProcess = (home: string): ChildProcess =>
  spawn(process.execPath, ['engine/cli/junctor.js', 'start'], { env: { ...process.env, JUNCTOR_HOME: home } });

const output = async (child: ChildProcess, until: RegExp): Promise<string> => {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (until.test(text)) break;
  }
  return text;
};

const exit = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once('exit', resolve));

test('SIGTERM lets a stream run to its end and exits with 0', async (t) => {
  const upstream = await startUpstream(() =>
    sseAnswer(['data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', 800, 'data: [DONE]\n\n']),
  );
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  const Providers = [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }];
  await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, Providers }));
  const child = runProcess(home);
  try {
    const [, baseUrl = ''] = /listens on (\S+)/.exec(await output(child, /listens on \S+\n/)) ?? [];
    const answer = await post({ baseUrl }, '/v1/chat/completions', { model: 'p,m', messages: hi, stream: true });
    const ended = exit(child);
    await new Promise((resolve) => answer.body.once('readable', resolve));
    child.kill('SIGTERM');
    t.regex(await answer.body.text(), /\[DONE\]/);
    t.is(await ended, 0);
  } finally {
    child.kill('SIGKILL');
    await upstream.close();
    await rm(home, { recursive: true, force: true });
  }
});

for (const [title, config, expected] of [
  ['a broken config.json', '{ "Providers": [ { "name": 5 } ] }', /Providers\[0\]\.name must be string/],
  ['S1 an open address without a key', '{ "HOST": "0.0.0.0" }', /APIKEY/],
  ['JSON that can’t be read', '{ "PORT": }', /line 1/],
] as const) {
  test(`${title} ends the start with the reason and a status`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'junctor-'));
    await writeFile(join(home, 'config.json'), config);
    const child = runProcess(home);
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    // Only then has all of its output been read.
    const [status] = await once(child, 'close');
    t.is(status, 1);
    t.regex(said, expected);
    t.notRegex(said, /at .*\.ts:/, 'no stack');
    await rm(home, { recursive: true, force: true });
  });
}

test('an upstream that answers JSON to a stream request, and a stream to a plain one, is understood', async (t) => {
  const reply = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'word' }, finish_reason: 'stop' }],
  };
  const chunks = [
    'data: {"id":"c","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":"stop"}]}\n\n',
    'data: [DONE]\n\n',
  ];
  const upstream = await startUpstream(({ body }) => (Object(body).stream ? jsonAnswer(reply) : sseAnswer(chunks)));
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: [] }],
  });
  try {
    for (const [path, ask, readStream, readReply] of routes) {
      const streamed = await post(gateway, path, { ...ask, model: 'p,m', stream: true });
      t.is(readStream(await streamed.body.text()).text, 'word');
      const whole = await post(gateway, path, { ...ask, model: 'p,m' });
      t.is(readReply(await whole.body.json()).text, 'word');
    }
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});
