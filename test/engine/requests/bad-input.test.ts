import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

/** Every bad request gets an error in the route's own shape that names the field, and never reaches an upstream. */
let gateway: TestGateway;
let upstream: ScriptedUpstream;

test.before(async () => {
  upstream = await startUpstream(() => jsonAnswer({ error: { message: 'the upstream was asked' } }, 418));
  gateway = await startGateway({
    LOG: false,
    Providers: [
      { name: 'a', baseUrl: upstream.url, apiKey: 'k', models: ['am', 'shared'] },
      { name: 'b', baseUrl: upstream.url, apiKey: '$JUNCTOR_TEST_UNSET', models: ['bm', 'shared'] },
      { name: 'c', baseUrl: upstream.url, apiKey: 'k', models: ['cm'] },
      { name: 'in-the-path', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['pm'] },
    ],
    transformers: [
      { name: 'nonesuch', path: 'nonesuch.ts', provider: 'c' },
      { name: 'gemini', provider: 'in-the-path' },
    ],
  });
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const routes = ['/v1/messages', '/v1/chat/completions', '/chat/completions', '/v1/responses', '/responses'] as const;
type Route = (typeof routes)[number];

const hi = [{ role: 'user', content: 'hi' }];
const good: Readonly<Record<Route, object>> = {
  '/v1/messages': { model: 'a,am', max_tokens: 8, messages: hi },
  '/v1/chat/completions': { model: 'a,am', messages: hi },
  '/chat/completions': { model: 'a,am', messages: hi },
  '/v1/responses': { model: 'a,am', input: 'hi' },
  '/responses': { model: 'a,am', input: 'hi' },
};

const post = async (path: string, body: string | Uint8Array) => {
  const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body });
  const value: unknown = await answer.body.json();
  return { status: answer.statusCode, headers: answer.headers, value };
};

/** The error in the route's own shape, whose message names the field. */
const expectError = async (
  t: ExecutionContext,
  route: Route,
  body: string | Uint8Array,
  status: number,
  field: RegExp,
) => {
  const asked = upstream.requests.length;
  const got = await post(route, body);
  t.is(got.status, status, JSON.stringify(got.value));
  if (route === '/v1/messages') {
    t.like(got.value, { type: 'error', request_id: got.headers['x-request-id'] });
  } else {
    t.deepEqual(Object.keys(Object(Object(got.value).error)).sort(), ['code', 'message', 'param', 'type']);
  }
  t.regex(String(Object(Object(got.value).error).message), field);
  t.is(upstream.requests.length, asked, 'the upstream was not asked');
};

for (const route of routes) {
  const bad = (change: object): string => JSON.stringify({ ...good[route], ...change });
  const every: readonly (readonly [title: string, body: string | Uint8Array, status: number, field: RegExp])[] = [
    ['an empty body', '', 400, /empty/],
    ['malformed JSON', '{"model": ', 400, /JSON/],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 400, /UTF-8/],
    ['an array', '[]', 400, /object/],
    ['deep nesting', `{"model":"a,am","x":${'['.repeat(300)}${']'.repeat(300)}}`, 400, /nested/],
    ['very deep nesting', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, /nested/],
    ['no model', bad({ model: undefined }), 400, /^model is required/],
    ['a model that is no text', bad({ model: 5 }), 400, /^model must be string/],
    ['a blank model', bad({ model: '' }), 400, /model/],
    ['an unknown provider', bad({ model: 'zzz,am' }), 400, /zzz/],
    ['a model that leads out of its path', bad({ model: 'in-the-path,../../evil' }), 400, /^model: .*"\.\."/],
    ['a model with an empty part', bad({ model: 'in-the-path,a//b' }), 400, /^model: .*empty/],
    ['a model with a lone surrogate', bad({ model: 'in-the-path,a\ud800' }), 400, /^model: .*surrogate/],
    ['a model that nobody lists', bad({ model: 'nobody-has-it' }), 400, /nobody-has-it/],
    ['a model that two list', bad({ model: 'shared' }), 400, /shared/],
    ['stream that is no boolean', bad({ stream: 'yes' }), 400, /^stream must be boolean/],
    ['temperature that is no number', bad({ temperature: 'hot' }), 400, /^temperature must be number/],
    ['tools that are no list', bad({ tools: {} }), 400, /^tools must be array/],
    ['an unset variable', bad({ model: 'b,bm' }), route === '/v1/messages' ? 401 : 401, /JUNCTOR_TEST_UNSET/],
    ['a transformer whose module is not there', bad({ model: 'c,cm' }), 500, /nonesuch/],
  ];
  for (const [title, body, status, field] of every) {
    test(`${route}: ${title}`, (t) => expectError(t, route, body, status, field));
  }
}

const message = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });
const own: readonly (readonly [route: Route, title: string, change: object, field: RegExp])[] = [
  ['/v1/messages', 'no max_tokens', { max_tokens: undefined }, /^max_tokens is required/],
  ['/v1/messages', 'max_tokens that is no integer', { max_tokens: 1.5 }, /^max_tokens must be integer/],
  ['/v1/messages', 'no messages', { messages: [] }, /^messages/],
  ['/v1/messages', 'temperature over 1', { temperature: 1.5 }, /^temperature/],
  ['/v1/messages', 'an unknown role', message('x', 'robot'), /^messages\[0\]\.role/],
  ['/v1/messages', 'content that is a number', message(7), /^messages\[0\]\.content/],
  ['/v1/messages', 'a block without a type', message([{ text: 'x' }]), /^messages\[0\]\.content\[0\]\.type/],
  ['/v1/messages', 'text that is no text', message([{ type: 'text', text: 3 }]), /^messages\[0\]\.content\[0\]\.text/],
  [
    '/v1/messages',
    'an image without data',
    message([{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }]),
    /^messages\[0\]\.content\[0\]\.source\.data/,
  ],
  ['/v1/messages', 'a tool without a name', { tools: [{ input_schema: { type: 'object' } }] }, /^tools\[0\]\.name/],
  ['/v1/chat/completions', 'no messages', { messages: [] }, /^messages/],
  ['/v1/chat/completions', 'an unknown role', message('x', 'robot'), /^messages\[0\]\.role/],
  [
    '/v1/chat/completions',
    'a part of an unknown type',
    message([{ type: 'smell' }]),
    /^messages\[0\]\.content\[0\]\.type/,
  ],
  [
    '/v1/chat/completions',
    'an image without a url',
    message([{ type: 'image_url', image_url: {} }]),
    /^messages\[0\]\.content\[0\]\.image_url\.url/,
  ],
  ['/v1/chat/completions', 'a tool message without its call', message('x', 'tool'), /^messages\[0\]\.tool_call_id/],
  ['/v1/chat/completions', 'n over 1', { n: 2 }, /^n\b/],
  ['/v1/chat/completions', 'logprobs', { logprobs: true }, /^logprobs/],
  ['/v1/chat/completions', 'top_logprobs', { top_logprobs: 2 }, /^top_logprobs/],
  ['/v1/chat/completions', 'audio', { audio: { voice: 'x', format: 'wav' } }, /^audio/],
  ['/v1/chat/completions', 'modalities with audio', { modalities: ['text', 'audio'] }, /^modalities/],
  ['/v1/chat/completions', 'structured output', { response_format: { type: 'json_schema' } }, /^response_format/],
  ['/v1/chat/completions', 'store', { store: true }, /^store/],
  ['/v1/chat/completions', 'prediction', { prediction: { type: 'content', content: 'x' } }, /^prediction/],
  ['/v1/chat/completions', 'legacy functions', { functions: [{ name: 'f' }] }, /^functions/],
  ['/v1/chat/completions', 'previous_response_id', { previous_response_id: 'resp_1' }, /^previous_response_id/],
  [
    '/v1/chat/completions',
    'input_audio',
    message([{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }]),
    /^messages\[0\]\.content\[0\]/,
  ],
  ['/v1/responses', 'input that is a number', { input: 5 }, /^input/],
  ['/v1/responses', 'an item without role or type', { input: [{ content: 'x' }] }, /^input\[0\]/],
  [
    '/v1/responses',
    'an output without its call',
    { input: [{ type: 'function_call_output', output: 'x' }] },
    /^input\[0\]\.call_id/,
  ],
  ['/v1/responses', 'previous_response_id', { previous_response_id: 'resp_1' }, /^previous_response_id/],
  ['/v1/responses', 'conversation', { conversation: 'conv_1' }, /^conversation/],
  ['/v1/responses', 'background', { background: true }, /^background/],
  ['/v1/responses', 'an item that is not there', { input: [{ type: 'item_reference', id: 'msg_9' }] }, /^input\[0\]/],
];

for (const [route, title, change, field] of own) {
  test(`${route}: ${title} (its own rule)`, (t) =>
    expectError(t, route, JSON.stringify({ ...good[route], ...change }), 400, field));
}

test('what the chat route can’t carry is named in param, with a code', async (t) => {
  const { value } = await post('/v1/chat/completions', JSON.stringify({ ...good['/v1/chat/completions'], n: 2 }));
  t.like(value, { error: { param: 'n', code: 'unsupported_parameter', type: 'invalid_request_error' } });
});

test('null and default values count as absent on the chat route', async (t) => {
  const body = {
    ...good['/v1/chat/completions'],
    n: 1,
    logprobs: false,
    top_logprobs: null,
    store: false,
    audio: null,
  };
  const { value } = await post('/v1/chat/completions', JSON.stringify(body));
  t.like(value, { error: { message: 'the upstream was asked (provider a, model am)' } });
});
