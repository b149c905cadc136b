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

for (const baseUrl of ['https://api.openai.com/v1', 'https://api.x.ai/v1', 'https://api.githubcopilot.com']) {
  test(`${baseUrl}: the whole protocol`, (t) => {
    const out = sent('openai', 'chat', chat('m', { user: 'u', reasoning_effort: 'high' }), {
      baseUrl,
      options: { api: 'responses' },
    });
    t.like(out.body, { store: false, include: ['reasoning.encrypted_content'], safety_identifier: 'u' });
  });
}
