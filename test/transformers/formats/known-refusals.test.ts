import test from 'ava';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { HostBody } from '../../support/hosts/check.ts';
import { breachesOf } from '../../support/hosts/host-vendor.ts';
import { type StrictHost, strictHosts } from '../../support/hosts/hosts.ts';
import { type ClientName, chat, functionTool, headersOf, messages, type Place, sent } from './rig.ts';

/** What hosts and models refuse of sampling, efforts and schemas never reaches them, whatever a client asks for. */
const words = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Each kind of request, from a client of each protocol. */
const sampling = { temperature: 0.5, top_p: 0.9 };
const typeLists = {
  type: 'object',
  properties: {
    s: { type: ['string', 'null'] },
    l: { type: ['null', 'array'], items: { type: 'string' } },
    c: { const: 'a' },
    n: { oneOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'string' }] },
    type: { type: 'string' },
  },
  required: ['s'],
  additionalProperties: false,
};

const asked = (model: string): readonly (readonly [client: ClientName, body: JsonObject])[] => [
  ['chat', chat(model, { ...sampling, tools: [functionTool('f', { parameters: typeLists })] })],
  ['messages', messages(model, { ...sampling, tools: [{ name: 'f', input_schema: typeLists }] })],
  [
    'responses',
    {
      model,
      input: 'Hi.',
      ...sampling,
      tools: [{ type: 'function', name: 'f', parameters: typeLists, strict: false }],
    },
  ],
  ...words.flatMap((effort) => [
    ['chat', chat(model, { reasoning_effort: effort, temperature: 0.5, stream: true })] as const,
    ['responses', { model, input: 'Hi.', reasoning: { effort }, temperature: 0.5 }] as const,
    ['messages', messages(model, { output_config: effort === 'none' ? {} : { effort }, temperature: 0.5 })] as const,
  ]),
  ['messages', messages(model, { thinking: { type: 'disabled' } })],
  ['messages', messages(model, { thinking: { type: 'enabled', budget_tokens: 2_000 } })],
  ['messages', messages(model, { thinking: { type: 'adaptive' }, stream: true })],
];

const isHostBody = (body: JsonObject): body is JsonObject & HostBody => Array.isArray(body.messages);

for (const [name, host] of Object.entries<StrictHost>(strictHosts)) {
  test(`${name}: sampling, efforts and schemas`, (t) => {
    const place: Place = { baseUrl: host.baseUrl, ...(host.options && { options: { ...host.options } }) };
    for (const [client, body] of asked(host.model)) {
      const out = sent('openai', client, body, place);
      t.true(isHostBody(out.body));
      const breaches = isHostBody(out.body) ? breachesOf(host, out.body) : [];
      t.deepEqual(breaches, [], `${client}: ${JSON.stringify(body)} became ${JSON.stringify(out.body)}`);
    }
  });
}

type EffortRow = readonly [place: string, model: string, sent: readonly (string | undefined)[]];

const fireworks = 'https://api.fireworks.ai/inference/v1';

/** What becomes of each effort, from `none` to `max`. */
const efforts: readonly EffortRow[] = [
  ['https://api.x.ai/v1', 'grok-4.5', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['https://api.x.ai/v1', 'grok-4.6', ['low', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  ['https://api.x.ai/v1', 'grok-9', [...words]],
  ['https://api.x.ai/v1', 'grok-4.20-reasoning', words.map(() => undefined)],
  ['https://api.cerebras.ai/v1', 'gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  // A model of which nothing is known takes all that its host's newest ones take.
  [fireworks, 'accounts/fireworks/models/anything-9', [...words]],
  [fireworks, 'accounts/fireworks/models/glm-5p3', ['none', 'high', 'high', 'high', 'high', 'max', 'max']],
  [fireworks, 'accounts/fireworks/models/kimi-k2p6', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  [fireworks, 'accounts/fireworks/models/deepseek-v4-pro', ['none', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  [fireworks, 'accounts/fireworks/models/gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['http://localhost:11434/v1', 'qwen3.8', ['none', 'low', 'low', 'medium', 'high', 'max', 'max']],
  ['http://localhost:8000/v1', 'qwen3.8', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['http://localhost:30000/v1', 'qwen3.8', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['http://localhost:1234/v1', 'qwen3.8', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['http://localhost:8080/v1', 'qwen3.8', [...words]],
  ['http://localhost:11434/v1', 'gpt-oss:20b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['http://localhost:1234/v1', 'openai/gpt-oss-20b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['https://api.githubcopilot.com', 'gemini-3.8-flash', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['https://api.githubcopilot.com', 'claude-opus-4.5', words.map(() => undefined)],
  ['https://api.githubcopilot.com', 'claude-sonnet-4.6', [undefined, 'low', 'low', 'medium', 'high', 'max', 'max']],
  ['https://api.githubcopilot.com', 'claude-opus-4.8', [undefined, 'low', 'low', 'medium', 'high', 'xhigh', 'max']],
  ['https://api.githubcopilot.com', 'anything-9', [...words]],
  ['https://gateway.example/v1', 'claude-sonnet-4.6', ['none', 'low', 'low', 'medium', 'high', 'max', 'max']],
  ['https://api.githubcopilot.com', 'gpt-5.2', ['none', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh']],
  ...(['gemini-3.8-flash', 'gemini-3.7-pro'] as const).map(
    (model): EffortRow => [
      'https://generativelanguage.googleapis.com/v1beta/openai',
      model,
      ['low', 'low', 'low', 'medium', 'high', 'high', 'high'],
    ],
  ),
  [
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'gemini-3.6-flash',
    ['minimal', 'minimal', 'low', 'medium', 'high', 'high', 'high'],
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'gemini-2.5-flash',
    ['none', 'low', 'low', 'medium', 'high', 'high', 'high'],
  ],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'gemini-9-flash', [...words]],
  ['https://gateway.example/v1', 'anything', [...words]],
];

for (const [baseUrl, model, became] of efforts) {
  test(`efforts of ${model} at ${baseUrl}`, (t) => {
    for (const [index, effort] of words.entries()) {
      const { body, losses } = sent('openai', 'chat', chat(model, { reasoning_effort: effort }), { baseUrl });
      const switched = isJsonObject(body.chat_template_kwargs) && body.chat_template_kwargs.enable_thinking === false;
      t.is(switched ? 'none' : body.reasoning_effort, became[index], effort);
      // Reasoning that is off asks for nothing that a model without controls could lose.
      const silent = became[index] === effort || (effort === 'none' && became.every((word) => word === undefined));
      t.is(losses.length > 0, !silent, `${effort}: ${losses}`);
    }
  });
}

/** What each Claude gets of a budget, of adaptive thinking and of none, from a Messages client whose request is converted. */
const thinkings: readonly (readonly [model: string, budget: string, adaptive: string, off: string | undefined])[] = [
  ...['fable-5-2', 'fable-5-1', 'fable-5', 'opus-5-5', 'sonnet-5-5'].map(
    (name) => [`claude-${name}`, 'adaptive', 'adaptive', undefined] as const,
  ),
  ...['haiku-5-5', 'opus-5', 'sonnet-5', 'opus-4-8', 'opus-4-7'].map(
    (name) => [`claude-${name}`, 'adaptive', 'adaptive', 'disabled'] as const,
  ),
  ...['opus-4-6', 'sonnet-4-6'].map((name) => [`claude-${name}`, 'enabled', 'adaptive', 'disabled'] as const),
  ...['opus-4-5', 'sonnet-4-5', 'haiku-4-5'].map(
    (name) => [`claude-${name}`, 'enabled', 'enabled', 'disabled'] as const,
  ),
];

for (const [model, ...became] of thinkings) {
  test(`thinking of ${model}`, (t) => {
    const asks = [{ type: 'enabled', budget_tokens: 2_000 }, { type: 'adaptive' }, { type: 'disabled' }];
    for (const [index, thinking] of asks.entries()) {
      const { body, losses } = sent('anthropic', 'messages', messages(model, { thinking }));
      t.is(isJsonObject(body.thinking) ? body.thinking.type : undefined, became[index], thinking.type);
      t.is(losses.length > 0, became[index] !== thinking.type, `${thinking.type}: ${losses}`);
    }
  });
}

/** What goes out of a forced tool and an effort of `high` together: the choice, the reasoning, and what is lost. */
type ForcedRow = readonly [
  vendor: string,
  baseUrl: string | undefined,
  model: string,
  sent: JsonObject,
  lost: readonly string[],
];

const high = { reasoning_effort: 'high' };
const copilot = 'https://api.githubcopilot.com';
const proxy = 'https://gateway.example/v1';
const forced: readonly ForcedRow[] = [
  // Anthropic: not while it thinks by a budget, and some models never.
  ['anthropic', undefined, 'claude-opus-4-5', { tool_choice: { type: 'any' } }, ['~reasoning']],
  [
    'anthropic',
    undefined,
    'claude-opus-5-5',
    { tool_choice: { type: 'auto' }, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ['~tool_choice'],
  ],
  ['openrouter', undefined, 'anthropic/claude-sonnet-4.5', { tool_choice: 'required' }, ['~reasoning']],
  [
    'openrouter',
    undefined,
    'anthropic/claude-opus-5.5',
    { tool_choice: 'auto', reasoning: { effort: 'high' } },
    ['~tool_choice'],
  ],
  ['openrouter', undefined, 'anthropic/claude-opus-5', { tool_choice: 'required', reasoning: { effort: 'high' } }, []],
  ['openai', copilot, 'claude-sonnet-4.6', { tool_choice: 'required' }, ['~reasoning']],
  ['openai', copilot, 'claude-sonnet-5.5', { ...high }, ['~tool_choice']],
  ['openai', proxy, 'claude-fable-5-1', { ...high }, ['~tool_choice']],
  ['openai', proxy, 'claude-opus-9', { tool_choice: 'required', ...high }, []],
  // DeepSeek: older models.
  ['deepseek', undefined, 'deepseek-flash', { tool_choice: 'required', thinking: { type: 'enabled' }, ...high }, []],
  [
    'deepseek',
    undefined,
    'deepseek-chat',
    { tool_choice: 'auto', thinking: { type: 'enabled' }, ...high },
    ['~tool_choice'],
  ],
  [
    'deepseek',
    undefined,
    'deepseek-reasoner',
    { tool_choice: 'auto', thinking: { type: 'enabled' }, ...high },
    ['~tool_choice'],
  ],
  // Kimi, z.ai and others: nothing is known to be refused.
  ['openai', 'https://api.moonshot.ai/v1', 'kimi-k3', { tool_choice: 'required', ...high }, []],
  [
    'openai',
    'https://api.moonshot.ai/v1',
    'kimi-k2.6',
    { tool_choice: 'required', thinking: { type: 'enabled' } },
    ['-reasoning.effort'],
  ],
  ['openai', 'https://api.z.ai/api/paas/v4', 'glm-5.3', { tool_choice: 'required', ...high }, []],
  ['openai', 'https://api.x.ai/v1', 'grok-4.6', { tool_choice: 'required', ...high }, []],
  ['openai', proxy, 'anything-9', { tool_choice: 'required', ...high }, []],
  // Qwen: it thinks in streams alone here, which this isn't.
  [
    'openai',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'qwen3.8-max',
    { tool_choice: 'required', enable_thinking: false },
    ['-reasoning'],
  ],
  [
    'openai',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'glm-5.3',
    { enable_thinking: true },
    ['-reasoning.effort', '~tool_choice'],
  ],
];

const controls = ['tool_choice', 'thinking', 'reasoning', 'reasoning_effort', 'enable_thinking', 'output_config'];

for (const [vendor, baseUrl, model, expected, lost] of forced) {
  test(`a forced tool while ${model} thinks, ${vendor} at ${baseUrl ?? 'its own address'}`, (t) => {
    const body = chat(model, { tools: [functionTool('f')], tool_choice: 'required', ...high });
    const out = sent(vendor, 'chat', body, baseUrl === undefined ? {} : { baseUrl });
    t.deepEqual(Object.fromEntries(Object.entries(out.body).filter(([name]) => controls.includes(name))), expected);
    t.deepEqual([...out.losses].sort(), lost);
  });
}

test('where a forced tool lifts the thinking, a temperature may stay', (t) => {
  const body = chat('anthropic/claude-sonnet-4.5', { tools: [functionTool('f')], ...high, ...sampling });
  const forcing = sent('openrouter', 'chat', { ...body, tool_choice: 'required' });
  t.like(forcing.body, { tool_choice: 'required', temperature: 0.5, reasoning: undefined, top_p: undefined });
  t.deepEqual([...forcing.losses].sort(), ['-top_p', '~reasoning']);
  const thinking = sent('openrouter', 'chat', body);
  t.like(thinking.body, { reasoning: { effort: 'high' }, temperature: undefined, top_p: undefined });
});

test('a forced tool in a stream that thinks, at a host of Qwen', (t) => {
  const place = { baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1' };
  const body = chat('qwen3.8-max', { tools: [functionTool('f')], tool_choice: 'required', stream: true });
  t.like(sent('openai', 'chat', { ...body, ...high }, place).body, { tool_choice: undefined, enable_thinking: true });
  t.is(sent('openai', 'chat', body, place).body.tool_choice, 'required');
});

for (const [name, host] of Object.entries<StrictHost>(strictHosts)) {
  test(`${name}: streams are asked for their usage, unless the host refuses the field`, (t) => {
    const place: Place = { baseUrl: host.baseUrl, ...(host.options && { options: { ...host.options } }) };
    const asks = name === 'mistral' ? undefined : { include_usage: true };
    for (const [client, body] of [
      ['chat', chat(host.model, { stream: true, stream_options: { include_usage: true } })],
      ['chat', chat(host.model, { stream: true })],
      ['messages', messages(host.model, { stream: true })],
      ['responses', { model: host.model, input: 'Hi.', stream: true }],
    ] as const) {
      const out = sent('openai', client, body, place);
      t.deepEqual(out.body.stream_options, asks, client);
      t.deepEqual(out.losses, [], client);
      for (const streamUsage of [true, false]) {
        const chosen = sent('openai', client, body, { ...place, options: { ...place.options, streamUsage } });
        t.deepEqual(chosen.body.stream_options, streamUsage ? { include_usage: true } : undefined, client);
      }
      const whole = sent('openai', client, { ...body, stream: false, stream_options: undefined }, place);
      t.false('stream_options' in whole.body, client);
    }
  });
}

const responsesEfforts: readonly EffortRow[] = [
  ['https://api.openai.com/v1', 'gpt-6.2-sol', ['low', 'low', 'low', 'medium', 'high', 'xhigh', 'max']],
  ['https://api.openai.com/v1', 'gpt-6-luna', ['none', 'low', 'low', 'medium', 'high', 'xhigh', 'max']],
  ['https://api.openai.com/v1', 'gpt-5.1', ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['https://api.openai.com/v1', 'o4-mini', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['https://api.x.ai/v1', 'grok-4.5', ['low', 'low', 'low', 'medium', 'high', 'high', 'high']],
  ['https://api.openai.com/v1', 'gpt-9-nova', [...words]],
];

for (const [baseUrl, model, became] of responsesEfforts) {
  test(`efforts of ${model} over Responses`, (t) => {
    for (const [index, effort] of words.entries()) {
      const place = { baseUrl, options: { api: 'responses' } };
      const { body, losses } = sent('openai', 'chat', chat(model, { reasoning_effort: effort }), place);
      t.is(isJsonObject(body.reasoning) ? body.reasoning.effort : undefined, became[index], effort);
      t.is(losses.length > 0, became[index] !== effort, `${effort}: ${losses}`);
    }
  });
}

const pairs: readonly (readonly [vendor: string, model: string, sent: readonly string[]])[] = [
  ...['opus-4-1', 'sonnet-4-5', 'haiku-4-5-20251001', 'opus-4-5', 'opus-4-6', 'sonnet-4-6'].map(
    (name) => ['anthropic', `claude-${name}`, ['temperature']] as const,
  ),
  ['anthropic', 'claude-sonnet-4-20250514', ['temperature', 'top_p']],
  ['anthropic', 'claude-3-7-sonnet-latest', ['temperature', 'top_p']],
  ['anthropic', 'claude-opus-5-5', []],
  ['openrouter', 'anthropic/claude-sonnet-4.5', ['temperature']],
  ['openrouter', 'anthropic/claude-3.7-sonnet', ['temperature', 'top_p']],
  ['openai', 'claude-haiku-4.5', ['temperature']],
  ['openai', 'claude-opus-4.8', []],
];

for (const [vendor, model, kept] of pairs) {
  for (const [client, body] of asked(model).slice(0, 3)) {
    test(`${vendor}: temperature and top_p for ${model}, ${client}`, (t) => {
      const out = sent(vendor, client, body, { baseUrl: 'https://gateway.example/v1' });
      t.deepEqual(
        ['temperature', 'top_p'].filter((name) => name in out.body),
        [...kept],
      );
      for (const name of ['temperature', 'top_p']) t.is(out.losses.includes(`-${name}`), !kept.includes(name), name);
    });
  }
}

test('one of two sampling fields stays, and a lone top_p', (t) => {
  const { body, losses } = sent('anthropic', 'chat', chat('claude-sonnet-4-5', { top_p: 0.9 }));
  t.is(body.top_p, 0.9);
  t.deepEqual(losses, []);
});

test('while a model thinks, the vendor takes neither a temperature nor a low top_p', (t) => {
  for (const model of ['claude-sonnet-4-5', 'claude-opus-4-6']) {
    const { body, losses } = sent('anthropic', 'chat', chat(model, { ...sampling, reasoning_effort: 'high' }));
    t.false('temperature' in body || 'top_p' in body, model);
    t.true(losses.includes('-temperature') && losses.includes('-top_p'), losses.join());
  }
});

test('Gemini models get single types at every door', (t) => {
  for (const [vendor, baseUrl] of [
    ['openai', 'https://generativelanguage.googleapis.com/v1beta/openai'],
    ['openai', 'https://api.githubcopilot.com'],
    ['openai', 'https://ai-gateway.vercel.sh/v1'],
    ['openrouter', 'https://openrouter.ai/api/v1'],
  ] as const) {
    const ask = messages('google/gemini-3.8-flash', {
      tools: [{ name: 'f', input_schema: typeLists }],
      output_config: { format: { type: 'json_schema', schema: typeLists } },
    });
    const { body } = sent(vendor, 'messages', ask, { baseUrl });
    const expected = {
      type: 'object',
      properties: {
        s: { type: 'string', nullable: true },
        l: { type: 'array', nullable: true, items: { type: 'string' } },
        c: { type: 'string', enum: ['a'] },
        n: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }] },
        type: { type: 'string' },
      },
      required: ['s'],
    };
    const [declared] = Array.isArray(body.tools) ? body.tools : [];
    t.like(declared, { function: { parameters: expected } }, baseUrl);
    t.like(body.response_format, { json_schema: { schema: expected } }, baseUrl);
  }
});

test("Codex's own headers stay with Responses", (t) => {
  const own = { 'x-codex-beta-features': 'a', 'x-openai-internal-codex-responses-lite': 'true' };
  t.false(Object.keys(own).some((name) => name in headersOf('openai', own)));
  t.like(headersOf('openai', own, {}, 'responses'), own);
});
