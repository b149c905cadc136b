import test from 'ava';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { chat, functionTool, isRelayed, loop, messages, type Place, pathOf, sent } from './rig.ts';

const rest = ({ messages: _, model: __, ...body }: JsonObject): JsonObject => body;

const fields: readonly (readonly [
  title: string,
  asked: JsonObject,
  expected: JsonObject,
  losses?: readonly string[],
])[] = [
  ['its name for the limit', chat('deepseek-chat', { max_completion_tokens: 9 }), { max_tokens: 9 }],
  [
    'what it does not know',
    chat('deepseek-chat', { seed: 1, parallel_tool_calls: true, metadata: { a: 'b' }, tools: [functionTool('f')] }),
    { tools: [functionTool('f')] },
    ['-seed', '-metadata'],
  ],
  [
    'sampling',
    chat('deepseek-chat', { temperature: 0.5, top_p: 0.5, stop: ['x'], presence_penalty: 1, frequency_penalty: 1 }),
    { temperature: 0.5, top_p: 0.5, stop: ['x'], presence_penalty: 1, frequency_penalty: 1 },
  ],
  ['a name of the user', chat('deepseek-chat', { user: 'a_b-1' }), { user_id: 'a_b-1' }],
  [
    'one with other characters',
    chat('deepseek-chat', { user: 'a@b' }),
    { user_id: '7508d8b5018ea640b85269861a101203f0c26900555268e930025dac844b0f35' },
    ['~user'],
  ],
  [
    'efforts by its words',
    chat('deepseek-v4-pro', { reasoning_effort: 'medium' }),
    { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ['~reasoning_effort'],
  ],
  ['thinking switched off', chat('deepseek-v4-pro', { reasoning_effort: 'none' }), { thinking: { type: 'disabled' } }],
  [
    'a forced tool, where an older model is to think',
    chat('deepseek-chat', { reasoning_effort: 'high', tools: [functionTool('f')], tool_choice: 'required' }),
    { thinking: { type: 'enabled' }, reasoning_effort: 'high', tools: [functionTool('f')], tool_choice: 'auto' },
    ['~tool_choice'],
  ],
  [
    'where it thinks by itself',
    chat('deepseek-reasoner', {
      tools: [functionTool('f')],
      tool_choice: { type: 'function', function: { name: 'f' } },
    }),
    { tools: [functionTool('f')], tool_choice: 'auto' },
    ['~tool_choice'],
  ],
  [
    'beside a search that it does not have',
    messages('deepseek-chat', {
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      tool_choice: { type: 'any' },
    }),
    {
      max_tokens: 4_000,
      thinking: { type: 'enabled' },
      reasoning_effort: 'high',
      tools: [functionTool('f')],
      tool_choice: 'auto',
    },
    ['-tools[1]', '~budget', '~tool_choice'],
  ],
  [
    'where it does not think',
    chat('deepseek-chat', { tools: [functionTool('f')], tool_choice: 'required' }),
    { tools: [functionTool('f')], tool_choice: 'required' },
  ],
  [
    'and where a newer one thinks',
    chat('deepseek-v4-flash', { reasoning_effort: 'high', tools: [functionTool('f')], tool_choice: 'required' }),
    { thinking: { type: 'enabled' }, reasoning_effort: 'high', tools: [functionTool('f')], tool_choice: 'required' },
  ],
  [
    'strict tools',
    chat('deepseek-chat', { tools: [functionTool('f', { strict: true })] }),
    { tools: [functionTool('f')] },
    ['-tools[0].strict'],
  ],
  [
    'a schema becomes an instruction',
    messages('deepseek-chat', { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }),
    { max_tokens: 4_000, response_format: { type: 'json_object' } },
    ['~response_format'],
  ],
];

for (const [title, asked, expected, losses = []] of fields) {
  test(`fields: ${title}`, (t) => {
    const given = sent('deepseek', 'max_tokens' in asked ? 'messages' : 'chat', asked);
    t.deepEqual(rest(given.body), expected);
    t.is(given.losses.length, losses.length, given.losses.join());
    for (const sign of losses) t.true(given.losses.some((loss) => loss[0] === sign[0]));
  });
}

test('a developer is the system', (t) => {
  const { body } = sent('deepseek', 'chat', chat('deepseek-chat', { messages: [{ role: 'developer', content: 'A' }] }));
  t.deepEqual<unknown, unknown>(body.messages, [{ role: 'system', content: 'A' }]);
});

test('JSON is requested in the prompt if the prompt does not mention it', (t) => {
  const json = { response_format: { type: 'json_object' } };
  const silent = sent('deepseek', 'chat', chat('deepseek-chat', json));
  t.true(JSON.stringify(silent.body.messages).includes('JSON'));
  t.deepEqual(silent.losses, ['~response_format']);
  const said = sent('deepseek', 'chat', chat('m', { ...json, messages: [{ role: 'user', content: 'in json' }] }));
  t.deepEqual<unknown, unknown>(said.body.messages, [{ role: 'user', content: 'in json' }]);
  t.deepEqual(said.losses, []);
});

const reasoning = ({ messages: sentMessages }: JsonObject): unknown => {
  const caller = Array.isArray(sentMessages)
    ? sentMessages.find((message) => isJsonObject(message) && message.tool_calls)
    : {};
  return isJsonObject(caller) ? caller.reasoning_content : undefined;
};

test('reasoning is sent back with its calls; an empty text replaces lost reasoning', (t) => {
  const kept = sent('deepseek', 'chat', chat('m', { messages: loop({ reasoning_content: 'Hm.' }) }));
  t.is(reasoning(kept.body), 'Hm.');
  t.deepEqual(kept.losses, []);
  const lost = sent('deepseek', 'chat', chat('m', { messages: loop() }));
  t.is(reasoning(lost.body), '');
  t.deepEqual(lost.losses, ['~messages[1].reasoning_content']);
  const off = sent('deepseek', 'chat', chat('m', { messages: loop(), reasoning_effort: 'none' }));
  t.is(reasoning(off.body), undefined);
});

test('reasoning of another vendor stays behind', (t) => {
  const asked = messages('m', {
    messages: [
      { role: 'user', content: 'Hi.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'EqQBCgIYAhIM' },
          { type: 'tool_use', id: 'c', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }] },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  });
  const { body, losses } = sent('deepseek', 'messages', asked);
  t.is(reasoning(body), '');
  t.true(losses.includes('-messages[1].content[0]'));
});

test('the beta URL accepts new fields', (t) => {
  const beta: Place = { baseUrl: 'https://api.deepseek.com/beta' };
  const asked = chat('deepseek-chat', {
    tools: [functionTool('f', { strict: true })],
    messages: [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: 'I say' },
    ],
  });
  const { body, losses } = sent('deepseek', 'chat', asked, beta);
  t.deepEqual<unknown, unknown>(body.messages, [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: 'I say', prefix: true },
  ]);
  t.deepEqual<unknown, unknown>(body.tools, [functionTool('f', { strict: true })]);
  t.deepEqual(losses, []);
  t.is(pathOf('deepseek', asked, beta), '/chat/completions');
  t.is(pathOf('deepseek', asked), '/v1/chat/completions');
  t.deepEqual(sent('deepseek', 'chat', asked).losses.length, 2);
});

test('a chat client’s body is always converted', (t) => {
  t.false(isRelayed('deepseek', chat('deepseek-chat')));
});

test('each effort', (t) => {
  const asked = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  const got = asked.map((reasoning_effort) => sent('deepseek', 'chat', chat('a-newer-model', { reasoning_effort })));
  t.deepEqual(
    got.map(({ body }) => body.reasoning_effort),
    ['low', 'low', 'high', 'high', 'high', 'max'],
  );
});
