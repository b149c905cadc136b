import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { itemCases } from '../../protocols/responses/item-cases.ts';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
};
const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] };

const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

const callOf = (name: string, json: string): readonly string[] => [
  chunk({
    role: 'assistant',
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: json } }] }),
  chunk({}, 'tool_calls'),
  'data: [DONE]\n\n',
];

/** A gateway before a Responses upstream (`r,m`), the same behind a stage (`s,m`), and one of Chat Completions (`c,n`). */
const open = async (t: ExecutionContext, { router = { default: 'c,n' }, streamed = callOf('f', '{}') }: Setup = {}) => {
  const upstream = await startUpstream(({ url, body }) => {
    if ((body as JsonObject).stream === true) return sseAnswer(streamed);
    return jsonAnswer(url.includes('/responses') ? response : completion);
  });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    LOG: false,
    Providers: [
      { name: 'r', baseUrl: upstream.url, apiKey: 'k', models: ['m'] },
      { name: 's', baseUrl: upstream.url, apiKey: 'k', models: ['m'] },
      { name: 'c', baseUrl: upstream.url, apiKey: 'k', models: ['n'] },
    ],
    transformers: [
      { name: 'openai', provider: 'r', options: { api: 'responses', fullResponses: true } },
      { name: 'openai', provider: 's', options: { api: 'responses', fullResponses: true } },
      { name: 'maxtoken', provider: 's', options: { max_tokens: 99 } },
    ],
    Router: router,
  });
  t.teardown(gateway.stop);
  const post = async (path: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.statusCode, text: await answer.body.text(), headers: answer.headers };
  };
  return { post, upstream };
};

interface Setup {
  readonly router?: JsonObject;
  readonly streamed?: readonly string[];
}

const question = { role: 'user', content: 'hi' } as const;

test('what another format can’t hold is refused with its path, and nothing is sent', async (t) => {
  const { post, upstream } = await open(t);
  for (const [type, { items, outcome }] of Object.entries(itemCases)) {
    if (typeof outcome === 'string') continue;
    const { status, text } = await post('/v1/responses', { model: 'c,n', input: [question, ...items] });
    t.is(status, 400, type);
    t.like(JSON.parse(text), { error: { type: 'invalid_request_error', param: outcome.refused } });
    t.true(text.includes(outcome.refused), text);
  }
  t.is(upstream.requests.length, 0);
});

test('a Responses upstream gets every item as it came, with the headers that they need', async (t) => {
  const { post, upstream } = await open(t);
  const items = Object.entries(itemCases).flatMap(([type, one]) => (type === 'item_reference' ? [] : one.items));
  const unknown = [{ type: 'something_new', tools: [{ type: 'robot' }] }];
  const body = { model: 'r,m', input: [question, ...items, ...unknown], tools: [{ type: 'robot' }] };
  const headers = { 'x-openai-internal-codex-responses-lite': 'true', 'x-codex-beta-features': 'remote_compaction_v2' };
  const { status } = await post('/v1/responses', body, headers);
  t.is(status, 200);
  const [sent] = upstream.requests;
  t.deepEqual(sent?.body, { ...body, model: 'm' });
  t.like(sent?.headers, headers);
});

test('behind a stage, the items stay at their places, and their tools are declared once', async (t) => {
  const { post, upstream } = await open(t);
  const tools = [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }];
  const input = [
    { type: 'additional_tools', role: 'developer', tools },
    { role: 'developer', content: [{ type: 'input_text', text: 'one' }] },
    { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    { type: 'custom_tool_call', call_id: 'a', name: 'exec', namespace: 'functions', input: 'ls' },
    { type: 'custom_tool_call_output', call_id: 'a', output: 'listed' },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'g' }] },
  ];
  const { status } = await post('/v1/responses', { model: 's,m', input, tool_choice: 'auto' });
  t.is(status, 200);
  t.like(upstream.requests[0]?.body, { input, tool_choice: 'auto', max_output_tokens: 99, tools: undefined });
});

test('an agent without a list of tools gets the calls of those in its items', async (t) => {
  const { post, upstream } = await open(t, { streamed: callOf('functions__exec', '{"input":"ls"}') });
  const tools = [
    { type: 'namespace', name: 'functions', description: 'd', tools: [{ type: 'custom', name: 'exec' }] },
    { type: 'namespace', name: 'clock', tools: [{ type: 'function', name: 'sleep', parameters: { type: 'object' } }] },
  ];
  const input = [
    { type: 'additional_tools', role: 'developer', tools },
    { role: 'developer', content: 'one' },
    { role: 'developer', content: 'two' },
    question,
  ];
  const { text } = await post('/v1/responses', { model: 'c,n', input, stream: true });
  const sent = upstream.requests[0]?.body as {
    readonly tools: readonly JsonObject[];
    readonly messages: readonly JsonObject[];
  };
  t.like(sent.tools, [{ function: { name: 'functions__exec' } }, { function: { name: 'clock__sleep' } }]);
  t.is(sent.messages.at(-1)?.role, 'user');
  t.regex(
    text,
    /"type":"custom_tool_call","status":"completed","call_id":"call_1","name":"exec","input":"ls","namespace":"functions"/,
  );
});

test('a request whose tools would all be dropped is refused', async (t) => {
  const { post, upstream } = await open(t);
  const hosted = { type: 'file_search', vector_store_ids: ['v'] };
  for (const [body, param] of [
    [{ input: [question], tools: [hosted, { type: 'image_generation' }] }, 'tools[0]'],
    [{ input: [{ type: 'additional_tools', role: 'developer', tools: [hosted] }, question] }, 'input[0].tools[0]'],
  ] as const) {
    const { status, text } = await post('/v1/responses', { model: 'c,n', ...body });
    t.is(status, 400);
    t.like(JSON.parse(text), { error: { param } });
  }
  t.is(upstream.requests.length, 0);
  const { status } = await post('/v1/responses', { model: 'c,n', input: 'hi', tools: [hosted], tool_choice: 'none' });
  t.is(status, 200);
});

test('on the Responses routes the rules choose for a request that names no model', async (t) => {
  const { post, upstream } = await open(t, { router: { default: 'r,m' } });
  const body = { input: 'hi', store: false };
  for (const [path, more] of [
    ['/v1/responses', {}],
    ['/responses', { model: null }],
    ['/v1/responses/input_tokens', {}],
    ['/v1/responses/compact', {}],
  ] as const) {
    const { status, headers } = await post(path, { ...body, ...more });
    t.is(status, 200, path);
    t.is(headers['x-junctor-route'], 'r,m;default', path);
  }
  t.true(upstream.requests.every(({ body: sent }) => (sent as JsonObject).model === 'm'));
  t.deepEqual(upstream.requests[0]?.body, { model: 'm', ...body });
  const explained = await post('/api/explain', { client: 'responses', body });
  t.is(explained.status, 200, explained.text);
  t.like(JSON.parse(explained.text), { asked: '', provider: 'r', model: 'm', scenario: 'default' });

  const messages = [question];
  for (const [path, blank] of [
    ['/v1/chat/completions', { messages }],
    ['/v1/messages', { messages, max_tokens: 9 }],
    ['/v1/responses', { input: 'hi', model: '' }],
    ['/v1/responses', { input: 'hi', model: ' ' }],
  ] as const) {
    const { status, text } = await post(path, blank);
    t.is(status, 400, path);
    t.regex(text, /model/);
  }
});

test('without a rule that chooses, a request that names no model is refused', async (t) => {
  const { post, upstream } = await open(t, { router: {} });
  const { status, text } = await post('/v1/responses', { input: 'hi' });
  t.is(status, 400);
  t.like(JSON.parse(text), { error: { param: 'model' } });
  t.regex(text, /model is required/);
  t.is(upstream.requests.length, 0);
});
