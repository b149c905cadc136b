import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Json, JsonObject } from '../../../../engine/model/json/json.ts';
import type { Lack } from '../../../../engine/model/models/model-facts.ts';
import { formats } from '../../../../transformers/index.ts';
import { type GatewayExtras, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../../support/upstreams/upstream.ts';

/*
 * The catalogue of models in a running service: what lists and the configuration say, in all places that show it.
 */

const list = {
  data: [
    {
      id: 'm',
      context_length: 5_000,
      top_provider: { max_completion_tokens: 700 },
      pricing: { prompt: '0.000001', completion: '0.000002' },
    },
    { id: 'other', context_length: 9_000 },
  ],
};

/** An answer of a server that says what it charges, and what the vendor charges to the user's own key. */
const billed = {
  ...chatReply('fine'),
  usage: {
    prompt_tokens: 1,
    completion_tokens: 1,
    cost: 0.000_5,
    is_byok: true,
    cost_details: { upstream_inference_cost: 0.001 },
  },
};

const vendor = async (t: ExecutionContext, models: () => object = () => list): Promise<ScriptedUpstream> => {
  const upstream = await startUpstream(({ method, url, text }) => {
    if (method !== 'GET') return jsonAnswer(text.includes('"billed"') ? billed : chatReply('fine'));
    const body = url.startsWith('/v1/models') ? models() : {};
    return jsonAnswer(body, 'error' in body ? 500 : 200);
  });
  t.teardown(upstream.close);
  return upstream;
};

const open = async (t: ExecutionContext, providers: readonly object[], extras: GatewayExtras = {}) => {
  const gateway = await startGateway({ Providers: providers, Router: { default: 'p,m' } }, {}, extras);
  t.teardown(gateway.stop);
  return gateway;
};

const provider = ({ url }: ScriptedUpstream, ...models: readonly Json[]) => ({
  name: 'p',
  baseUrl: `${url}/v1`,
  apiKey: 'canary-key-of-p',
  models,
});

const call = async (gateway: TestGateway, path: string, init: RequestInit = {}): Promise<JsonObject> =>
  (await fetch(gateway.baseUrl + path, init)).json() as Promise<JsonObject>;

const refresh = (gateway: TestGateway): Promise<JsonObject> => call(gateway, '/api/models/refresh', { method: 'POST' });

test('what the configuration says of a model is in both shapes of the list', async (t) => {
  const upstream = await vendor(t);
  const price = { input: 0.1, output: 3, cacheRead: 0.01 };
  const known = { name: 'm', context: 4_000, maxOutput: 500, input: ['text', 'pdf'], price };
  const gateway = await open(t, [provider(upstream, known, 'n')]);
  t.like(await call(gateway, '/v1/models/p,m'), {
    context_length: 4_000,
    max_completion_tokens: 500,
    architecture: { input_modalities: ['text', 'file'] },
    pricing: { prompt: '0.0000001', completion: '0.000003', input_cache_read: '0.00000001' },
  });
  const paged = { headers: { 'anthropic-version': '2023-06-01' } };
  t.like(await call(gateway, '/v1/models/p,m', paged), { max_input_tokens: 4_000, max_tokens: 500 });
  t.like(await call(gateway, '/v1/models/p,n', paged), { max_input_tokens: null, max_tokens: null });
  t.false('context_length' in (await call(gateway, '/v1/models/p,n')));
  t.is(upstream.requests.length, 0, 'nothing is asked for by itself');
});

test("a provider's list is asked for on demand, kept, and used by the next start", async (t) => {
  const upstream = await vendor(t);
  const one = provider(upstream, { name: 'm', maxOutput: 500 });
  const gateway = await open(t, [{ ...one, baseUrl: `${one.baseUrl}?token=canary-in-the-url` }]);
  const before = await call(gateway, '/api/models');
  t.like(before, { providers: [{ provider: 'p', listedAt: null, models: [{ model: 'm', maxOutput: 500 }] }] });
  t.deepEqual(await refresh(gateway), { providers: [{ provider: 'p', models: 2 }] });
  const { providers }: { providers?: { listedAt: string; models: object[] }[] } = await call(gateway, '/api/models');
  t.is(typeof providers?.[0]?.listedAt, 'string');
  t.deepEqual(providers?.[0]?.models, [
    {
      model: 'm',
      context: 5_000,
      maxOutput: 500,
      price: { input: 1, output: 2 },
      from: { context: 'list', maxOutput: 'configuration', price: 'list' },
    },
  ]);
  const file = join(gateway.home, 'models.json');
  t.is((await stat(file)).mode & 0o777, 0o600);
  const kept = await readFile(file, 'utf8');
  t.false(kept.includes('canary'));
  const next = await open(t, [provider(upstream, 'm')], { files: { 'models.json': kept } });
  t.like(await call(next, '/v1/models/p,m'), { context_length: 5_000, max_completion_tokens: 700 });
  const elsewhere = { ...provider(upstream, 'm'), baseUrl: `${upstream.url}/other` };
  const moved = await open(t, [elsewhere], { files: { 'models.json': kept } });
  t.false('context_length' in (await call(moved, '/v1/models/p,m')), 'the list of another address is not used');
});

test('a list that fails changes nothing, and a file that is no list is ignored', async (t) => {
  let answer: object = list;
  const upstream = await vendor(t, () => answer);
  const gateway = await open(t, [provider(upstream, 'm')], { files: { 'models.json': '{"lists":[{"provider":1}]}' } });
  await refresh(gateway);
  answer = { error: { message: 'no list for canary-key-of-p' } };
  const refused = await refresh(gateway);
  t.like(refused, { providers: [{ provider: 'p', models: 0 }] });
  t.regex(JSON.stringify(refused), /no list/);
  t.false(JSON.stringify(refused).includes('canary-key-of-p'));
  t.like(await call(gateway, '/v1/models/p,m'), { context_length: 5_000 });
  const unknown = { method: 'POST', body: JSON.stringify({ provider: 'nobody' }) };
  t.is((await fetch(`${gateway.baseUrl}/api/models/refresh`, unknown)).status, 404);
});

test('a list that can not be written is used nevertheless', async (t) => {
  const upstream = await vendor(t);
  const gateway = await open(t, [provider(upstream, 'm')], { files: { 'models.json/in-the-way': '' } });
  t.regex(JSON.stringify(await refresh(gateway)), /in use, but models\.json can't be written \(E\w+\)/);
  t.like(await call(gateway, '/v1/models/p,m'), { context_length: 5_000 });
});

test('a bare name and an alias have the smallest window of all that may answer', async (t) => {
  const upstream = await vendor(t);
  const one = provider(upstream, { name: 'm', context: 4_000 });
  const gateway = await startGateway({
    Providers: [one, { ...one, name: 'q', models: [{ name: 'm', context: 3_000 }] }],
    Router: { default: 'p,m', fallback: { default: ['q,m'] } },
  });
  t.teardown(gateway.stop);
  t.like(await call(gateway, '/v1/models/p,m'), { context_length: 4_000 });
  t.like(await call(gateway, '/v1/models/m'), { context_length: 3_000 });
  t.like(await call(gateway, '/v1/models/anthropic-junctor-default'), { context_length: 3_000 });
  t.like(await call(gateway, '/v1/models/anthropic-junctor-p-m'), { context_length: 4_000 });
});

test('the summary of a request has its cost, or none where no price is known', async (t) => {
  const upstream = await vendor(t);
  const gateway = await open(t, [provider(upstream, { name: 'm', price: { input: 1, output: 2 } }, 'n', 'billed')]);
  for (const model of ['p,m', 'p,n', 'p,billed']) {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
    const reply = await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body });
    t.is(reply.status, 200, await reply.text());
  }
  const { requests }: { requests?: { model: string; cost?: number }[] } = await call(gateway, '/api/requests');
  t.deepEqual(
    requests?.map(({ model, cost }) => [model, cost]),
    [
      ['billed', 1_500_000],
      ['n', undefined],
      ['m', 3_000],
    ],
  );
});

test('a configured model that retires within 30 days, or has retired, is a warning with its date', async (t) => {
  const upstream = await vendor(t);
  const nowMs = Date.now();
  const inDays = (days: number): string => new Date(nowMs + days * 86_400_000).toISOString().slice(0, 10);
  const models = [
    { id: 'gone', retires: inDays(-1) },
    { id: 'soon', retires: inDays(29) },
    { id: 'later', retires: inDays(32) },
  ];
  const lists = [{ provider: 'p', address: `${upstream.url}/v1`, atMs: 1, models }];
  const files = { 'models.json': JSON.stringify({ lists }) };
  const gateway = await open(t, [provider(upstream, 'm', 'gone', 'soon', 'later')], { files });
  const warnings = [
    `names "gone", which was shut down on ${inDays(-1)}`,
    `names "soon", which retires on ${inDays(29)}`,
  ].map((message) => ({ path: 'Providers[0].models', message }));
  t.deepEqual(
    gateway.reports,
    warnings.map(({ path, message }) => `warning: ${path} ${message}`),
  );
  const body = await readFile(join(gateway.home, 'config.json'), 'utf8');
  t.like(await call(gateway, '/api/config/check', { method: 'POST', body }), { faults: [], warnings });
});

const outputs: readonly (readonly [what: string, asked: object, sent: object])[] = [
  ['none', {}, { max_tokens: 8_000 }],
  ['more', { max_tokens: 9_000 }, { max_tokens: 8_000 }],
  ['less', { max_tokens: 70 }, { max_tokens: 70 }],
  ['none, with a high effort', { reasoning_effort: 'high' }, { max_tokens: 8_000 }],
];
for (const [what, asked, sent] of outputs) {
  test(`a known longest answer bounds what a Messages upstream is asked for: ${what}`, async (t) => {
    const upstream = await startUpstream(() => jsonAnswer({ error: { type: 'x', message: 'enough' } }, 400));
    t.teardown(upstream.close);
    const models = [{ name: 'm', maxOutput: 8_000 }, 'n'];
    const gateway = await startGateway({
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models }],
      transformers: [{ name: 'anthropic', provider: 'p' }],
      RETRY: { attempts: 0 },
    });
    t.teardown(gateway.stop);
    for (const model of ['p,m', 'p,n']) {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...asked });
      await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
    }
    const [known, unknown] = upstream.requests;
    t.like(known?.body, sent);
    t.true(Number(Object(unknown?.body).max_tokens) >= Number(Object(known?.body).max_tokens));
    if (what === 'more') t.like(unknown?.body, { max_tokens: 9_000 });
  });
}

const capped: readonly (readonly [format: string, options: object, body: (limit: number) => object])[] = [
  ['openai', { api: 'chat' }, (limit) => ({ max_tokens: limit })],
  ['openai', { api: 'responses' }, (limit) => ({ max_output_tokens: limit })],
  ['gemini', {}, (limit) => ({ generationConfig: { maxOutputTokens: limit } })],
];
for (const [format, options, body] of capped) {
  test(`a known longest answer bounds what is asked for: ${format} ${JSON.stringify(options)}`, async (t) => {
    const gateway = await startGateway({
      Providers: [
        { name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: '', models: [{ name: 'm', maxOutput: 8_000 }, 'n'] },
      ],
      transformers: [{ name: format, provider: 'p', options }],
    });
    t.teardown(gateway.stop);
    for (const [model, asked, sent, losses] of [
      ['p,m', 9_000, 8_000, /^\[\{"path":"max_tokens","outcome":"approximated"[^{]*\]$/],
      ['p,m', 70, 70, /^\[\]$/],
      ['p,n', 9_000, 9_000, /^\[\]$/],
    ] as const) {
      const request = { model, max_tokens: asked, messages: [{ role: 'user', content: 'Hello' }] };
      const question = JSON.stringify({ client: 'messages', body: request });
      const explained = await call(gateway, '/api/explain', { method: 'POST', body: question });
      t.like(explained.body, body(sent));
      t.regex(JSON.stringify(explained.losses), losses);
    }
  });
}

const words = (count: number): string => 'four word long text '.repeat(count / 4);

test('a prompt that surely exceeds a known window is refused, unless a fallback may have room', async (t) => {
  const upstream = await vendor(t);
  const models = [{ name: 'm', context: 1_000 }, { name: 'large', context: 9_000 }, 'unknown'];
  const start = async (fallback: readonly string[], routes = {}) => {
    const gateway = await startGateway({
      Providers: [provider(upstream, ...models)],
      Router: { default: 'p,m', fallback: { default: fallback }, routes },
    });
    t.teardown(gateway.stop);
    return async (path: string, content: string) => {
      const body = JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content }] });
      const reply = await fetch(gateway.baseUrl + path, { method: 'POST', body });
      return { status: reply.status, text: await reply.text() };
    };
  };
  const alone = await start([]);
  const refused = await alone('/v1/messages', words(20_000));
  t.is(refused.status, 400);
  t.regex(
    refused.text,
    /"invalid_request_error".*"prompt is too long: \d+ tokens > 1000 maximum \(provider p, model m\)"/s,
  );
  const chat = await alone('/v1/chat/completions', words(20_000));
  t.is(chat.status, 400);
  t.regex(chat.text, /context_length_exceeded/);
  t.is(upstream.requests.length, 0);
  t.is((await alone('/v1/messages', words(1_200))).status, 200, 'the vendor decides what is near the window');
  t.is((await alone('/v1/messages', '😀'.repeat(9_000))).status, 200, 'and where words prove nothing');
  t.is((await (await start(['p,unknown']))('/v1/messages', words(20_000))).status, 200);
  t.is((await (await start(['p,large']))('/v1/messages', words(8_000))).status, 200);
  t.is((await (await start(['p,large']))('/v1/messages', words(20_000))).status, 400);
});

test('a model server at a usual place is asked for the window that it serves', async (t) => {
  const upstream = await vendor(t);
  const models = async () => [{ name: 'm', contextWindow: 1_234 }];
  const localServerKinds = [{ name: 'x', title: 'X', origin: upstream.url, models }];
  const gateway = await open(t, [provider(upstream, 'm', 'other')], { localServerKinds });
  await refresh(gateway);
  t.like(await call(gateway, '/v1/models/p,m'), { context_length: 1_234, max_completion_tokens: 700 });
  t.like(await call(gateway, '/v1/models/p,other'), { context_length: 9_000 });
});

test('longContext goes by the window of the default route, unless a threshold is set', async (t) => {
  const upstream = await vendor(t);
  const models = [{ name: 'm', context: 1_000 }, { name: 'small', context: 500 }, 'unknown', 'long'];
  const routeOf = async (router: object, pools: readonly object[] = []) => {
    const gateway = await startGateway({
      Providers: [provider(upstream, ...models)],
      Pools: pools,
      Router: { routes: { longContext: 'p,long' }, ...router },
    });
    t.teardown(gateway.stop);
    return async (count: number) => {
      const messages = [{ role: 'user', content: words(count) }];
      const body = JSON.stringify({ client: 'chat', body: { model: 'any', messages } });
      const { model, reason } = await call(gateway, '/api/explain', { method: 'POST', body });
      return { model, reason: String(reason) };
    };
  };
  const byWindow = await routeOf({ default: 'p,m' });
  t.like(await byWindow(800), { model: 'm' });
  t.like(await byWindow(1_200), { model: 'long' });
  t.regex((await byWindow(1_200)).reason, /tokens > 900, 90 % of the default model's window$/);
  t.like(await (await routeOf({ default: 'p,m', longContextThreshold: 2_000 }))(1_200), { model: 'm' });
  const unknown = await routeOf({ default: 'p,unknown' });
  t.like(await unknown(50_000), { model: 'unknown' });
  t.regex((await unknown(70_000)).reason, /tokens > 60,000$/);
  const pool = await routeOf({ default: 'both' }, [
    { name: 'both', members: [{ to: 'p,m' }, { to: 'p,small' }], strategy: 'weighted' },
  ]);
  t.regex((await pool(600)).reason, /tokens > 450, /);
});

test('what a model lacks, by the configuration or the package, is not asked of it; bytes that pass stay as they are', async (t) => {
  const upstream = await vendor(t);
  const lacks = ['sampling', 'forcedToolChoice'];
  const gateway = await open(t, [provider(upstream, 'm', { name: 'bare', lacks }, 'openai/gpt-6.1-sol')]);
  const ask = async (path: string, body: object) => {
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      body: JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], ...body }),
    });
    t.is(answer.status, 200, await answer.text());
    return { loss: answer.headers.get('x-junctor-loss'), sent: upstream.requests.at(-1)?.body };
  };
  const tools = [{ name: 'x', input_schema: { type: 'object' } }];
  const asked = { temperature: 0.5, tools, tool_choice: { type: 'any' } };
  t.like((await ask('/v1/messages', { model: 'p,m', ...asked })).sent, { temperature: 0.5, tool_choice: 'required' });
  const bare = await ask('/v1/messages', { model: 'p,bare', ...asked });
  t.like(bare.sent, { temperature: undefined, tool_choice: undefined });
  t.is(bare.loss, 'dropped: temperature; approximated: tool_choice');
  t.like((await ask('/v1/chat/completions', { model: 'p,bare', temperature: 0.5 })).sent, { temperature: 0.5 });
  const off = { thinking: { type: 'disabled' } };
  t.like((await ask('/v1/messages', { model: 'p,openai/gpt-6.1-sol', ...off })).sent, { reasoning_effort: 'low' });
  const listed = JSON.stringify(await call(gateway, '/api/models'));
  t.regex(listed, /"model":"bare","lacks":\["sampling","forcedToolChoice"\]/);
  const optionsOf = async (model: string) =>
    /"step":"encode-request"[^}]*?"options":(\[.*?\])/.exec(
      JSON.stringify(await call(gateway, `/api/graph?client=messages&model=p,${model}`)),
    )?.[1];
  t.is(await optionsOf('bare'), '["lacks.sampling","lacks.forcedToolChoice"]');
  t.is(await optionsOf('m'), undefined);
});

const shippedLacks = [...formats.values()].flatMap(({ name, facts }) =>
  (facts?.models ?? []).flatMap(({ id, lacks = [] }) => lacks.map((lack) => ({ format: name, model: id, lack }))),
);

/** What the dialects' tables know, whose result differs from that of `lacks`. */
const lacksOfDialects = [
  'claude-fable-5-2',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-fable-5-1',
  'claude-fable-5',
].map((model) => ({ format: 'anthropic', model, lack: 'reasoningOff' }) as const);

const hi = { max_tokens: 9_000, messages: [{ role: 'user', content: 'Hi' }] };
const messagesTools = [{ name: 'x', input_schema: { type: 'object' } }];
const chatTools = [{ type: 'function', function: { name: 'x', parameters: { type: 'object' } } }];

/** Requests that ask for what a model lacks, with the path of the loss. */
const asking: Readonly<Record<Lack, readonly (readonly ['messages' | 'chat', body: object, lost: string])[]>> = {
  sampling: [
    ['messages', { ...hi, temperature: 0.5 }, 'temperature'],
    ['chat', { ...hi, top_p: 0.5 }, 'top_p'],
  ],
  forcedToolChoice: [
    ['messages', { ...hi, tools: messagesTools, tool_choice: { type: 'any' } }, 'tool_choice'],
    ['chat', { ...hi, tools: chatTools, tool_choice: 'required' }, 'tool_choice'],
  ],
  reasoningOff: [
    ['messages', { ...hi, thinking: { type: 'disabled' } }, 'thinking'],
    ['chat', { ...hi, reasoning_effort: 'none' }, 'reasoning_effort'],
  ],
  reasoningBudget: [
    ['messages', { ...hi, thinking: { type: 'enabled', budget_tokens: 5_000 } }, 'thinking.budget_tokens'],
  ],
  minimalEffort: [['chat', { ...hi, reasoning_effort: 'minimal' }, 'reasoning_effort']],
};

/** What is sent of these requests, by the upstream's format. */
const adapted: Readonly<Record<string, Partial<Record<Lack, object>>>> = {
  anthropic: {
    sampling: { temperature: undefined, top_p: undefined },
    forcedToolChoice: { tool_choice: { type: 'auto' } },
    reasoningOff: { output_config: { effort: 'low' } },
    reasoningBudget: { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
  },
  gemini: {
    reasoningOff: { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: undefined } } },
    reasoningBudget: { generationConfig: { thinkingConfig: { thinkingLevel: 'MEDIUM', thinkingBudget: undefined } } },
    minimalEffort: { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
  },
  openai: {
    reasoningOff: { reasoning: { effort: 'low', summary: undefined } },
    minimalEffort: { reasoning: { effort: 'low' } },
  },
};

test('each model that is known to lack something gets requests that do without it, with a loss', async (t) => {
  const all = [...shippedLacks, ...lacksOfDialects];
  const names = [...new Set(all.map(({ format }) => format))];
  t.deepEqual(names.toSorted(), Object.keys(adapted).toSorted());
  const gateway = await startGateway({
    Providers: names.map((name) => ({
      name,
      baseUrl: 'http://127.0.0.1:9',
      apiKey: 'k',
      models: [...new Set(all.flatMap(({ format, model }) => (format === name ? [model] : [])))],
    })),
    transformers: [
      ...names.map((name) => ({ name, provider: name, options: name === 'openai' ? { api: 'responses' } : {} })),
      // A stage for requests, so that none is relayed.
      { name: 'maxtoken', options: { max_tokens: 100_000 } },
    ],
  });
  t.teardown(gateway.stop);
  for (const { format, model, lack } of all) {
    for (const [client, asked, lost] of asking[lack]) {
      const body = { model: `${format},${model}`, ...asked };
      const explained = await call(gateway, '/api/explain', { method: 'POST', body: JSON.stringify({ client, body }) });
      const title = `${client} → ${model}: ${lack}`;
      t.like(explained.body, adapted[format]?.[lack] ?? { lack }, title);
      t.true(
        JSON.stringify(explained.losses).includes(`"path":"${lost}"`),
        `${title}: ${JSON.stringify(explained.losses)}`,
      );
    }
  }
});
