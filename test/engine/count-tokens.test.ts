import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { countTokensEndpoint } from '../../engine/count-tokens-endpoint.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import { countedHere } from '../../engine/tokens/prompt-tokens.ts';
import type { Yard } from '../../engine/yard/yard.ts';
import { messagesCounting } from '../../protocols/messages/count-tokens.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { jsonAnswer, type Script, startUpstream } from '../support/upstream.ts';
import { configOf, yardOf } from '../support/yard.ts';
import { serve } from './http/rig.ts';

const limitMs = 300;

/** The endpoint before an upstream of Messages (`p`) and one of Chat Completions (`c`); every text counts 1,000 tokens. */
const open = async (t: ExecutionContext, script: Script, more: JsonObject = {}) => {
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
  const yard: Yard = yardOf(t, config, {
    tokens: countedHere(({ system, turns }) => 1000 * (system.length + turns.length)),
  });
  const endpoint = countTokensEndpoint({ client: messagesClient, ...messagesCounting, limitMs }, () => yard);
  const { port } = await serve(t, [{ method: 'POST', path: '/v1/messages/count_tokens', endpoint }]);
  const count = async (body: JsonObject | string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`http://127.0.0.1:${port}/v1/messages/count_tokens?beta=true`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const value: unknown = await answer.body.json();
    return { status: answer.statusCode, by: answer.headers['x-switchyard-count'], headers: answer.headers, value };
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
  t.is(got.headers['x-switchyard-route'], 'p,m;explicit');
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
  const system = 'Be kind.<SWITCHYARD-MODEL>p,m</SWITCHYARD-MODEL>';
  const got = await count({ model: 'any', messages: hi, system, tools, max_tokens: 5, temperature: 0.5 });
  t.is(got.by, 'upstream');
  t.is(got.headers['x-switchyard-route'], 'p,m;tag');
  const body: JsonObject = Object(upstream.requests[0]?.body);
  t.deepEqual(
    Object.keys(body).filter((name) => !messagesCounting.fields.has(name)),
    [],
  );
  t.is(body.model, 'm');
  t.false(upstream.requests[0]?.text.includes('SWITCHYARD'));
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
  const { count, upstream } = await open(t, () => 'never');
  const from = performance.now();
  const got = await count({ model: 'p,m', messages: hi });
  const waitedMs = performance.now() - from;
  t.deepEqual([got.value, got.by], [{ input_tokens: 1000 }, 'estimate']);
  t.true(waitedMs >= limitMs * 0.9 && waitedMs < limitMs + 1_000, `${waitedMs} ms`);
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
