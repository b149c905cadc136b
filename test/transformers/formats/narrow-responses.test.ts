import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { type ClientName, chat, functionTool, messages, sent } from './rig.ts';

/** Servers that are like OpenAI's Responses get what all of them accept; a known one gets all. */
const narrowHosts = [
  'http://localhost:1234/v1',
  'http://localhost:8080/v1',
  'https://opencode.ai/zen/v1',
  'https://api.deepseek.com/v1',
  'https://api.z.ai/api/paas/v4',
  'https://gateway.example/v1',
];
const onlySome = ['include', 'store', 'safety_identifier', 'metadata', 'prompt_cache_key', 'service_tier', 'user'];

const asked: readonly (readonly [client: ClientName, body: JsonObject])[] = [
  [
    'chat',
    chat('m', {
      tools: [functionTool('f', { parameters: { type: 'object', $schema: 's', properties: {} } })],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      user: 'u',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      service_tier: 'auto',
      reasoning_effort: 'high',
    }),
  ],
  [
    'messages',
    messages('m', {
      tools: [{ name: 'f', input_schema: { type: 'object', $schema: 's', properties: {} } }],
      thinking: { type: 'enabled', budget_tokens: 9_000 },
      metadata: { user_id: 'u' },
    }),
  ],
  [
    'responses',
    {
      model: 'm',
      input: 'Hi.',
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      tools: [
        { type: 'function', name: 'f', strict: false, parameters: { type: 'object', $schema: 's', properties: {} } },
      ],
      prompt_cache_key: 'k',
    },
  ],
];

for (const baseUrl of narrowHosts) {
  test(`${baseUrl}: the narrowest form`, (t) => {
    for (const [client, body] of asked) {
      const out = sent('openai', client, body, { baseUrl, options: { api: 'responses' } });
      const extra = [...onlySome, 'tool_choice', 'parallel_tool_calls'].filter((name) => name in out.body);
      t.deepEqual(extra, [], client);
      t.deepEqual(out.body.tools, [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }]);
      t.deepEqual(out.body.reasoning, { effort: 'high' }, client);
    }
  });
}

test('what a client asks for and the answer depends on is sent', (t) => {
  const place = { baseUrl: 'http://localhost:1234/v1', options: { api: 'responses' } };
  const body = chat('m', {
    tools: [functionTool('f', { strict: true })],
    tool_choice: 'required',
    parallel_tool_calls: false,
    temperature: 0.3,
    top_p: 0.5,
  });
  const out = sent('openai', 'chat', body, place);
  t.like(out.body, { tool_choice: 'required', parallel_tool_calls: false, temperature: 0.3, top_p: 0.5 });
  t.like(out.body.tools, [{ strict: true }]);
  t.deepEqual(out.losses, []);
});

test('what is left out of what a client asked for is a loss', (t) => {
  const place = { baseUrl: 'http://localhost:1234/v1', options: { api: 'responses' } };
  const [[client, body] = ['chat', {}] as const] = asked;
  const { losses } = sent('openai', client, body, place);
  t.deepEqual([...losses].sort(), ['-metadata', '-prompt_cache_key', '-service_tier', '-user']);
});

/** Each known host: the members that it refuses of those that others take. */
const wholeHosts: readonly (readonly [baseUrl: string, refused: readonly string[]])[] = [
  ['https://api.openai.com/v1', []],
  ['https://me.openai.azure.com', []],
  ['https://api.x.ai/v1', []],
  ['https://openrouter.ai/api/v1', []],
  ['https://api.githubcopilot.com', ['service_tier']],
  ['https://api.individual.githubcopilot.com', ['service_tier']],
  ['https://chatgpt.com/backend-api/codex', ['max_output_tokens', 'safety_identifier', 'prompt_cache_retention']],
];

const whole = {
  store: false,
  include: ['reasoning.encrypted_content'],
  safety_identifier: 'u',
  service_tier: 'auto',
  max_output_tokens: 4_000,
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
};

for (const [baseUrl, refused] of wholeHosts) {
  test(`${baseUrl}: the whole protocol, without ${refused.join() || 'exception'}`, (t) => {
    const more = { store: false, user: undefined, reasoning: { effort: 'high' } };
    const body = { model: 'm', input: 'Hi.', ...whole, ...more };
    const options = { api: 'responses' };
    const out = sent('openai', 'responses', body, { baseUrl, options });
    for (const [name, value] of Object.entries(whole)) {
      t.deepEqual(out.body[name], refused.includes(name) ? undefined : value, name);
    }
    t.is(out.losses.length, refused.length, out.losses.join());
    const narrow = sent('openai', 'responses', body, { baseUrl, options: { ...options, fullResponses: false } });
    t.false('store' in narrow.body || 'include' in narrow.body);
  });
}

test('a proxy before such a host may be told to take the whole protocol', (t) => {
  const options = { api: 'responses', fullResponses: true };
  const out = sent('openai', 'chat', chat('m', { user: 'u' }), { baseUrl: 'https://gateway.example/v1', options });
  t.like(out.body, { store: false, safety_identifier: 'u' });
});
