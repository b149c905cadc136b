import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { chat, functionTool, isRelayed, loop, messages, sent } from './rig.ts';

const rest = ({ messages: _, model: __, ...body }: JsonObject): JsonObject => body;
const llama = 'llama-3.3-70b-versatile';
const gptOss = 'openai/gpt-oss-120b';
const qwen = 'qwen/qwen3-32b';

const fields: readonly (readonly [
  title: string,
  asked: JsonObject,
  expected: JsonObject,
  losses?: readonly string[],
])[] = [
  ['its name for the limit', chat(llama, { max_tokens: 9 }), { max_completion_tokens: 9 }],
  ['bias is refused', chat(llama, { logit_bias: { 1: 2 }, seed: 3 }), { seed: 3 }, ['-logit_bias']],
  ['tiers by its words', chat(llama, { service_tier: 'default' }), { service_tier: 'on_demand' }],
  ['the fast tier', chat(llama, { service_tier: 'priority' }), { service_tier: 'performance' }],
  ['an unknown tier', chat(llama, { service_tier: 'scale' }), {}, ['-service_tier']],
  [
    'its own members are a client’s to send, others are refused',
    chat(llama, { disable_tool_validation: true, novelty: 1 }),
    { disable_tool_validation: true },
    ['-novelty'],
  ],
  [
    'efforts of one family',
    chat(gptOss, { reasoning_effort: 'xhigh' }),
    { include_reasoning: true, reasoning_effort: 'high' },
    ['~reasoning_effort'],
  ],
  [
    'of another',
    chat(qwen, { reasoning_effort: 'high' }),
    { reasoning_format: 'parsed', reasoning_effort: 'default' },
    ['~reasoning_effort'],
  ],
  [
    'which can be told not to',
    chat(qwen, { reasoning_effort: 'none' }),
    { reasoning_format: 'parsed', reasoning_effort: 'none' },
  ],
  [
    'of a third',
    chat('qwen/qwen3.8-max', { reasoning_effort: 'low' }),
    { reasoning_format: 'parsed', reasoning_effort: 'low' },
  ],
  ['models without any', chat(llama, { reasoning_effort: 'high' }), {}, ['-reasoning']],
  ['tags become a member without being asked', chat('deepseek-r1-distill-llama-70b'), { reasoning_format: 'parsed' }],
  ['unless the client says how it wants them', chat(qwen, { reasoning_format: 'raw' }), { reasoning_format: 'raw' }],
  ['one of two that exclude each other', chat(qwen, { include_reasoning: false }), { include_reasoning: false }],
];

for (const [title, asked, expected, losses = []] of fields) {
  test(`fields: ${title}`, (t) => {
    const given = sent('groq', 'chat', asked);
    t.deepEqual(rest(given.body), expected);
    t.is(given.losses.length, losses.length, given.losses.join());
    for (const sign of losses) t.true(given.losses.some((loss) => loss[0] === sign[0]));
  });
}

test('unsupported message fields are removed', (t) => {
  const asked = chat(gptOss, {
    messages: [
      { role: 'user', content: 'Hi.', name: 'Ann' },
      { role: 'assistant', content: 'Ho.', channel: 'final' },
      { role: 'user', content: [{ type: 'text', text: 'And?', novelty: 1 }] },
    ],
  });
  const { body, losses } = sent('groq', 'chat', asked);
  t.deepEqual<unknown, unknown>(body.messages, [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: 'Ho.' },
    { role: 'user', content: 'And?' },
  ]);
  t.deepEqual([...losses].sort(), ['-messages[0].name', '-messages[1].channel', '-messages[2].content[0].novelty']);
});

test('reasoning goes back under its own name', (t) => {
  const { body } = sent(
    'groq',
    'chat',
    chat(gptOss, { messages: loop({ reasoning: 'Hm.' }), tools: [functionTool('f')] }),
  );
  t.true(JSON.stringify(body.messages).includes('"reasoning":"Hm."'));
});

test('a hidden reasoning is asked to stay hidden', (t) => {
  const thinking = { type: 'enabled', budget_tokens: 2_000, display: 'omitted' };
  t.is(sent('groq', 'messages', messages(gptOss, { thinking })).body.include_reasoning, false);
  t.is(sent('groq', 'messages', messages(qwen, { thinking })).body.reasoning_format, 'hidden');
});

test('searches are settings of the models that search', (t) => {
  const search = { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.org'] };
  t.deepEqual<unknown, unknown>(
    sent('groq', 'messages', messages('groq/compound', { tools: [search] })).body.search_settings,
    { include_domains: ['a.org'] },
  );
  t.deepEqual(sent('groq', 'messages', messages(llama, { tools: [search] })).losses, ['-tools[0]']);
});

test('a chat client’s body is always converted', (t) => {
  t.false(isRelayed('groq', chat(llama)));
});

const asked = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const efforts: readonly (readonly [model: string, written: readonly string[]])[] = [
  [gptOss, ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  [qwen, ['none', ...Array.from({ length: 6 }, () => 'default')]],
  ['a-newer-model', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
];

test('each effort of each family', (t) => {
  for (const [model, written] of efforts) {
    const got = asked.map((reasoning_effort) => sent('groq', 'chat', chat(model, { reasoning_effort })));
    t.deepEqual(
      got.map(({ body }) => body.reasoning_effort),
      [...written],
      model,
    );
  }
});

test('sound and files are refused', (t) => {
  for (const part of [
    { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
    { type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } },
  ]) {
    const body = chat('a-newer-model', { messages: [{ role: 'user', content: [part] }] });
    t.throws(() => sent('groq', 'chat', body), { message: /messages\[0\]\.content\[0\]/ });
  }
});
