import test from 'ava';
import type { JsonObject } from '../../../../engine/model/json/json.ts';
import { applyLessons } from '../../../../engine/model/upstream-error/lesson.ts';
import { lessonsIn, refusesOutput } from '../../../../engine/model/upstream-error/lessons-in.ts';

const turns = [{ role: 'user', content: 'Hi' }];
/** A call with everything that may be refused. */
const whole: JsonObject = {
  model: 'm',
  messages: turns,
  max_tokens: 128_000,
  temperature: 0.3,
  top_p: 0.9,
  top_k: 40,
  stop: ['a', 'b', 'c', 'd', 'e'],
  seed: 1,
  presence_penalty: 1,
  reasoning_effort: 'xhigh',
  verbosity: 'low',
  stream_options: { include_usage: true },
  store: false,
  include: ['reasoning.encrypted_content'],
  service_tier: 'flex',
  parallel_tool_calls: false,
  metadata: { a: 'b' },
  user: 'u',
  safety_identifier: 's',
  tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: {} } }],
};
const headers = { 'anthropic-beta': 'a-2025-01-01,b-2026-02-02' };

/** What is sent after a refusal: the members that differ; `null`: left out. */
const after = (message: string, { param, body = whole }: { param?: string; body?: JsonObject } = {}) => {
  const call = { body, headers };
  const lessons = lessonsIn({ message, param }, call, 600);
  const changed = applyLessons(call, lessons, 600);
  const names = new Set([...Object.keys(body), ...Object.keys(changed.body)]);
  const different = [...names].filter((name) => changed.body[name] !== body[name]);
  return {
    ...Object.fromEntries(different.map((name) => [name, changed.body[name] ?? null])),
    ...(changed.headers !== headers && { betas: changed.headers['anthropic-beta'] ?? null }),
  };
};

const fields: readonly (readonly [message: string, expected: object, param?: string])[] = [
  [
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
    { temperature: null },
    'temperature',
  ],
  ["Unsupported parameter: 'stop' is not supported with this model.", { stop: null }, 'stop'],
  ['body.parallel_tool_calls: Extra inputs are not permitted', { parallel_tool_calls: null }],
  [
    'body.store: Extra inputs are not permitted; body.seed: Extra inputs are not permitted',
    { store: null, seed: null },
  ],
  ["property 'seed' is unsupported", { seed: null }],
  ["'messages.0' : for 'role:user' the following must be satisfied", {}],
  ['Unrecognized request argument supplied: safety_identifier', { safety_identifier: null }],
  ['Unrecognized request arguments supplied: metadata, user', { metadata: null, user: null }],
  ['store: Extra inputs are not permitted', { store: null }],
  ["Unknown parameter: 'include'.", { include: null }, 'include'],
  ['json: unknown field "stream_options"', { stream_options: null }],
  ["Additional properties are not allowed ('service_tier' was unexpected)", { service_tier: null }],
  ["Invalid value: 'xhigh'. Supported values are: 'low', 'medium', and 'high'.", { reasoning_effort: 'high' }],
  [
    "Unsupported value: 'xhigh' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
    { reasoning_effort: 'high' },
    'reasoning_effort',
  ],
  ['`reasoning_effort` must be one of `low`, `medium`, or `high`', { reasoning_effort: 'high' }],
  ['`reasoning_effort` must be one of `none` or `default`', { reasoning_effort: null }],
  ["body.reasoning_effort: Input should be 'low', 'medium' or 'high'", { reasoning_effort: 'high' }],
  ['This model does not support the effort parameter.', { reasoning_effort: null }],
  ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', { top_p: null }],
  ['temperature: 0.3 is too large, must be between 0 and 0.2', { temperature: 0.2 }],
  ['stop: at most 4 stop sequences are allowed', { stop: ['a', 'b', 'c', 'd'] }],
  [
    'tools.0.function.strict: Extra inputs are not permitted',
    { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] },
  ],
  [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { max_tokens: null, max_completion_tokens: 128_000 },
    'max_tokens',
  ],
  [
    'Unexpected value(s) `b-2026-02-02` for the `anthropic-beta` header. Please consult our documentation.',
    { betas: 'a-2025-01-01' },
  ],
  ['invalid beta flag', { betas: null }],
  // As hosts name fields.
  ['Argument not supported on this model: presencePenalty', { presence_penalty: null }],
  ['Model grok-4-latest does not support parameter reasoningEffort.', { reasoning_effort: null }],
  ['Thinking level xhigh is not supported for this model. Please retry.', { reasoning_effort: null }],
  ['"llama3.2:latest" does not support thinking', { reasoning_effort: null }],
  ['Penalty is not enabled for models/gemini-2.5-flash', { presence_penalty: null }],
  ['Temperature should be in [0.0, 0.3)', { temperature: null }],
  ['Validation: Unsupported parameter(s): `store`, `seed`', { store: null, seed: null }],
  ["property 'store' is unsupported, did you mean 'stop'?", { store: null }],
  ["Extra inputs are not permitted, field: 'store', value: False", { store: null }],
  ['body -> seed\n  Extra inputs are not permitted (type=extra_forbidden)', { seed: null }],
  ["[{'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'Extra inputs are not permitted'}]", { user: null }],
  ["host does not support parameters: ['reasoning_effort'], for model=m.", { reasoning_effort: null }],
  ['The service tier flex is not available for this model', { service_tier: null }],
  ['This model does not support parallel tool calls', { parallel_tool_calls: null }],
  ['`temperature` may only be set to 1 when thinking is enabled.', { temperature: null }],
  ['#: {"required":["messages"]}#/seed: extraneous key [seed] is not permitted', { seed: null }],
  ["'stop' array too long. Expected an array with maximum length 4.", { stop: ['a', 'b', 'c', 'd'] }],
  ["Invalid 'metadata.user_id': string too long.", { metadata: null }],
  // What they allow, and where that ends.
  ['unknown variant `xhigh`, expected `low` or `high` at line 1', { reasoning_effort: 'high' }],
  ["Invalid enum value. Expected 'low' | 'medium', received 'xhigh'", { reasoning_effort: 'medium' }],
  ['invalid reasoning value: \'xhigh\' (must be "high", "low", or "none")', { reasoning_effort: 'high' }],
  ['level "xhigh" not supported, valid levels: low, medium', { reasoning_effort: 'medium' }],
  ["reasoning_effort: Input should be 'low' or 'medium', received 'xhigh'", { reasoning_effort: 'medium' }],
  [
    "{'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low' or 'high'\", 'input': 'xhigh'}",
    { reasoning_effort: 'high' },
  ],
  // About the request itself, or about what wasn't sent.
  ['max_tokens must be greater than thinking.budget_tokens.', {}],
  ['This model does not support thinking blocks in messages', {}],
  ["host does not support parameters: {'tools': [{'strict': True}], 'temperature': 0.3}", {}],
  ["messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported", {}],
  ['tools.0.function.parameters: Extra inputs are not permitted', {}],
  ['Tools are not supported by this model. Supported parameters: temperature, top_p', {}, 'tools'],
  ['messages.0.content.0.text: Field required', {}],
  ["The model 'm' does not support temperature", {}, 'model'],
  ["Unsupported parameter: 'logit_bias'", {}],
  ['Please include the user in the message, and stop.', {}],
  ["Unknown parameter: 'frobnicate'", {}],
];

for (const [message, expected, param] of fields) {
  test(`taught by: ${message}`, (t) => {
    t.deepEqual(after(message, param === undefined ? {} : { param }), expected);
  });
}

const limits: readonly (readonly [message: string, fits: number])[] = [
  [
    "This model's maximum context length is 32768 tokens. However, you requested 128512 tokens (512 in the messages, 128000 in the completion). Please reduce the length of the messages or completion.",
    32_256,
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 128000. This model's maximum context length is 32768 tokens and your request has 512 input tokens (128000 > 32768 - 512).",
    32_256,
  ],
  [
    "This model's maximum context length is 32768 tokens. However, you requested 128000 output tokens and your prompt contains 512 input tokens, for a total of 128512 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=512)",
    32_256,
  ],
  [
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 128512 tokens: 512 tokens from the input messages and 128000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    32_256,
  ],
  [
    'This endpoint\'s maximum context length is 32768 tokens. However, you requested about 128512 tokens (512 of text input, 128000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
    32_256,
  ],
  [
    'input length and `max_tokens` exceed context limit: 190000 + 128000 > 200000, decrease input length or `max_tokens` and try again',
    10_000,
  ],
  ['`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 512 `inputs` tokens and 128000 `max_new_tokens`', 7_681],
  [
    'max_tokens is too large: 128000. This model supports at most 16384 completion tokens, whereas you provided 128000.',
    16_384,
  ],
  [
    'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929',
    64_000,
  ],
  [
    'Unable to submit request because it has a maxOutputTokens value of 128000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.',
    65_536,
  ],
  ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8_192],
  ['Range of max_tokens should be [1, 8192]', 8_192],
  [
    '`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    32_768,
  ],
  ['body.max_tokens: Input should be less than or equal to 4096', 4_096],
  ['body.max_tokens: ensure this value is less than or equal to 4,096', 4_096],
  [
    'The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value that is lower than 8192.',
    8_191,
  ],
];

for (const [message, fits] of limits) {
  test(`an output limit is fitted: ${message}`, (t) => {
    t.deepEqual(after(message), { max_tokens: fits });
    t.true(refusesOutput({ message }, { body: whole }));
  });
}

test('a window without the count of the prompt leaves room for the estimate', (t) => {
  const message =
    'max_tokens=128000 cannot be greater than max_model_len=max_total_tokens=32768. Please request fewer output tokens.';
  const fits = Object(after(message)).max_tokens;
  t.true(typeof fits === 'number' && fits <= 32_768 - 600 && fits > 31_000, String(fits));
});

for (const message of [
  'prompt is too long: 210000 tokens > 200000 maximum',
  "This model's maximum context length is 32768 tokens. However, your messages resulted in 40000 tokens. Please reduce the length of the messages.",
  "This model's maximum context length is 32768 tokens. However, you requested 168000 tokens (40000 in the messages, 128000 in the completion). Please reduce the length of the messages or completion.",
  'input length and `max_tokens` exceed context limit: 199990 + 128000 > 200000, decrease input length or `max_tokens` and try again',
  "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
]) {
  test(`an input that doesn't fit stays an overflow: ${message}`, (t) => {
    t.deepEqual(after(message), {});
    t.false(refusesOutput({ message }, { body: whole }));
  });
}

test('a budget of reasoning stays below a fitted limit', (t) => {
  const body = { ...whole, thinking: { type: 'enabled', budget_tokens: 32_000 } };
  const message = 'max_tokens is too large: 128000. This model supports at most 16384 completion tokens';
  t.deepEqual(after(message, { body }), { max_tokens: 16_384, thinking: { type: 'enabled', budget_tokens: 8_192 } });
});

test('marks of caches go everywhere, and nothing else of the turns', (t) => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const body: JsonObject = {
    model: 'm',
    max_tokens: 10,
    system: [{ type: 'text', text: 's', ...mark }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...mark }] }],
    tools: [{ name: 'cache_control', input_schema: { properties: { cache_control: {} } }, ...mark }],
  };
  t.deepEqual(after('messages.0.content.0.text.cache_control: Extra inputs are not permitted', { body }), {
    system: [{ type: 'text', text: 's' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [{ name: 'cache_control', input_schema: { properties: { cache_control: {} } } }],
  });
});

test('hostile words cost little', (t) => {
  const before = process.cpuUsage();
  for (const piece of [
    'temperature ',
    "'",
    '128000 ',
    'a.',
    'not ',
    '[1',
    ', 1 + ',
    'use max_tokens ',
    '; invalid top_p',
    'only ',
    'must be one of ',
  ]) {
    lessonsIn({ message: piece.repeat(200_000), param: piece.repeat(10_000) }, { body: whole, headers }, 600);
  }
  const { user, system } = process.cpuUsage(before);
  t.true(user + system < 2_000_000, `${user + system} µs`);
});
