import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { type Place, sent, upstreamOf } from './rig.ts';

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
  upstreamOf('anthropic', String(asked.model), 'messages', place).acceptsRelay?.(
    messagesClient.decodeRequest(asked),
    asked,
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
      test(`${at}: ${title} is relayed`, (t) => t.true(isRelayed(asked, place)));
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

type Elsewhere = readonly [model: string, asked: JsonObject, sent: JsonObject, losses?: readonly string[]];

const kimi = 'https://api.moonshot.ai/anthropic';
const sampling = { temperature: 0.5, top_p: 0.9, stop: ['x'] };
const sampled = { temperature: 0.5, top_p: 0.9, stop_sequences: ['x'] };
const adaptive = { type: 'adaptive' };

/** What a chat client's controls become at servers of the Messages protocol that aren't Anthropic's. */
const elsewhere: Readonly<Record<string, readonly Elsewhere[]>> = {
  'http://127.0.0.1:8000': [
    ['qwen3.8', sampling, sampled],
    ['a-model-of-tomorrow', sampling, sampled],
    ['a-model-of-tomorrow', { temperature: 0 }, { temperature: 0 }],
    ['a-model-of-tomorrow', { temperature: 1.5 }, { temperature: 1 }, ['~temperature']],
    [
      'a-model-of-tomorrow',
      { ...sampling, reasoning_effort: 'high' },
      { ...sampled, thinking: adaptive, output_config: { effort: 'high' } },
    ],
    ['a-model-of-tomorrow', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    // Claude's own rules go with the name.
    ['claude-of-tomorrow', sampling, { stop_sequences: ['x'] }, ['-temperature', '-top_p']],
    ['claude-opus-5-5', sampling, { stop_sequences: ['x'] }, ['-temperature', '-top_p']],
    ['claude-sonnet-4-5', sampling, { temperature: 0.5, stop_sequences: ['x'] }, ['-top_p']],
    ['claude-of-tomorrow', { reasoning_effort: 'none' }, { output_config: { effort: 'low' } }, ['~reasoning']],
  ],
  [kimi]: [
    ['kimi-k3', sampling, { stop_sequences: ['x'] }, ['-temperature', '-top_p']],
    ['kimi-k3', { reasoning_effort: 'high' }, { output_config: { effort: 'high' } }],
    ['kimi-k3', { reasoning_effort: 'medium' }, { output_config: { effort: 'high' } }, ['~reasoning.effort']],
    ['kimi-k3', { reasoning_effort: 'none' }, { output_config: { effort: 'low' } }, ['~reasoning']],
    ['kimi-k2.6', { reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }, ['-reasoning.effort']],
    ['kimi-k2.6', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ],
  'https://api.deepseek.com/anthropic': [
    ['deepseek-v4-pro', sampling, sampled],
    ['deepseek-v4-pro', { reasoning_effort: 'high' }, { thinking: adaptive, output_config: { effort: 'high' } }],
    [
      'deepseek-v4-pro',
      { reasoning_effort: 'xhigh' },
      { thinking: adaptive, output_config: { effort: 'max' } },
      ['~reasoning.effort'],
    ],
  ],
  'https://api.minimax.io/anthropic': [
    ['MiniMax-M3', sampling, sampled],
    ['MiniMax-M3', { temperature: 0 }, { temperature: 0.01 }, ['~temperature']],
  ],
  'https://api.z.ai/api/anthropic': [['glm-5.3', sampling, sampled]],
};

for (const [baseUrl, rows] of Object.entries(elsewhere)) {
  for (const [model, asked, expected, lost = []] of rows) {
    test(`${model} at ${baseUrl}: ${JSON.stringify(asked)}`, (t) => {
      const messages = [{ role: 'user', content: 'go' }];
      const { body: out, losses } = sent(
        'anthropic',
        'chat',
        { model, max_tokens: 4000, messages, ...asked },
        { baseUrl },
      );
      const { model: _, max_tokens: __, messages: ___, stream: ____, ...controls } = out;
      t.deepEqual(controls, expected);
      t.deepEqual(losses, lost);
    });
  }
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
