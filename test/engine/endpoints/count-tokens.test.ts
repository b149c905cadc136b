import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { countTokensEndpoint } from '../../../engine/endpoints/count-tokens.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Gateway } from '../../../engine/routing/gateway.ts';
import { synchronousPromptTokens } from '../../../engine/routing/tokens/prompt-tokens.ts';
import { messagesCounting } from '../../../protocols/messages/count-tokens.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { startGateway } from '../../support/gateway.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';
import { jsonAnswer, type Script, startUpstream } from '../../support/upstreams/upstream.ts';
import { serve } from '../http/rig.ts';

/** So long that no test that gets an answer waits for it. */
const patientMs = 600_000;

/** The endpoint before an upstream of Messages (`p`) and one of Chat Completions (`c`); every text counts 1,000 tokens. */
const open = async (t: ExecutionContext, script: Script, more: JsonObject = {}, limitMs = patientMs) => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const config = configOf({
    Providers: [
      { name: 'p', baseUrl: upstream.url, apiKey: 'provider key', models: ['m'] },
      { name: 'c', baseUrl: upstream.url, apiKey: 'k', models: ['n'] },
    ],
    transformers: [{ name: 'anthropic', provider: 'p' }],
    ...more,
  });
  const gateway: Gateway = gatewayOf(t, config, {
    tokens: synchronousPromptTokens(({ system, turns }) => 1000 * (system.length + turns.length)),
  });
  const endpoint = countTokensEndpoint({ client: messagesClient, ...messagesCounting, limitMs }, { gateway });
  const { port } = await serve(t, [{ method: 'POST', path: '/v1/messages/count_tokens', endpoint }]);
  const count = async (body: JsonObject | string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`http://127.0.0.1:${port}/v1/messages/count_tokens?beta=true`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const value: unknown = await answer.body.json();
    return { status: answer.statusCode, by: answer.headers['x-junctor-count'], headers: answer.headers, value };
  };
  return { count, upstream };
};

const counted: Script = () => jsonAnswer({ input_tokens: 4711 });
const hi = [{ role: 'user', content: 'hi' }];

test('an upstream of the same format counts: its own path and key, the body as it came but for the model', async (t) => {
  const { count, upstream } = await open(t, counted);
  const body = '{ "messages":[{"role":"user","content":"h\\u00e9"}],  "model":"p,m", "unknown":12345678901234567890 }';
  const got = await count(body, {
    authorization: 'Bearer client key',
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'some-beta',
  });
  t.deepEqual([got.status, got.value, got.by], [200, { input_tokens: 4711 }, 'upstream']);
  t.is(got.headers['x-junctor-route'], 'p,m;explicit');
  const [asked] = upstream.requests;
  t.is(asked?.url, '/v1/messages/count_tokens');
  t.is(asked?.text, body.replace('"p,m"', '"m"'));
  t.like(asked?.headers, {
    'x-api-key': 'provider key',
    authorization: undefined,
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'some-beta',
    accept: 'application/json',
  });
});

test('what is counted is what would be sent: without the tag, and with what stages add', async (t) => {
  const { count, upstream } = await open(t, counted, {
    transformers: [{ name: 'anthropic', provider: 'p' }, 'tooluse', { name: 'maxtoken', options: { max_tokens: 9 } }],
  });
  const tools = [{ name: 't', input_schema: { type: 'object' } }];
  const system = 'Be kind.<JUNCTOR-MODEL>p,m</JUNCTOR-MODEL>';
  const got = await count({ model: 'any', messages: hi, system, tools, max_tokens: 5, temperature: 0.5 });
  t.is(got.by, 'upstream');
  t.is(got.headers['x-junctor-route'], 'p,m;tag');
  const body: JsonObject = Object(upstream.requests[0]?.body);
  t.deepEqual(
    Object.keys(body).filter((name) => !messagesCounting.upstream.fields.has(name)),
    [],
  );
  t.is(body.model, 'm');
  t.false(upstream.requests[0]?.text.includes('JUNCTOR'));
  t.true(upstream.requests[0]?.text.includes('ExitTool'));
});

const silences: readonly (readonly [title: string, script: Script])[] = [
  ['says that it has no such path', () => jsonAnswer({ type: 'error', error: { message: 'no', type: 'x' } }, 404)],
  ['refuses', () => jsonAnswer({ error: 'no' }, 400)],
  ['is out of order', () => jsonAnswer({ error: 'no' }, 500)],
  ['answers with another shape', () => jsonAnswer({ tokens: 3 })],
  ['answers with no number', () => jsonAnswer({ input_tokens: 'many' })],
  ['answers with no JSON', () => ({ headers: { 'content-type': 'application/json' }, pieces: ['{'] })],
  ['closes the connection', () => 'close'],
];
for (const [title, script] of silences) {
  test(`an upstream that ${title}: the count is estimated, hidden instructions included`, async (t) => {
    const { count } = await open(t, script);
    const plain = await count({ model: 'p,m', messages: hi });
    t.deepEqual([plain.status, plain.value, plain.by], [200, { input_tokens: 1000 }, 'estimate']);
    const tools = [{ name: 't', input_schema: { type: 'object' } }];
    const more = await count({ model: 'p,m', messages: hi, tools, thinking: { type: 'adaptive' } });
    t.deepEqual(more.value, { input_tokens: 1579 });
  });
}

test('an upstream that takes too long is not waited for, and its connection is closed', async (t) => {
  const { count, upstream } = await open(t, () => 'never', {}, 100);
  const got = await count({ model: 'p,m', messages: hi });
  t.deepEqual([got.value, got.by], [{ input_tokens: 1000 }, 'estimate']);
  await upstream.requests[0]?.closed;
});

test('an upstream of another format is not asked, and nothing hidden is added for it', async (t) => {
  const { count, upstream } = await open(t, counted);
  const tools = [{ name: 't', input_schema: { type: 'object' } }];
  const got = await count({ model: 'c,n', messages: hi, system: 'Be kind.', tools });
  t.deepEqual([got.status, got.value, got.by], [200, { input_tokens: 2000 }, 'estimate']);
  t.is(upstream.requests.length, 0);
});

const faults: readonly (readonly [title: string, body: JsonObject | string, message: RegExp])[] = [
  ['no JSON', '{', /not valid JSON/],
  ['no messages', { model: 'p,m' }, /messages is required/],
  ['a provider that is not there', { model: 'x,m', messages: hi }, /no provider "x"/],
  ['a model that nothing leads on from', { model: 'nobody', messages: hi }, /No provider lists/],
];
for (const [title, body, message] of faults) {
  test(`an error has the shape of the messages route: ${title}`, async (t) => {
    const { count } = await open(t, counted);
    const got = await count(body);
    t.is(got.status, 400);
    t.like(got.value, { type: 'error', error: { type: 'invalid_request_error' } });
    t.regex(String(Object(got.value).error.message), message);
    t.is(Object(got.value).request_id, got.headers['x-request-id']);
  });
}

test('a request for a stream gets its count whole all the same', async (t) => {
  const { count } = await open(t, () => jsonAnswer({ error: 'no' }, 500));
  const got = await count({ model: 'p,m', messages: hi, stream: true });
  t.deepEqual([got.status, got.value], [200, { input_tokens: 1000 }]);
  t.regex(String(got.headers['content-type']), /^application\/json/);
});

/** The gateway before an upstream that answers by `script`, spoken to in Responses (`r`) and in Chat Completions (`c`). */
const openResponses = async (t: ExecutionContext, script: Script) => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [
        { name: 'r', baseUrl: upstream.url, apiKey: 'k', models: ['m'] },
        { name: 'c', baseUrl: upstream.url, apiKey: 'k', models: ['n'] },
      ],
      transformers: [{ name: 'openai', provider: 'r', options: { api: 'responses' } }],
      Router: { default: 'r,m' },
    },
    {},
    { files: { 'presets/other/manifest.json': JSON.stringify({ Router: { default: 'c,n' } }) } },
  );
  t.teardown(gateway.stop);
  const post = async (path: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const value: unknown = await answer.body.json();
    return { status: answer.statusCode, value, headers: answer.headers };
  };
  return { post, upstream };
};

test('the Responses route counts here, whatever the upstream speaks, on each of its paths', async (t) => {
  const { post, upstream } = await openResponses(t, counted);
  const body = {
    model: 'any',
    instructions: 'Be brief.',
    input: 'one two three',
    tools: [{ type: 'function', name: 'f' }],
  };
  const counts: unknown[] = [];
  for (const path of [
    '/v1/responses/input_tokens',
    '/responses/input_tokens',
    '/preset/other/v1/responses/input_tokens',
  ]) {
    const { status, value, headers } = await post(path, body);
    t.is(status, 200, path);
    t.is(headers['x-junctor-count'], 'estimate');
    t.deepEqual(Object.keys(Object(value)), ['object', 'input_tokens']);
    t.is(Object(value).object, 'response.input_tokens');
    counts.push(Object(value).input_tokens);
  }
  t.true(counts.every((count) => count === counts[0]) && Number(counts[0]) > 10);
  t.is(upstream.requests.length, 0);
  const fewer = await post('/v1/responses/input_tokens', { model: 'any', instructions: 'Be brief.' });
  t.true(Object(fewer.value).input_tokens < Number(counts[0]));
  const state = await post('/v1/responses/input_tokens', { ...body, previous_response_id: 'resp_1' });
  t.is(state.status, 400);
  t.like(state.value, { error: { param: 'previous_response_id' } });
});

test('a conversation is compacted by an upstream of the same protocol; its answer comes as it is', async (t) => {
  const answer = {
    id: 'resp_1',
    object: 'response.compaction',
    output: [{ type: 'compaction', encrypted_content: 'x' }],
  };
  const { post, upstream } = await openResponses(t, () => jsonAnswer(answer));
  const body = { model: 'r,m', input: [{ role: 'user', content: 'hi' }], unknown: 1 };
  const { status, value, headers } = await post('/v1/responses/compact', body);
  t.is(status, 200);
  t.deepEqual(value, answer);
  t.is(headers['x-junctor-route'], 'r,m;explicit');
  t.is(upstream.requests[0]?.url, '/v1/responses/compact');
  t.deepEqual(upstream.requests[0]?.body, { ...body, model: 'm' });
});

test('what only a Responses upstream can read is refused elsewhere, and nothing is sent', async (t) => {
  const { post, upstream } = await openResponses(t, counted);
  const hello = { role: 'user', content: 'hi' };
  for (const [path, input, param] of [
    ['/v1/responses/compact', [{ type: 'compaction', encrypted_content: 'x' }, hello], 'input[0]'],
    ['/preset/other/responses/compact', [hello, { type: 'compaction' }], 'input[1]'],
    ['/v1/responses', [{ type: 'compaction_trigger' }, hello], 'input[0]'],
    ['/v1/responses', [{ type: 'compaction', encrypted_content: 'x' }, hello], 'input[0]'],
  ] as const) {
    const { status, value } = await post(path, { model: path.startsWith('/preset') ? 'any' : 'c,n', input });
    t.is(status, 400, path);
    t.like(value, { error: { type: 'invalid_request_error', param, code: 'unsupported_parameter' } });
  }
  t.is(upstream.requests.length, 0);
});

test('an item that asks for a compaction reaches a Responses upstream as it came, with the header that it needs', async (t) => {
  const output = [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'sealed' }];
  const { post, upstream } = await openResponses(t, () => jsonAnswer({ id: 'resp_1', object: 'response', output }));
  const body = { model: 'r,m', input: [{ role: 'user', content: 'hi' }, { type: 'compaction_trigger' }] };
  const { status } = await post('/v1/responses', body, { 'x-codex-beta-features': 'remote_compaction_v2' });
  t.is(status, 200);
  t.deepEqual(upstream.requests[0]?.body, { ...body, model: 'm' });
  t.is(upstream.requests[0]?.headers['x-codex-beta-features'], 'remote_compaction_v2');
});

test('a destination without a counting endpoint is asked once for a while', async (t) => {
  const answers: Script[] = [() => jsonAnswer({ error: 'no such path' }, 404), () => jsonAnswer({ tokens: 1 })];
  for (const answer of answers) {
    const { count, upstream } = await open(t, answer);
    for (let i = 0; i < 3; i += 1) t.is((await count({ model: 'p,m', messages: hi })).by, 'estimate');
    t.is(upstream.requests.length, 1);
    await count({ model: 'p,other', messages: hi });
    t.is(upstream.requests.length, 2, 'another model may have one');
  }
  const { count, upstream } = await open(t, () => jsonAnswer({ error: 'busy' }, 503));
  for (let i = 0; i < 2; i += 1) t.is((await count({ model: 'p,m', messages: hi })).by, 'estimate');
  t.is(upstream.requests.length, 2, 'a fault of the moment');
});
