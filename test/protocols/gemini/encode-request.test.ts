import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Effort, ModelRequest, Reasoning } from '../../../engine/model/request.ts';
import { model as assistant, encode, text, user } from './encode.ts';

const schema: JsonObject = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const f = [{ type: 'function', name: 'f' }] as const;

const third = 'gemini-3-flash-preview';

const config: readonly (readonly [
  over: Partial<ModelRequest>,
  config: JsonObject | undefined,
  losses: readonly string[],
])[] = [
  [{}, undefined, []],
  [
    { maxTokens: 9, temperature: 0, topP: 0.5, topK: 3 },
    { maxOutputTokens: 9, temperature: 0, topP: 0.5, topK: 3 },
    [],
  ],
  [{ stop: ['a', '', 'b'] }, { stopSequences: ['a', 'b'] }, []],
  [{ stop: [''] }, undefined, []],
  [{ stop: ['1', '2', '3', '4', '5', '6'] }, { stopSequences: ['1', '2', '3', '4', '5'] }, ['approximated stop']],
  [{ seed: 7 }, { seed: 7 }, []],
  [{ seed: 2 ** 40 }, undefined, ['dropped seed']],
  [{ model: third, presencePenalty: 1, frequencyPenalty: -0.5 }, { presencePenalty: 1, frequencyPenalty: -0.5 }, []],
  [
    { presencePenalty: 1, frequencyPenalty: -0.5 },
    undefined,
    ['dropped presence_penalty', 'dropped frequency_penalty'],
  ],
  [
    { model: third, presencePenalty: 2, frequencyPenalty: -2 },
    { presencePenalty: 1.99, frequencyPenalty: -1.99 },
    ['approximated presence_penalty', 'approximated frequency_penalty'],
  ],
  [{ output: { type: 'text' } }, undefined, []],
  [{ output: { type: 'json' } }, { responseMimeType: 'application/json' }, []],
  [
    { output: { type: 'json-schema', schema, name: 'n', description: 'd' } },
    { responseMimeType: 'application/json', responseJsonSchema: schema },
    ['dropped response_format.description', 'dropped response_format.name'],
  ],
  [
    { model: 'gemini-1.5-pro', output: { type: 'json-schema', schema } },
    {
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
    },
    ['dropped response_format.schema.additionalProperties'],
  ],
  [{ output: { type: 'json' }, tools: f }, undefined, ['approximated response_format']],
  [{ model: 'gemini-3-pro-preview', output: { type: 'json' }, tools: f }, { responseMimeType: 'application/json' }, []],
];

for (const [over, generationConfig, losses] of config) {
  test(`generationConfig: ${JSON.stringify(over)}`, (t) => {
    const encoded = encode(over);
    t.deepEqual(encoded.body.generationConfig, generationConfig);
    t.deepEqual(encoded.losses, losses);
  });
}

test('JSON beside functions is an instruction for older models', (t) => {
  const { body } = encode({ system: [{ type: 'text', text: 'S' }], output: { type: 'json-schema', schema }, tools: f });
  const said = JSON.stringify(body.systemInstruction);
  t.true(said.startsWith('{"parts":[{"text":"S"},{"text":"When you answer without calling a tool'));
  t.true(said.includes('additionalProperties'));
});

test('instructions at the front, in their order, without empty ones', (t) => {
  const system = [
    { type: 'text', text: 'a', cache: {}, at: 'system[0]' },
    { type: 'text', text: '' },
    { type: 'text', text: 'b' },
  ] as const;
  const { body, losses } = encode({ system });
  t.deepEqual(body.systemInstruction, { parts: [{ text: 'a' }, { text: 'b' }] });
  t.deepEqual(losses, ['dropped system[0].cache_control']);
  t.false('systemInstruction' in encode({ system: [] }).body);
});

test('the body has no model and no stream: they are the URL', (t) => {
  t.deepEqual(Object.keys(encode({ stream: true }).body), ['contents']);
});

test('content without a field is a loss', (t) => {
  const { body, losses } = encode({
    logitBias: { 1: 1 },
    user: 'u',
    metadata: { a: 'b' },
    verbosity: 'low',
    promptCacheKey: 'k',
    cache: {},
    serviceTier: 'scale',
    extra: { wire: 'chat', at: '', fields: { store: false, min_p: 0.1, gone: null } },
  });
  t.deepEqual(Object.keys(body), ['contents']);
  t.deepEqual(losses, [
    'dropped service_tier',
    'dropped logit_bias',
    'dropped user',
    'dropped metadata',
    'dropped verbosity',
    'dropped prompt_cache_key',
    'dropped cache_control',
    'dropped store',
    'dropped min_p',
  ]);
});

const tiers: readonly (readonly [asked: string, wire: string | undefined, lost: boolean])[] = [
  ['auto', undefined, false],
  ['default', undefined, false],
  ['standard_only', undefined, false],
  ['flex', 'flex', false],
  ['priority', 'priority', false],
  ['scale', undefined, true],
];

for (const [serviceTier, wire, lost] of tiers) {
  test(`service tier: ${serviceTier}`, (t) => {
    const { body, losses } = encode({ serviceTier });
    t.is(body.serviceTier, wire);
    t.is(losses.length > 0, lost);
  });
}

const flash = 'gemini-2.5-flash';
const lite = 'gemini-2.5-flash-lite';
const pro = 'gemini-2.5-pro';
const flash3 = third;
const pro3 = 'gemini-3-pro-preview';
const pro31 = 'gemini-3.1-pro-preview';
const effort = (word: Effort): Reasoning => ({ effort: word });
const budgetLoss = ['approximated reasoning.budget_tokens'];
const effortLoss = ['approximated reasoning.effort'];

const thinking: readonly (readonly [
  model: string,
  reasoning: Reasoning,
  config: JsonObject | undefined,
  losses?: readonly string[],
])[] = [
  [flash, { mode: 'off' }, { thinkingBudget: 0 }],
  [flash, effort('none'), { thinkingBudget: 0 }],
  [flash, effort('minimal'), { thinkingBudget: 512, includeThoughts: true }],
  [flash, effort('low'), { thinkingBudget: 1024, includeThoughts: true }],
  [flash, effort('medium'), { thinkingBudget: 8192, includeThoughts: true }],
  [flash, effort('high'), { thinkingBudget: 24_576, includeThoughts: true }],
  [flash, effort('max'), { thinkingBudget: 24_576, includeThoughts: true }],
  [flash, { mode: 'on', budget: 2000 }, { thinkingBudget: 2000, includeThoughts: true }],
  [flash, { mode: 'on', budget: 60_000 }, { thinkingBudget: 24_576, includeThoughts: true }, budgetLoss],
  [flash, { mode: 'on', budget: 2000, show: 'hidden' }, { thinkingBudget: 2000 }],
  [flash, { mode: 'on', budget: -1 }, { thinkingBudget: -1, includeThoughts: true }],
  [
    flash3,
    { effort: 'low', budget: 9000 },
    { thinkingLevel: 'LOW', includeThoughts: true },
    ['dropped reasoning.budget_tokens'],
  ],
  [flash, { mode: 'adaptive' }, { thinkingBudget: -1, includeThoughts: true }],
  [flash, { mode: 'adaptive', effort: 'low' }, { thinkingBudget: 1024, includeThoughts: true }],
  [flash, { mode: 'between-tools' }, { thinkingBudget: -1, includeThoughts: true }, ['approximated reasoning.mode']],
  [
    flash,
    { effort: 'low', show: 'concise' },
    { thinkingBudget: 1024, includeThoughts: true },
    ['approximated reasoning.summary'],
  ],
  [lite, { mode: 'off' }, { thinkingBudget: 0 }],
  [lite, { mode: 'on', budget: 100 }, { thinkingBudget: 512, includeThoughts: true }, budgetLoss],
  [pro, { mode: 'off' }, { thinkingBudget: 128 }, effortLoss],
  [pro, effort('xhigh'), { thinkingBudget: 32_768, includeThoughts: true }],
  [pro, { mode: 'on', budget: 1 }, { thinkingBudget: 128, includeThoughts: true }, budgetLoss],
  [flash3, { mode: 'off' }, { thinkingLevel: 'MINIMAL' }, effortLoss],
  [flash3, effort('minimal'), { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  [flash3, effort('low'), { thinkingLevel: 'LOW', includeThoughts: true }],
  [flash3, effort('medium'), { thinkingLevel: 'MEDIUM', includeThoughts: true }],
  [flash3, effort('high'), { thinkingLevel: 'HIGH', includeThoughts: true }],
  [flash3, effort('max'), { thinkingLevel: 'HIGH', includeThoughts: true }, effortLoss],
  [flash3, { mode: 'on', budget: 1024 }, { thinkingLevel: 'LOW', includeThoughts: true }, budgetLoss],
  [flash3, { mode: 'on', budget: 8000 }, { thinkingLevel: 'MEDIUM', includeThoughts: true }, budgetLoss],
  [flash3, { mode: 'on', budget: 31_999 }, { thinkingLevel: 'HIGH', includeThoughts: true }, budgetLoss],
  [flash3, { mode: 'adaptive' }, { includeThoughts: true }],
  [flash3, { mode: 'on' }, { includeThoughts: true }],
  [pro3, { mode: 'off' }, { thinkingLevel: 'LOW' }, effortLoss],
  [pro3, effort('medium'), { thinkingLevel: 'HIGH', includeThoughts: true }, effortLoss],
  [pro31, effort('medium'), { thinkingLevel: 'MEDIUM', includeThoughts: true }],
  ['models/gemini-flash-latest', effort('low'), { thinkingLevel: 'LOW', includeThoughts: true }],
  ['google/gemini-flash-latest', effort('medium'), { thinkingLevel: 'MEDIUM', includeThoughts: true }],
  ['gemini-4-argon', effort('none'), { thinkingLevel: 'LOW' }, effortLoss],
  ['gemini-4-neon', effort('minimal'), { thinkingLevel: 'LOW', includeThoughts: true }, effortLoss],
  ['gemini-4-neon', effort('xhigh'), { thinkingLevel: 'XHIGH', includeThoughts: true }],
  ['gemini-4-hydrogen', effort('max'), { thinkingLevel: 'XHIGH', includeThoughts: true }, effortLoss],
  ['gemini-4-hydrogen', { mode: 'on', budget: 31_999 }, { thinkingLevel: 'HIGH', includeThoughts: true }, budgetLoss],
  ['gemini-4-carbon', effort('xhigh'), { thinkingLevel: 'HIGH', includeThoughts: true }, effortLoss],
  ['gemini-5-xenon', effort('xhigh'), { thinkingLevel: 'XHIGH', includeThoughts: true }],
  ['gemini-3.8-flash', effort('max'), { thinkingLevel: 'HIGH', includeThoughts: true }, effortLoss],
  ['gemini-3.7-flash', { mode: 'off' }, { thinkingLevel: 'LOW' }, effortLoss],
  ['gemini-3.6-flash', effort('minimal'), { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  ['gemini-3.5-flash-lite', { mode: 'off' }, { thinkingLevel: 'MINIMAL' }, effortLoss],
  ['gemini-3.1-flash-lite', effort('minimal'), { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  ['gemini-3.8-flash', effort('minimal'), { thinkingLevel: 'LOW', includeThoughts: true }, effortLoss],
  ['gemini-3-pro-image', effort('high'), { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemini-robotics-er-2', effort('high'), { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemma-4-31b-it', { mode: 'on' }, { includeThoughts: true }],
  ['tunedModels/mine', effort('low'), { thinkingLevel: 'LOW', includeThoughts: true }],
  ['an-alias', effort('low'), { thinkingLevel: 'LOW', includeThoughts: true }],
  ['gemini-2.0-flash', effort('low'), undefined, ['dropped reasoning']],
  ['gemini-2.0-flash', { mode: 'off' }, undefined],
  ['gemini-2.5-flash-image', effort('low'), undefined, ['dropped reasoning']],
  ['gemma-3-27b-it', effort('low'), undefined, ['dropped reasoning']],
];

for (const [model, reasoning, expected, lost] of thinking) {
  test(`thinking: ${model} ${JSON.stringify(reasoning)}`, (t) => {
    const { body, losses } = encode({ model, reasoning });
    t.deepEqual(body.generationConfig, expected && { thinkingConfig: expected });
    t.deepEqual(losses, lost ?? []);
  });
}

const sampling = { temperature: 0.5, topP: 0.9, topK: 5, presencePenalty: 1, frequencyPenalty: 1 };
const refusesSampling = [
  'gemini-3.6-flash',
  'gemini-3.5-flash-lite',
  'gemini-3.8-flash',
  'gemini-4-argon',
  'gemini-4-carbon',
  'gemini-4-neon-preview-11-2026',
  'gemini-flash-latest',
];
for (const model of refusesSampling) {
  test(`${model} gets no sampling, and neutral values are no loss`, (t) => {
    const { body, losses } = encode({ model, ...sampling });
    t.is(body.generationConfig, undefined);
    const lost = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty'];
    t.deepEqual(
      losses,
      lost.map((field) => `dropped ${field}`),
    );
    const neutral = encode({ model, temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0 });
    t.deepEqual([neutral.body.generationConfig, neutral.losses], [undefined, []]);
  });

  test(`${model} gets the user's word last`, (t) => {
    const { body, losses } = encode({ model, turns: [user(text('a')), assistant(text('b'))] });
    t.deepEqual(body.contents, [
      { role: 'user', parts: [{ text: 'a' }] },
      { role: 'model', parts: [{ text: 'b' }] },
      { role: 'user', parts: [{ text: 'Continue.' }] },
    ]);
    t.deepEqual(losses, ['approximated messages']);
  });
}

for (const model of [
  'gemini-3-flash-preview',
  'gemini-3.1-pro-preview',
  'gemini-3.5-flash',
  'gemini-2.5-pro',
  'gemma-4-31b-it',
]) {
  test(`${model} gets sampling, and continues an answer`, (t) => {
    const { body } = encode({ model, temperature: 0.5, turns: [user(text('a')), assistant(text('b'))] });
    t.deepEqual(body.generationConfig, { temperature: 0.5 });
    t.deepEqual(Array.isArray(body.contents) ? body.contents.length : 0, 2);
  });
}

test('thinking by effort leaves room for the answer', (t) => {
  const { body } = encode({ model: flash, reasoning: effort('high'), maxTokens: 1000 });
  t.deepEqual(body.generationConfig, {
    maxOutputTokens: 1000,
    thinkingConfig: { thinkingBudget: 800, includeThoughts: true },
  });
});

test('nothing is requested unless the client does', (t) => {
  t.false('generationConfig' in encode({ model: flash3, turns: [{ role: 'user', parts: [text('a')] }] }).body);
});
