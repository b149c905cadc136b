import test from 'ava';
import fc from 'fast-check';
import { FaultError } from '../../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import { decodeRequest } from '../../../protocols/chat/decode-request/decode-request.ts';

const user: JsonObject = { role: 'user', content: 'hi' };
const ask = (more: JsonObject = {}): JsonObject => ({ model: 'm', messages: [user], ...more });
const say = (...messages: JsonObject[]): JsonObject => ask({ messages });
const tool = (name: string): JsonObject => ({ type: 'function', function: { name } });

/** A value without members that say nothing. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const lenient = { chatStrict: false };

const faultOf = (body: JsonObject, settings = { chatStrict: true }) => {
  try {
    decodeRequest(body, settings);
  } catch (error) {
    if (error instanceof FaultError) return error.fault;
    throw error;
  }
  return undefined;
};

const file: JsonObject = { type: 'file', file: { file_data: 'x' } };
const unsupported: readonly (readonly [param: string, body: JsonObject])[] = [
  ['n', ask({ n: 2 })],
  ['logprobs', ask({ logprobs: true })],
  ['top_logprobs', ask({ top_logprobs: 3 })],
  ['audio', ask({ audio: { voice: 'v', format: 'mp3' } })],
  ['modalities', ask({ modalities: ['text', 'audio'] })],
  ['response_format.type', ask({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } })],
  ['store', ask({ store: true })],
  ['prediction', ask({ prediction: { type: 'content', content: 'x' } })],
  ['functions', ask({ functions: [{ name: 'f' }] })],
  ['function_call', ask({ function_call: { name: 'f' } })],
  ['previous_response_id', ask({ previous_response_id: 'resp_1' })],
  ['conversation', ask({ conversation: 'conv_1' })],
  ['moderation.policy', ask({ moderation: { model: 'x', policy: {} } })],
  ['tools[1].type', ask({ tools: [tool('f'), { type: 'mcp' }] })],
  ['tools[0].type', ask({ tools: [{ type: 'custom', custom: { name: 'f' } }] })],
  [
    'messages[0].content[1].type',
    say({ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'input_audio' }] }),
  ],
  ['messages[0].content[0].type', say({ role: 'user', content: [file] })],
  ['messages[0].content[0].type', say({ role: 'system', content: [{ type: 'image_url', image_url: { url: 'u' } }] })],
  ['messages[1].role', say(user, { role: 'function', name: 'f', content: 'x' })],
  ['messages[0].function_call', say({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } })],
  ['messages[0].tool_calls[0].type', say({ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom' }] })],
  ['messages[0].audio', say({ role: 'assistant', audio: { id: 'a' } })],
];

for (const [param, body] of unsupported) {
  test(`refused: ${param} in ${JSON.stringify(body).slice(0, 80)}`, (t) => {
    t.like(faultOf(body), { kind: 'unsupported', code: 'unsupported_parameter', param });
    t.true(faultOf(body)?.message.includes(param));
  });
}

const absent: readonly JsonObject[] = [
  { n: 1 },
  { logprobs: false, top_logprobs: null },
  { modalities: ['text'], audio: null },
  { store: false, prediction: null, previous_response_id: null },
  { functions: [], function_call: 'none' },
  { functions: null, function_call: null },
  { response_format: { type: 'text' } },
  { stop: null, max_tokens: null, temperature: null, tools: null, tool_choice: null, stream: null },
  { stream_options: null, metadata: null, user: null, reasoning_effort: null, unknown: null },
];

for (const more of absent) {
  test(`a default or null counts as absent: ${JSON.stringify(more)}`, (t) => {
    const { output: _, ...request } = decodeRequest(ask(more));
    const { output: __, ...expected } = decodeRequest(ask());
    t.deepEqual(plain(request), plain(expected));
  });
}

const invalid: readonly (readonly [param: string, body: JsonObject])[] = [
  ['model', { messages: [user] }],
  ['messages', { model: 'm' }],
  ['messages', { model: 'm', messages: [] }],
  ['messages[0].role', say({ role: 'robot', content: 'x' })],
  ['messages[0].role', say({ content: 'x' })],
  ['messages[1].content', say(user, { role: 'user' })],
  ['messages[0].content[0].text', say({ role: 'user', content: [{ type: 'text' }] })],
  [
    'messages[0].content[0].image_url.url',
    say({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] }),
  ],
  ['messages[0].tool_call_id', say({ role: 'tool', content: 'x' })],
  [
    'messages[0].tool_calls[0].id',
    say({ role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'f', arguments: '' } }] }),
  ],
  ['temperature', ask({ temperature: 3 })],
  ['max_tokens', ask({ max_tokens: 0 })],
  ['stop', ask({ stop: 1 })],
  ['tools[0].function.name', ask({ tools: [{ type: 'function', function: {} }] })],
  ['tools[1].function.name', ask({ tools: [tool('f'), tool('f')] })],
  ['tool_choice', ask({ tool_choice: 'maybe' })],
  ['tool_choice.type', ask({ tool_choice: { type: 'robot' } })],
  ['tool_choice.function', ask({ tool_choice: { type: 'function' } })],
  ['reasoning_effort', ask({ reasoning_effort: 'huge' })],
  ['tools[0].type', ask({ tools: [{ type: 1 }] })],
  ['messages[0].content[0].type', say({ role: 'user', content: [{ type: 1 }] })],
  ['response_format.type', ask({ response_format: { type: 'xml' } })],
];

for (const [param, body] of invalid) {
  test(`invalid: ${param} in ${JSON.stringify(body).slice(0, 80)}`, (t) => {
    t.like(faultOf(body), { kind: 'invalid-request', param });
  });
}

test('sampling, limits and the rest', (t) => {
  const request = decodeRequest(
    ask({
      max_tokens: 5,
      max_completion_tokens: 6,
      temperature: 1.5,
      top_p: 0.5,
      top_k: 4,
      stop: 'END',
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      logit_bias: { 5: -100 },
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
      verbosity: 'high',
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      user: 'old',
      safety_identifier: 'new',
      metadata: { a: 'b' },
      service_tier: 'flex',
      prompt_cache_key: 'k',
      parallel_tool_calls: false,
      novelty: { a: 1 },
    }),
  );
  t.deepEqual(plain(request), {
    model: 'm',
    system: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi', at: 'messages[0].content' }], at: 'messages[0]' }],
    tools: [],
    maxTokens: 6,
    temperature: 1.5,
    topP: 0.5,
    topK: 4,
    stop: ['END'],
    seed: 7,
    presencePenalty: 1,
    frequencyPenalty: -1,
    logitBias: { 5: -100 },
    output: { type: 'json' },
    reasoning: { effort: 'low', wire: 'chat' },
    verbosity: 'high',
    stream: true,
    streamUsage: true,
    user: 'new',
    metadata: { a: 'b' },
    serviceTier: 'flex',
    promptCacheKey: 'k',
    parallelToolCalls: false,
    extra: {
      wire: 'chat',
      at: '',
      fields: { novelty: { a: 1 }, stream_options: { include_obfuscation: false }, user: 'old', max_tokens: 5 },
    },
  });
});

test('leading instructions are the system, later ones turns of their own', (t) => {
  const { system, turns } = decodeRequest(
    say(
      { role: 'system', content: 'a' },
      { role: 'developer', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      user,
      { role: 'system', content: 'c', name: 'n' },
    ),
  );
  t.deepEqual(plain(system), [
    { type: 'text', text: 'a', at: 'messages[0].content' },
    { type: 'text', text: 'b', cache: { ttl: '1h' }, at: 'messages[1].content[0]' },
  ]);
  t.like(turns[1], { role: 'system', name: 'n', at: 'messages[3]' });
});

const imageCases: readonly (readonly [url: string, source: object])[] = [
  ['https://h/x.png', { kind: 'url', url: 'https://h/x.png' }],
  ['data:image/png;base64,AAA=', { kind: 'base64', mediaType: 'image/png', data: 'AAA=' }],
  ['data:image/png;charset=x;base64,AA', { kind: 'base64', mediaType: 'image/png', data: 'AA' }],
];

for (const [url, source] of imageCases) {
  test(`an image: ${url}`, (t) => {
    const image_url = { url, detail: 'low', shade: 'x' };
    const { turns } = decodeRequest(say({ role: 'user', content: [{ type: 'image_url', image_url }] }));
    t.deepEqual(plain(turns[0]?.parts), [
      {
        type: 'image',
        source,
        detail: 'low',
        at: 'messages[0].content[0]',
        extra: { wire: 'chat', at: 'messages[0].content[0]', fields: { image_url: { shade: 'x' } } },
      },
    ]);
  });
}

test('an assistant turn: reasoning, text, refusal, calls', (t) => {
  const { turns } = decodeRequest(
    say(user, {
      role: 'assistant',
      reasoning_content: 'hm',
      content: [
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'no' },
      ],
      refusal: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":12345678901234567890}' } }],
    }),
  );
  const at = 'messages[1]';
  t.deepEqual(plain(turns[1]?.parts), [
    { type: 'thinking', text: 'hm', at: `${at}.reasoning_content` },
    { type: 'text', text: 'a', at: `${at}.content[0]` },
    { type: 'refusal', text: 'no', at: `${at}.content[1]` },
    { type: 'tool-call', id: 'c', name: 'f', input: '{"a":12345678901234567890}', at: `${at}.tool_calls[0]` },
  ]);
});

test("consecutive tool messages make one turn; the user's is another", (t) => {
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: id });
  const { turns } = decodeRequest(say(user, result('c'), result('d'), user, result('e')));
  const shape = turns.map(({ role, parts }) => [
    role,
    parts.map((part) => (part.type === 'tool-result' ? part.id : part.type)),
  ]);
  t.deepEqual(shape, [
    ['user', ['text']],
    ['user', ['c', 'd']],
    ['user', ['text']],
    ['user', ['e']],
  ]);
});

const messages = { format: 'messages', data: 'Abc+/=' };
const entry = (more: JsonObject): JsonObject => ({ type: 'reasoning.text', format: 'f-v1', index: 0, ...more });
const own = (more: JsonObject = {}) => ({ format: 'chat', data: JSON.stringify(entry(more)) });
const reasoningCases: readonly (readonly [title: string, message: JsonObject, parts: unknown])[] = [
  ['plain', { reasoning: 'a' }, [['thinking', 'a', undefined]]],
  ['both names', { reasoning: 'a', reasoning_content: 'a' }, [['thinking', 'a', undefined]]],
  [
    'twins',
    { reasoning: 'a', reasoning_details: [entry({ text: 'a', signature: 's' })] },
    [['thinking', 'a', own({ signature: 's' })]],
  ],
  [
    'text beside the entry',
    { reasoning_content: 'a', reasoning_details: [entry({ text: '', signature: 's' })] },
    [['thinking', 'a', own({ signature: 's' })]],
  ],
  [
    'a packed payload',
    { reasoning_content: 'a', reasoning_details: [entry({ text: '', signature: packSignature(messages) })] },
    [['thinking', 'a', messages]],
  ],
  [
    'encrypted',
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }] },
    [['redacted-thinking', '', { format: 'chat', data: '{"type":"reasoning.encrypted","data":"d"}' }]],
  ],
  [
    'packed encrypted',
    { reasoning_details: [{ type: 'reasoning.encrypted', data: packSignature(messages) }] },
    [['redacted-thinking', '', messages]],
  ],
  [
    'several blocks in one text',
    {
      reasoning_content: 'abcdef',
      reasoning_details: [
        entry({ text: '', signature: 's', text_range: [0, 2] }),
        entry({ text: '', signature: 't', text_range: [3, 5] }),
      ],
    },
    [
      ['thinking', 'ab', own({ signature: 's' })],
      ['thinking', 'c', undefined],
      ['thinking', 'de', own({ signature: 't' })],
      ['thinking', 'f', undefined],
    ],
  ],
  [
    'a range that no longer fits',
    { reasoning_content: 'ab', reasoning_details: [entry({ text: '', signature: 's', text_range: [0, 9] })] },
    [['thinking', 'ab', own({ signature: 's' })]],
  ],
  [
    'ranges around encrypted reasoning',
    {
      reasoning_content: 'abcd',
      reasoning_details: [
        entry({ text: '', signature: 's', text_range: [0, 2] }),
        { type: 'reasoning.encrypted', data: packSignature(messages) },
        entry({ text: '', signature: 't', text_range: [2, 4] }),
      ],
    },
    [
      ['thinking', 'ab', own({ signature: 's' })],
      ['redacted-thinking', '', messages],
      ['thinking', 'cd', own({ signature: 't' })],
    ],
  ],
  [
    'an entry of text alone',
    { reasoning_details: [{ type: 'reasoning.text', text: 'a', text_range: [0, 1] }] },
    [['thinking', 'a', undefined]],
  ],
  ['nothing', { reasoning: '', reasoning_details: [] }, []],
];

for (const [title, message, expected] of reasoningCases) {
  test(`reasoning sent back: ${title}`, (t) => {
    const { turns } = decodeRequest(say({ role: 'assistant', content: '', ...message }));
    const parts = turns[0]?.parts.map((part) => [
      part.type,
      part.type === 'thinking' ? part.text : '',
      part.type === 'thinking' || part.type === 'redacted-thinking' ? part.signature : undefined,
    ]);
    t.deepEqual<unknown, unknown>(parts, expected);
  });
}

test("a call's own payload comes back to it", (t) => {
  const data = packSignature({ format: 'gemini', data: 'g' });
  const { turns } = decodeRequest(
    say({
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      reasoning_details: [{ type: 'reasoning.encrypted', data, id: 'c', format: 'unknown', index: 0 }],
    }),
  );
  t.is(turns[0]?.parts.length, 1);
  t.like(turns[0]?.parts[0], { type: 'tool-call', signature: { format: 'gemini', data: 'g' } });
});

test('tools of each kind', (t) => {
  const parameters = { type: 'object', properties: {} };
  const { tools } = decodeRequest(
    ask({
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters, strict: true, shade: 1 },
          cache_control: { type: 'ephemeral' },
        },
        { type: 'web_search_preview', search_context_size: 'low', filters: { allowed_domains: ['h'] } },
      ],
      web_search_options: { user_location: { type: 'approximate', approximate: { city: 'Bern' } } },
    }),
  );
  t.deepEqual(plain(tools), [
    {
      type: 'function',
      name: 'f',
      description: 'd',
      parameters,
      strict: true,
      cache: {},
      at: 'tools[0]',
      extra: { wire: 'chat', at: 'tools[0]', fields: { function: { shade: 1 } } },
    },
    {
      type: 'web-search',
      contextSize: 'low',
      allowedDomains: ['h'],
      raw: {
        wire: 'chat',
        value: { type: 'web_search_preview', search_context_size: 'low', filters: { allowed_domains: ['h'] } },
      },
      at: 'tools[1]',
    },
    {
      type: 'web-search',
      userLocation: { type: 'approximate', city: 'Bern' },
      raw: { wire: 'chat', value: { user_location: { type: 'approximate', approximate: { city: 'Bern' } } } },
      at: 'web_search_options',
    },
  ]);
});

const choices: readonly (readonly [choice: Json, expected: object])[] = [
  ['none', { type: 'none' }],
  ['auto', { type: 'auto' }],
  ['required', { type: 'required' }],
  [
    { type: 'function', function: { name: 'f' } },
    { type: 'tool', name: 'f' },
  ],
  [
    { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('f')] } },
    { type: 'allowed', required: true, names: ['f'] },
  ],
];

for (const [choice, expected] of choices) {
  test(`tool choice ${JSON.stringify(choice)}`, (t) => {
    t.deepEqual<unknown, unknown>(decodeRequest(ask({ tools: [tool('f')], tool_choice: choice })).toolChoice, expected);
  });
}

test('each effort and each detail of an image is taken', (t) => {
  for (const effort of ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const) {
    t.is(decodeRequest(ask({ reasoning_effort: effort })).reasoning?.effort, effort);
  }
  for (const detail of ['auto', 'low', 'high', 'original'] as const) {
    const content = [{ type: 'image_url', image_url: { url: 'https://h', detail } }];
    t.like(decodeRequest(say({ role: 'user', content })).turns[0]?.parts, { 0: { detail } });
  }
});

test('functions of the older form, their calls and results', (t) => {
  const functions = [{ name: 'f', description: 'd', parameters: { type: 'object' }, shade: 1 }];
  const call = (input: string) => ({
    role: 'assistant',
    content: null,
    function_call: { name: 'f', arguments: input },
  });
  const result = (content: string) => ({ role: 'function', name: 'f', content });
  const body = { model: 'm', functions, messages: [user, call('{"a":1}'), result('x'), call('{}'), result('y')] };
  const { tools, turns, toolChoice } = decodeRequest({ ...body, function_call: { name: 'f' } }, lenient);
  t.deepEqual(plain(tools), [
    {
      type: 'function',
      name: 'f',
      description: 'd',
      parameters: { type: 'object' },
      at: 'functions[0]',
      extra: { wire: 'chat', at: 'functions[0]', fields: { shade: 1 } },
    },
  ]);
  t.deepEqual(toolChoice, { type: 'tool', name: 'f' });
  const ids = turns.flatMap(({ parts }) => parts.flatMap((part) => ('id' in part ? [part.id] : [])));
  t.is(ids.length, 4);
  t.deepEqual([ids[0], ids[2]], [ids[1], ids[3]]);
  t.not(ids[0], ids[2]);
  t.deepEqual(decodeRequest({ ...body, function_call: 'auto' }, lenient).toolChoice, { type: 'auto' });
  for (const [param, more] of [
    ['functions[0].name', { functions: [{}] }],
    ['functions[1].name', { functions: [{ name: 'f' }, { name: 'f' }] }],
    ['function_call', { functions, function_call: 'maybe' }],
    ['function_call.name', { functions, function_call: {} }],
  ] as const) {
    t.like(faultOf(ask(more), lenient), { kind: 'invalid-request', param });
  }
});

test("whatever the body, it is decoded or is the client's fault", (t) => {
  const seed = Date.now() % 1_000_000_000;
  t.log(`seed ${seed}`);
  const value = fc.jsonValue({ maxDepth: 3 });
  const message = fc.record(
    {
      role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer'),
      content: fc.oneof(
        fc.string(),
        value,
        fc.array(fc.record({ type: fc.constantFrom('text', 'image_url', 'refusal'), text: value, image_url: value })),
      ),
      tool_calls: value,
      tool_call_id: value,
      reasoning_details: value,
    },
    { requiredKeys: ['role'] },
  );
  const body = fc.record(
    {
      model: fc.string(),
      messages: fc.oneof(value, fc.array(message)),
      tools: value,
      tool_choice: value,
      stop: value,
      stream_options: value,
    },
    { requiredKeys: ['model', 'messages'] },
  );
  const law = fc.property(body, (generated) => {
    const parsed: unknown = JSON.parse(JSON.stringify(generated));
    if (!isJsonObject(parsed)) return true;
    const fault = faultOf(parsed);
    return fault === undefined || fault.kind === 'invalid-request' || fault.kind === 'unsupported';
  });
  t.notThrows(() => fc.assert(law, { seed, numRuns: 500 }));
});

test('words of vendors for a tool choice are read', (t) => {
  for (const [word, type] of [
    ['any', 'required'],
    ['validated', 'auto'],
  ] as const) {
    t.deepEqual(decodeRequest(ask({ tool_choice: word })).toolChoice, { type });
  }
});
