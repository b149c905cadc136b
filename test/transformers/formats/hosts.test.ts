import test from 'ava';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { hostRows } from '../../../transformers/formats/hosts.ts';
import { modelFamilies } from '../../../transformers/formats/model-families.ts';
import { type ClientName, chat, functionTool, isRelayed, messages, type Place, pathOf, sent } from './rig.ts';

/** What comes out of one request: members of the body, and the losses. */
interface Expected {
  readonly body?: JsonObject;
  /** Members that must be absent. */
  readonly without?: readonly string[];
  readonly losses?: readonly string[];
  /** The request is refused, and the message names this field. */
  readonly refused?: string;
}

type Row = readonly [title: string, place: Place, client: ClientName, asked: JsonObject, expected: Expected];

const at = (baseUrl: string): Place => ({ baseUrl });
const tool = { name: 'f', input_schema: { type: 'object', properties: {} } };
const image = (source: JsonObject) => [{ role: 'user', content: [{ type: 'image', source }] }];
const byUrl = image({ type: 'url', url: 'https://images.example/cat.png' });

/** A turn with a call and its result, as a Messages client sends it. */
const calls = (id: string, after: readonly JsonObject[] = [], assistant: readonly JsonObject[] = []): JsonObject[] => [
  { role: 'user', content: 'Hi.' },
  { role: 'assistant', content: [...assistant, { type: 'tool_use', id, name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }, ...after] },
];

const thinking = { type: 'thinking', thinking: 'I think.', signature: '' };

/** At least one for each host: what it refuses or names differently. */
const byHost: Readonly<Record<string, readonly Row[]>> = {
  mistral: [
    [
      'its words, and no unknown member',
      at('https://api.mistral.ai/v1'),
      'chat',
      chat('devstral-2', {
        tools: [functionTool('f')],
        tool_choice: 'required',
        parallel_tool_calls: false,
        seed: 3,
        stream: true,
        frequency_penalty: 0.5,
        logit_bias: { a: 1 },
        reasoning_effort: 'high',
        made_up: 1,
      }),
      {
        body: { tool_choice: 'any', random_seed: 3, stream: true, frequency_penalty: 0.5 },
        without: ['seed', 'stream_options', 'parallel_tool_calls', 'logit_bias', 'reasoning_effort', 'made_up'],
        losses: ['-logit_bias', '-made_up', '-parallel_tool_calls', '-reasoning'],
      },
    ],
  ],
  xai: [
    [
      'the nearest effort that the model has',
      at('https://api.x.ai/v1'),
      'responses',
      { model: 'grok-4.6', input: 'Hi.', reasoning: { effort: 'max' } },
      { body: { reasoning_effort: 'xhigh' }, losses: ['~reasoning.effort'] },
    ],
    [
      'no sampling fields for the newest Claude models',
      at('https://api.x.ai/v1'),
      'chat',
      chat('claude-opus-5.5', { temperature: 0.2, top_p: 0.5 }),
      { without: ['temperature', 'top_p'], losses: ['-temperature', '-top_p'] },
    ],
    [
      'no stop words and penalties for models that reason',
      at('https://api.x.ai/v1'),
      'chat',
      chat('grok-4.5', { stop: ['x'], presence_penalty: 1, temperature: 0.5 }),
      { body: { temperature: 0.5 }, without: ['stop', 'presence_penalty'], losses: ['-presence_penalty', '-stop'] },
    ],
    [
      'no effort where the name decides',
      at('https://api.x.ai/v1'),
      'chat',
      chat('grok-4.20-non-reasoning', { stop: ['x'], reasoning_effort: 'high' }),
      { body: { stop: ['x'] }, without: ['reasoning_effort'], losses: ['-reasoning'] },
    ],
  ],
  moonshot: [
    [
      'fixed sampling, and an effort of its own',
      at('https://api.moonshot.ai/v1'),
      'messages',
      messages('kimi-k3', { temperature: 0.5, top_p: 0.9, output_config: { effort: 'xhigh' } }),
      {
        body: { reasoning_effort: 'max' },
        without: ['temperature', 'top_p', 'thinking'],
        losses: ['-temperature', '-top_p', '~reasoning.effort'],
      },
    ],
    [
      'a switch for K2; lost reasoning is never empty; its ids come back',
      at('https://api.moonshot.cn/v1'),
      'messages',
      messages('kimi-k2.6', {
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        tools: [tool],
        messages: calls('functions.f:0'),
      }),
      {
        body: {
          thinking: { type: 'enabled' },
          messages: [
            { role: 'user', content: 'Hi.' },
            {
              role: 'assistant',
              content: '',
              reasoning_content: '(The reasoning is not available.)',
              tool_calls: [{ id: 'functions.f:0', type: 'function', function: { name: 'f', arguments: '{}' } }],
            },
            { role: 'tool', tool_call_id: 'functions.f:0', content: 'ok' },
          ],
        },
        losses: ['-reasoning.budget_tokens', '~messages[1].reasoning_content'],
      },
    ],
  ],
  zai: [
    [
      'its limits',
      at('https://api.z.ai/api/paas/v4'),
      'chat',
      chat('glm-5.3', {
        max_completion_tokens: 200_000,
        reasoning_effort: 'medium',
        tools: [functionTool('f', { strict: true })],
      }),
      {
        body: { max_tokens: 131_072, reasoning_effort: 'high', tools: [functionTool('f')] },
        losses: ['-tools[0].strict', '~max_tokens', '~reasoning.effort'],
      },
    ],
    [
      'no images for a model without eyes',
      at('https://open.bigmodel.cn/api/paas/v4'),
      'messages',
      messages('glm-5.3', { messages: byUrl }),
      { refused: 'messages[0].content[0]' },
    ],
    [
      'a switch for older models',
      at('https://api.z.ai/api/paas/v4'),
      'messages',
      messages('glm-4.6', { thinking: { type: 'disabled' } }),
      { body: { thinking: { type: 'disabled' } }, losses: [] },
    ],
  ],
  dashscope: [
    [
      'thinking in streams',
      at('https://dashscope-intl.aliyuncs.com/compatible-mode/v1'),
      'messages',
      messages('qwen3.8-max', {
        stream: true,
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        tools: [tool],
        tool_choice: { type: 'any' },
      }),
      {
        body: { enable_thinking: true, thinking_budget: 2_000 },
        without: ['tool_choice', 'reasoning_effort'],
        losses: ['~tool_choice'],
      },
    ],
    [
      'none in a whole answer',
      at('https://dashscope.aliyuncs.com/compatible-mode/v1'),
      'chat',
      chat('qwen3.8-max'),
      { body: { enable_thinking: false }, losses: [] },
    ],
  ],
  minimax: [
    [
      'its limit, its range and its reasoning',
      at('https://api.minimax.io/v1'),
      'messages',
      messages('MiniMax-M3', { temperature: 0, thinking: { type: 'enabled', budget_tokens: 2_000 } }),
      {
        body: {
          max_completion_tokens: 4_000,
          temperature: 0.01,
          thinking: { type: 'adaptive' },
          reasoning_split: true,
        },
        without: ['max_tokens'],
        losses: ['-reasoning.budget_tokens', '~temperature'],
      },
    ],
    [
      'no forced tool',
      at('https://api.minimaxi.com/v1'),
      'messages',
      messages('MiniMax-M3', { tools: [tool], tool_choice: { type: 'tool', name: 'f' } }),
      { refused: 'tool_choice' },
    ],
    [
      'no tools where no call is allowed',
      at('https://api.minimaxi.com/v1'),
      'messages',
      messages('MiniMax-M3', { tools: [tool], tool_choice: { type: 'none' } }),
      { without: ['tools', 'tool_choice'], losses: ['-tools[0]'] },
    ],
  ],
  cerebras: [
    [
      'what it refuses',
      at('https://api.cerebras.ai/v1'),
      'chat',
      chat('qwen-3-coder', {
        frequency_penalty: 0.5,
        presence_penalty: 0,
        parallel_tool_calls: false,
        tool_choice: 'none',
        tools: [functionTool('f', { strict: true })],
        temperature: 0.5,
      }),
      {
        body: { temperature: 0.5, tool_choice: 'none', tools: [functionTool('f')] },
        without: ['frequency_penalty', 'presence_penalty', 'parallel_tool_calls'],
        losses: ['-frequency_penalty', '-parallel_tool_calls', '-tools[0].strict'],
      },
    ],
    [
      'no forced tool',
      at('https://api.cerebras.ai/v1'),
      'chat',
      chat('gpt-oss-120b', { tools: [functionTool('f')], tool_choice: 'required' }),
      { refused: 'tool_choice' },
    ],
  ],
  fireworks: [
    [
      'a cache key by its name',
      at('https://api.fireworks.ai/inference/v1'),
      'chat',
      chat('accounts/fireworks/models/deepseek-v4', { prompt_cache_key: 'k' }),
      { body: { prompt_cache_isolation_key: 'k' }, without: ['prompt_cache_key'], losses: [] },
    ],
  ],
  together: [
    [
      'a switch in place of an effort',
      at('https://api.together.xyz/v1'),
      'messages',
      messages('zai-org/GLM-5.3', {
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        tools: [{ ...tool, strict: true }],
      }),
      {
        body: { reasoning: { enabled: true }, tools: [functionTool('f')] },
        losses: ['-reasoning.budget_tokens', '-tools[0].strict'],
      },
    ],
  ],
  nim: [
    [
      'no effort, and strings',
      at('https://integrate.api.nvidia.com/v1'),
      'chat',
      chat('deepseek-ai/deepseek-v3.2', {
        reasoning_effort: 'high',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          { role: 'assistant', content: [{ type: 'text', text: 'c' }] },
          { role: 'user', content: 'd' },
        ],
      }),
      {
        body: {
          messages: [
            { role: 'user', content: 'a\n\nb' },
            { role: 'assistant', content: 'c' },
            { role: 'user', content: 'd' },
          ],
        },
        without: ['reasoning_effort'],
        losses: ['-reasoning'],
      },
    ],
  ],
  cloudflare: [
    [
      'no effort, no strict tools',
      at('https://api.cloudflare.com/client/v4/accounts/a/ai/v1'),
      'chat',
      chat('@cf/openai/gpt-oss-120b', { reasoning_effort: 'high', tools: [functionTool('f', { strict: true })] }),
      { body: { tools: [functionTool('f')] }, losses: ['-reasoning', '-tools[0].strict'] },
    ],
  ],
  copilot: [
    [
      'an effort by model, the limit by model',
      at('https://api.individual.githubcopilot.com'),
      'chat',
      chat('claude-sonnet-4.5', { reasoning_effort: 'high', max_completion_tokens: 5 }),
      { body: { max_tokens: 5 }, without: ['reasoning_effort'], losses: ['-reasoning'] },
    ],
    [
      'an effort for others',
      at('https://api.githubcopilot.com'),
      'chat',
      chat('gpt-5.5', { reasoning_effort: 'high', max_tokens: 5 }),
      { body: { max_completion_tokens: 5, reasoning_effort: 'high' }, losses: [] },
    ],
  ],
  gemini: [
    [
      'no penalties',
      at('https://generativelanguage.googleapis.com/v1beta/openai'),
      'chat',
      chat('gemini-3.8-flash', { presence_penalty: 1, reasoning_effort: 'low' }),
      { body: { reasoning_effort: 'low' }, without: ['presence_penalty'], losses: ['-presence_penalty'] },
    ],
    [
      'no images by URL',
      at('https://generativelanguage.googleapis.com/v1beta/openai'),
      'messages',
      messages('gemini-3.8-flash', { messages: byUrl }),
      { refused: 'messages[0].content[0]' },
    ],
  ],
  ollama: [
    [
      'earlier reasoning by its name',
      at('http://localhost:11434/v1'),
      'messages',
      messages('qwen3.5:9b', { tools: [tool], messages: calls('a', [], [thinking]) }),
      {
        body: {
          messages: [
            { role: 'user', content: 'Hi.' },
            {
              role: 'assistant',
              content: '',
              reasoning: 'I think.',
              tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
            },
            { role: 'tool', tool_call_id: 'a', content: 'ok' },
          ],
        },
      },
    ],
    [
      'no images by URL',
      at('https://ollama.com/v1'),
      'messages',
      messages('m', { messages: byUrl }),
      { refused: 'messages' },
    ],
  ],
  lmstudio: [
    [
      'a tool choice as a word',
      at('http://localhost:1234/v1'),
      'messages',
      messages('m', { tools: [tool, { ...tool, name: 'g' }], tool_choice: { type: 'tool', name: 'g' } }),
      {
        body: { tool_choice: 'required', tools: [functionTool('g')] },
        losses: ['-tools[0]', '~tool_choice'],
      },
    ],
  ],
  llamacpp: [
    [
      'the common form',
      at('http://localhost:8080/v1'),
      'chat',
      chat('m', { reasoning_effort: 'none' }),
      { body: { reasoning_effort: 'none' }, losses: [] },
    ],
  ],
  vllm: [
    [
      'the switch of the template',
      at('http://localhost:8000/v1'),
      'messages',
      messages('qwen3.5', { thinking: { type: 'disabled' } }),
      { body: { chat_template_kwargs: { enable_thinking: false } }, losses: [] },
    ],
  ],
  sglang: [
    [
      'the switch of the template, and the effort',
      at('http://localhost:30000/v1'),
      'messages',
      messages('m', { thinking: { type: 'enabled', budget_tokens: 2_000 }, output_config: { effort: 'high' } }),
      { body: { chat_template_kwargs: { enable_thinking: true }, reasoning_effort: 'high' } },
    ],
  ],
  litellm: [
    [
      'the common form',
      at('http://localhost:4000/v1'),
      'chat',
      chat('alias', { presence_penalty: 0, parallel_tool_calls: true, tools: [functionTool('f')] }),
      { without: ['presence_penalty', 'parallel_tool_calls'], losses: [] },
    ],
    [
      "a model's own limits",
      at('http://localhost:4000/v1'),
      'chat',
      chat('claude-sonnet-4-6', { reasoning_effort: 'xhigh', temperature: 0.5 }),
      { body: { reasoning_effort: 'max' }, losses: ['-temperature', '~reasoning.effort'] },
    ],
  ],
};

const check = (name: string, [title, place, client, asked, expected]: Row): void => {
  test(`${name}: ${title}`, (t) => {
    if (expected.refused !== undefined) {
      const error = t.throws(() => sent('openai', client, asked, place));
      t.true(error?.message.includes(expected.refused), error?.message);
      return;
    }
    const { body, losses } = sent('openai', client, asked, place);
    for (const [member, value] of Object.entries(expected.body ?? {})) t.deepEqual(body[member], value, member);
    for (const member of expected.without ?? []) t.false(member in body, member);
    if (expected.losses) t.deepEqual([...losses].sort(), [...expected.losses]);
  });
};

for (const [name, rows] of Object.entries(byHost)) for (const row of rows) check(name, row);

test('each host and each family has a case', (t) => {
  t.deepEqual(Object.keys(byHost).sort(), hostRows.map(({ name }) => name).sort());
  const asked = Object.values(byHost).flatMap((rows) => rows.map(([, , , { model }]) => String(model).toLowerCase()));
  for (const { name, names } of modelFamilies)
    t.true(
      asked.some((model) => names.test(model)),
      name,
    );
});

test('an option names a host and a family, or neither', (t) => {
  const asked = chat('alias', {
    seed: 1,
    tools: [functionTool('f')],
    tool_choice: 'required',
    reasoning_effort: 'high',
  });
  const elsewhere = sent('openai', 'chat', asked, at('https://models.example/v1'));
  t.deepEqual(
    [elsewhere.body.tool_choice, elsewhere.body.reasoning_effort, elsewhere.losses],
    ['required', 'high', []],
  );
  const named = sent('openai', 'chat', asked, { baseUrl: 'https://models.example/v1', options: { host: 'mistral' } });
  t.deepEqual([named.body.tool_choice, named.body.random_seed], ['any', 1]);
  const none = sent('openai', 'chat', asked, { baseUrl: 'https://api.mistral.ai/v1', options: { host: 'none' } });
  t.deepEqual([none.body.tool_choice, none.body.seed], ['required', 1]);
  const ids = ({ body }: { readonly body: JsonObject }): readonly Json[] =>
    (Array.isArray(body.messages) ? body.messages : []).flatMap((message: Json) =>
      isJsonObject(message) && message.tool_call_id !== undefined ? [message.tool_call_id] : [],
    );
  const looped = messages('alias', { tools: [tool], messages: calls('toolu_01') });
  const family = sent('openai', 'messages', looped, { options: { family: 'mistral' } });
  t.regex(String(ids(family)[0]), /^[a-zA-Z0-9]{9}$/);
  const others = sent('openai', 'messages', { ...looped, model: 'mistral-x' }, { options: { family: 'none' } });
  t.deepEqual(ids(others), ['toolu_01']);
});

test('each host name and port leads to its row, a path with a version to its endpoint', (t) => {
  t.is(pathOf('openai', chat('m'), at('https://api.githubcopilot.com')), '/chat/completions');
  t.is(pathOf('openai', chat('m'), at('https://api.mistral.ai')), '/v1/chat/completions');
});

const strictRoles: readonly (readonly [vendor: string, model: string, baseUrl: string])[] = [
  ['openai', 'a model of tomorrow', 'https://models.example/v1'],
  ['openai', 'qwen3.5-coder', 'http://localhost:8000/v1'],
  ['openrouter', 'qwen/qwen3.8-max', 'https://openrouter.ai/api/v1'],
  ['groq', 'qwen/qwen3.8-32b', 'https://api.groq.com/openai/v1'],
  ['deepseek', 'MiniMax-M3', 'https://api.deepseek.com'],
];

for (const [vendor, model, baseUrl] of strictRoles) {
  test(`${vendor} ${model}: one system message, first; later ones are the user's text at their place`, (t) => {
    const asked = messages(model, {
      system: 'a',
      tools: [tool],
      messages: [
        { role: 'user', content: 'b' },
        { role: 'system', content: 'c' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'i', content: 'ok' }] },
        { role: 'system', content: 'd' },
        { role: 'assistant', content: 'e' },
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
        },
        { role: 'system', content: 'f' },
      ],
    });
    const { body, losses } = sent(vendor, 'messages', asked, at(baseUrl));
    const wire = (Array.isArray(body.messages) ? body.messages : []).filter(isJsonObject);
    t.deepEqual(
      wire.map(({ role }) => role),
      ['system', 'user', 'assistant', 'tool', 'user', 'assistant', 'user'],
    );
    t.deepEqual(textOf(wire[1]), 'b\n\nc');
    t.deepEqual(textOf(wire[4]), 'd');
    t.deepEqual(textOf(wire[6]), 'f');
    t.deepEqual(
      losses.filter((loss) => /^~messages\[\d\]$/.test(loss)),
      ['~messages[1]', '~messages[4]', '~messages[7]'],
    );
  });
}

/** The text of a message, its parts joined. */
const textOf = ({ content }: JsonObject = {}): string =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : [])
        .flatMap((part: Json) => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : []))
        .join('\n\n');

test('instructions at the front become one message, in order', (t) => {
  const asked = {
    model: 'm',
    instructions: 'a',
    input: [
      { role: 'developer', content: 'b' },
      { role: 'system', content: 'c' },
      { role: 'user', content: 'd' },
    ],
  };
  t.deepEqual(sent('openai', 'responses', asked).body.messages, [
    { role: 'system', content: 'a\n\nb\n\nc' },
    { role: 'user', content: 'd' },
  ]);
});

test('vendors that accept instructions anywhere still get them at their place', (t) => {
  for (const [vendor, model] of [
    ['openrouter', 'anthropic/claude-opus-5.5'],
    ['groq', 'openai/gpt-oss-120b'],
    ['deepseek', 'deepseek-flash'],
  ] as const) {
    const { body, losses } = sent(
      vendor,
      'messages',
      messages(model, {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'system', content: 'b' },
        ],
      }),
    );
    t.deepEqual(body.messages, [
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
    ]);
    t.deepEqual(losses, []);
  }
});

for (const [vendor, model] of [
  ['openai', 'mistral-large-4'],
  ['openrouter', 'mistralai/devstral-2'],
  ['groq', 'mistral-saba-24b'],
] as const) {
  test(`${vendor} ${model}: no user message after a result, and ids of nine letters or digits`, (t) => {
    const { body, losses } = sent(
      vendor,
      'messages',
      messages(model, { tools: [tool], messages: calls('toolu_01ABC', [{ type: 'text', text: 'And now?' }]) }),
    );
    const wire = (Array.isArray(body.messages) ? body.messages : []).filter(isJsonObject);
    const [call] = (Array.isArray(wire[1]?.tool_calls) ? wire[1].tool_calls : []).filter(isJsonObject);
    t.regex(String(call?.id), /^[a-zA-Z0-9]{9}$/);
    t.deepEqual(wire.slice(2), [
      { role: 'tool', tool_call_id: call?.id, content: 'ok' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'And now?' },
    ]);
    t.deepEqual(
      losses,
      ['~messages[2].content[1]'].map((loss) => losses.find((one) => one === loss) ?? '~messages[2]'),
    );
  });
}

test('content is one string, never empty or null', (t) => {
  const { body } = sent(
    'openai',
    'messages',
    messages('m', {
      tools: [tool],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: '' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'i' }] },
        { role: 'assistant', content: 'c' },
      ],
    }),
  );
  t.deepEqual(body.messages, [
    { role: 'user', content: 'a\n\nb' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'i', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'i', content: '(no output)' },
    { role: 'assistant', content: 'c' },
    { role: 'user', content: 'Continue.' },
  ]);
});

test('messages of one role in a row become one; two speakers stay apart', (t) => {
  const asked = chat('m', {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'c' },
      { role: 'assistant', content: 'd' },
      { role: 'user', content: 'e', name: 'x' },
      { role: 'user', content: 'f', name: 'y' },
    ],
  });
  t.deepEqual(sent('openai', 'chat', asked).body.messages, [
    { role: 'user', content: 'a\n\nb' },
    { role: 'assistant', content: 'c\n\nd' },
    { role: 'user', content: 'e', name: 'x' },
    { role: 'user', content: 'f', name: 'y' },
  ]);
});

test('what a client asks for goes out; what it asks for at its default does not', (t) => {
  const asked = chat('m', {
    tools: [functionTool('f', { strict: true })],
    tool_choice: { type: 'function', function: { name: 'f' } },
    parallel_tool_calls: false,
    temperature: 0,
    top_p: 0.5,
    presence_penalty: 1,
    frequency_penalty: 1,
    seed: 1,
    stop: ['x'],
    logit_bias: { a: 1 },
    reasoning_effort: 'high',
  });
  const { body, losses } = sent('openai', 'chat', asked);
  t.deepEqual(losses, []);
  t.like(body, asked);
  const neutral = sent(
    'openai',
    'chat',
    chat('m', {
      tools: [functionTool('f', { strict: false })],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      presence_penalty: 0,
      frequency_penalty: 0,
      n: 1,
      logprobs: false,
    }),
  );
  t.deepEqual(neutral.losses, []);
  t.deepEqual(Object.keys(neutral.body).sort(), ['messages', 'model', 'tools']);
  t.deepEqual(neutral.body.tools, [functionTool('f')]);
  t.true(isRelayed('openai', asked));
});

test("a chat client's body passes as it came, unless the model would reject its ids", (t) => {
  const looped = (id: string, model: string) =>
    chat(model, {
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b' }] },
        { role: 'system', content: 'c' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: '' },
        { role: 'user', content: 'd' },
      ],
    });
  t.true(isRelayed('openai', looped('chatcmpl-tool-0123456789abcdef0123456789abcdef', 'qwen3.5')));
  t.true(isRelayed('openai', looped('abcdefghi', 'mistral-large-4')));
  t.false(isRelayed('openai', looped('call_abcdefghi', 'mistral-large-4')));
});
