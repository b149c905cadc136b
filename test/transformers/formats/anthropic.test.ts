import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { type ClientName, type Place, sent, upstreamOf } from './rig.ts';

const own: Place = { baseUrl: 'https://api.anthropic.com' };
const places: readonly Place[] = [
  { baseUrl: 'https://api.deepseek.com/anthropic' },
  { baseUrl: 'https://api.moonshot.ai/anthropic' },
  { baseUrl: 'http://127.0.0.1:8000' },
];

const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }];
const loop = (thinking: readonly JsonObject[]): JsonObject[] => [
  { role: 'user', content: [{ type: 'text', text: 'go' }] },
  { role: 'assistant', content: [...thinking, { type: 'tool_use', id: 't1', name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'ok' }] }] },
];
const unsigned = { type: 'thinking', thinking: 'Hm', signature: '' };
const budget = { type: 'enabled', budget_tokens: 1024 };

const body = (model: string, thinking: JsonObject, history: readonly JsonObject[]): JsonObject => ({
  model,
  max_tokens: 4000,
  thinking,
  tools,
  messages: history,
  stream: false,
});

const isRelayed = (asked: JsonObject, place: Place): boolean =>
  upstreamOf('anthropic', String(asked.model), 'messages', place).acceptsVerbatim?.(
    messagesClient.decodeRequest(asked),
  ) ?? true;

for (const place of places) {
  for (const model of ['deepseek-v4-pro', 'kimi-k3', 'a-model-of-tomorrow']) {
    const at = `${model} at ${place.baseUrl}`;
    for (const [title, thinking, history] of [
      ['a budget with unsigned thinking', budget, loop([unsigned])],
      ['a budget without thinking in the history', budget, loop([])],
      ['adaptive thinking', { type: 'adaptive' }, loop([unsigned])],
      ['a budget below the vendor’s least', { type: 'enabled', budget_tokens: 10 }, loop([unsigned])],
      ['no thinking', { type: 'disabled' }, loop([])],
    ] as const) {
      const asked = body(model, thinking, history);
      test(`${at}: ${title} passes through`, (t) => t.true(isRelayed(asked, place)));
      test(`${at}: ${title} is encoded as it came, for a stage`, (t) =>
        t.deepEqual(sent('anthropic', 'messages', asked, place), { body: asked, losses: [] }));
    }
  }

  test(`${place.baseUrl}: a model with a known name has its vendor's rules`, (t) => {
    const asked = body('anthropic/claude-opus-5.5', budget, loop([unsigned]));
    t.false(isRelayed(asked, place));
    const { body: out, losses } = sent('anthropic', 'messages', asked, place);
    t.deepEqual(out.thinking, { type: 'adaptive' });
    t.deepEqual(out.messages, loop([]));
    t.true(losses.includes('-messages[1].content[0]'));
  });
}

test('an unknown name has the vendor’s rules at its own address', (t) => {
  const asked = body('claude-of-tomorrow', budget, loop([unsigned]));
  t.false(isRelayed(asked, own));
  t.deepEqual(sent('anthropic', 'messages', asked, own).body.messages, loop([]));
});

const fromOthers: readonly (readonly [ClientName, JsonObject, JsonObject, JsonObject | undefined])[] = [
  ['chat', { reasoning_effort: 'high' }, { type: 'adaptive' }, { effort: 'high' }],
];
for (const [client, asked, thinking, output] of fromOthers) {
  test(`elsewhere, ${JSON.stringify(asked)} of a ${client} client`, (t) => {
    const { body: out } = sent(
      'anthropic',
      client,
      { model: 'kimi-k3', max_tokens: 4000, messages: [{ role: 'user', content: 'go' }], ...asked },
      { baseUrl: 'https://api.moonshot.ai/anthropic' },
    );
    t.deepEqual(out.thinking, thinking);
    t.deepEqual(out.output_config, output);
  });
}

test('elsewhere, reasoning that another vendor issued stays as text', (t) => {
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Hello.', reasoning_content: 'Hm' },
    { role: 'user', content: 'on' },
  ];
  const { body: out, losses } = sent('anthropic', 'chat', { model: 'glm-5', messages }, places[0]);
  t.deepEqual(Array.isArray(out.messages) && out.messages[1], {
    role: 'assistant',
    content: [unsigned, { type: 'text', text: 'Hello.' }],
  });
  t.deepEqual(losses, []);
});
