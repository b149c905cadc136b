import test from 'ava';
import { FaultError } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';
import { packCallSignature } from '../../../protocols/responses/call-signature.ts';
import { decodeRequest, serverState } from '../../../protocols/responses/decode-request/decode-request.ts';
import { holdsPackedSignature } from '../../../protocols/responses/encode-request/encode-reasoning.ts';

const decode = (more: JsonObject): ModelRequest => decodeRequest({ model: 'm', input: 'hi', ...more });
const call = (id: string): JsonObject => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });

/** A conversation in short: one line per turn. */
const brief = ({ system, turns }: ModelRequest): string =>
  [
    ...system.map(({ text }) => `system(${text})`),
    ...turns.map(({ role, parts }) => `${role}[${parts.map(briefPart).join(' ')}]`),
  ].join(' ');

const briefPart = (part: ModelRequest['turns'][number]['parts'][number]): string => {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return `${part.type}:${part.text}`;
    case 'tool-call':
      return `call:${part.id}:${part.name}`;
    case 'tool-result':
      return `result:${part.id}(${part.content.map(briefPart).join(' ')})`;
    case 'opaque':
      return `opaque:${part.raw.type}`;
    default:
      return part.type;
  }
};

const conversations: readonly (readonly [string, JsonObject, string])[] = [
  ['a string', { input: 'hi' }, 'user[text:hi]'],
  ['a message without type', { input: [{ role: 'user', content: 'a' }] }, 'user[text:a]'],
  [
    'instructions and leading messages',
    {
      instructions: 'i',
      input: [
        { role: 'system', content: 's' },
        { role: 'developer', content: [{ type: 'input_text', text: 'd' }] },
        { role: 'user', content: 'u' },
      ],
    },
    'system(i) system(s) system(d) user[text:u]',
  ],
  [
    'an instruction in the middle',
    {
      input: [
        { role: 'user', content: 'u' },
        { role: 'developer', content: 'd' },
      ],
    },
    'user[text:u] system[text:d]',
  ],
  ['empty instructions say nothing', { instructions: '' }, 'user[text:hi]'],
  [
    'what the model wrote in a row is one turn, outputs in a row another',
    {
      input: [
        { role: 'user', content: 'u' },
        {
          type: 'reasoning',
          summary: [
            { type: 'summary_text', text: 'one' },
            { type: 'summary_text', text: 'two' },
          ],
        },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'refusal', refusal: 'r' },
          ],
        },
        call('1'),
        call('2'),
        { type: 'function_call_output', call_id: '2', output: 'b' },
        { type: 'function_call_output', call_id: '1', output: [{ type: 'input_text', text: 'c' }] },
        { role: 'user', content: 'v' },
      ],
    },
    'user[text:u] assistant[thinking:one\n\ntwo text:a refusal:r call:1:f call:2:f] user[result:2(text:b) result:1(text:c)] user[text:v]',
  ],
  [
    'two user messages stay two turns',
    {
      input: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    },
    'user[text:a] user[text:b]',
  ],
  [
    'hosted calls, approvals and unknown items are opaque, each on its side',
    {
      input: [
        { role: 'user', content: 'u' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'shell_call', call_id: 's', action: {}, environment: { type: 'container_reference' } },
        { type: 'shell_call_output', call_id: 's', output: [] },
        { type: 'mcp_approval_response', approval_request_id: 'x', approve: true },
        { type: 'something_new' },
      ],
    },
    'user[text:u] assistant[opaque:web_search_call opaque:shell_call] user[opaque:shell_call_output opaque:mcp_approval_response] assistant[opaque:something_new]',
  ],
  [
    'an output of a hosted call is a result',
    {
      input: [
        { type: 'code_interpreter_call', call_id: 's' },
        { type: 'function_call_output', call_id: 's', output: 'o' },
      ],
    },
    'assistant[opaque:code_interpreter_call] user[result:s(text:o)]',
  ],
  [
    'a message between agents is the user’s, at its place',
    {
      input: [
        { role: 'user', content: 'u' },
        {
          type: 'agent_message',
          author: '/root',
          recipient: '/root/a',
          content: [
            { type: 'input_text', text: 'NEW_TASK' },
            { type: 'encrypted_content', encrypted_content: 'count' },
            { type: 'input_image', image_url: 'https://h' },
          ],
        },
        { role: 'assistant', content: 'v' },
      ],
    },
    'user[text:u] user[text:Message from /root to /root/a: text:NEW_TASK text:count image] assistant[text:v]',
  ],
  [
    'a call whose output may come later is answered at once, and its output is text',
    {
      input: [
        { ...call('1'), async: true },
        call('2'),
        { type: 'function_call_output', call_id: '2', output: 'b' },
        { role: 'assistant', content: 'a' },
        { type: 'function_call_output', call_id: '1', output: 'c' },
        { role: 'user', content: 'u' },
      ],
    },
    'assistant[call:1:f call:2:f] user[result:2(text:b) result:1(text:Still running. The result follows later in the conversation.)] assistant[text:a] user[text:Result of the tool call 1: text:c] user[text:u]',
  ],
  [
    'such a call that is answered at once, or never',
    {
      input: [
        { ...call('1'), async: true },
        { type: 'function_call_output', call_id: '1', output: 'b' },
        { ...call('2'), async: true },
      ],
    },
    'assistant[call:1:f] user[result:1(text:b)] assistant[call:2:f] user[result:2(text:Still running. The result follows later in the conversation.)]',
  ],
  [
    'an output without a call is text',
    {
      input: [
        { type: 'function_call_output', call_id: null, name: 'clock', output: 'noon' },
        { type: 'function_call_output', call_id: null, output: 'late' },
      ],
    },
    'user[text:Result of the tool call clock: text:noon] user[text:Result of a tool call: text:late]',
  ],
  [
    'calls of built-in tools and what they returned',
    {
      input: [
        { type: 'local_shell_call', id: 'lsh_1', call_id: '1', action: { type: 'exec', command: ['ls'] } },
        { type: 'local_shell_call_output', id: 'lsh_1', output: 'listed' },
        { type: 'apply_patch_call', call_id: '2', operation: { type: 'delete_file', path: 'a' } },
        { type: 'apply_patch_call_output', call_id: '2', status: 'completed' },
        { type: 'tool_search_call', call_id: '3', execution: 'client', arguments: { query: 'q' } },
        { type: 'tool_search_output', call_id: '3', execution: 'client', tools: [] },
        { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
        { type: 'tool_search_output', call_id: null, execution: 'server', tools: [] },
      ],
    },
    'assistant[call:1:local_shell] user[result:1(text:listed)] assistant[call:2:apply_patch] user[result:2(text:completed)] assistant[call:3:tool_search] user[result:3(text:No tools found.)] assistant[opaque:tool_search_call] user[opaque:tool_search_output]',
  ],
  [
    'calls of tools that an item declares, under the model’s names',
    {
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }],
        },
        { type: 'custom_tool_call', call_id: '1', name: 'exec', namespace: 'functions', input: 'ls' },
        { type: 'custom_tool_call_output', call_id: '1', output: 'listed' },
      ],
    },
    'assistant[call:1:functions__exec] user[result:1(text:listed)]',
  ],
  [
    'an output that is a JSON object counts as its text',
    { input: [call('1'), { type: 'function_call_output', call_id: '1', output: { a: 1 } }] },
    'assistant[call:1:f] user[result:1(text:{"a":1})]',
  ],
  [
    'a reference to an item of the same input repeats nothing',
    { input: [{ id: 'msg_1', role: 'user', content: 'u' }, { type: 'item_reference', id: 'msg_1' }, { id: 'msg_1' }] },
    'user[text:u]',
  ],
  [
    'images and files',
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
            { type: 'input_file', file_url: 'https://h/f.pdf' },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          ],
        },
      ],
    },
    'user[image document audio]',
  ],
  [
    'a message that says nothing is no turn',
    {
      input: [
        { role: 'user', content: '' },
        { role: 'user', content: 'u' },
      ],
    },
    'user[text:u]',
  ],
  [
    'outputs may answer what the server keeps',
    { previous_response_id: 'resp_1', input: [{ type: 'function_call_output', call_id: 'x', output: 'o' }] },
    'user[result:x(text:o)]',
  ],
];

for (const [title, body, expected] of conversations) test(title, (t) => t.is(brief(decode(body)), expected));

test('a request may name no model', (t) => {
  t.is(decode({ model: null }).model, '');
  t.is(decodeRequest({ input: 'hi' }).model, '');
});

const update = (more: JsonObject): JsonObject => ({ type: 'configuration_update', ...more });

const faults: readonly (readonly [JsonObject, string])[] = [
  [{ model: 5 }, 'model'],
  [{ model: '' }, 'model'],
  [{ input: null }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: 5 }, 'input'],
  [{ input: [{ role: 'tool', content: '' }] }, 'input[0].role'],
  [{ input: [{ role: 'user' }] }, 'input[0].content'],
  [{ input: [{ role: 'user', content: [{ type: 'video' }] }] }, 'input[0].content[0].type'],
  [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
  [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0].image_url'],
  [{ input: [{ role: 'user', content: [{ type: 'input_file', filename: 'f' }] }] }, 'input[0].content[0].file_data'],
  [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input[0].call_id'],
  [{ input: [{ type: 'function_call_output', call_id: 'x', output: '' }] }, 'input[0].call_id'],
  [{ input: [{ type: 'item_reference', id: 'msg_9' }] }, 'input[0].id'],
  [{ input: [{ type: 5 }] }, 'input[0].type'],
  [{ input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'https://h' }] }] }, 'input[0].content[0]'],
  [{ temperature: 3 }, 'temperature'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ reasoning: { effort: 'huge' } }, 'reasoning.effort'],
  [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
  [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name'],
  [{ metadata: { a: 1 } }, 'metadata.a'],
  [{ tools: [{ name: 'f' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
  [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] }, 'tools[0].tools[0].name'],
  [{ input: [update({ reasoning: { effort: 'huge' } })] }, 'input[0].reasoning.effort'],
  [{ input: [update({ text: { format: { type: 'xml' } } })] }, 'input[0].text.format.type'],
  [{ input: [{ type: 'shell_call', action: {} }] }, 'input[0].call_id'],
  [{ input: [{ type: 'shell_call_output', call_id: 'x', output: [] }] }, 'input[0].call_id'],
  [{ tool_choice: 'maybe' }, 'tool_choice'],
  [{ tool_choice: { type: 'function', name: 'gone' } }, 'tool_choice.name'],
  [{ tool_choice: {} }, 'tool_choice.type'],
];

for (const [body, param] of faults) {
  test(`a fault names ${param}: ${JSON.stringify(body)}`, (t) => {
    const error = t.throws(() => decode(body), { instanceOf: FaultError });
    t.is(error.fault.kind, 'invalid-request');
    t.is(error.fault.param, param);
    t.true(error.fault.message.includes(param), error.fault.message);
  });
}

const members: readonly (readonly [string, JsonObject, Partial<ModelRequest>])[] = [
  [
    'settings in the conversation: the last ones hold',
    {
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'text' }, verbosity: 'low' },
      input: [
        { role: 'user', content: 'a' },
        update({ reasoning: { effort: 'high' } }),
        update({ text: { format: { type: 'json_object' } } }),
        update({ reasoning: { effort: 'medium' } }),
      ],
    },
    { reasoning: { effort: 'medium', show: 'auto' }, output: { type: 'json' }, verbosity: 'low' },
  ],
  ['max_output_tokens', { max_output_tokens: 20 }, { maxTokens: 20 }],
  ['temperature, top_p', { temperature: 0, top_p: 0.5 }, { temperature: 0, topP: 0.5 }],
  ['nulls count as absent', { temperature: null, tools: null, text: null, reasoning: null, extra_thing: null }, {}],
  [
    'reasoning',
    { reasoning: { effort: 'high', summary: 'detailed' } },
    { reasoning: { effort: 'high', show: 'detailed' } },
  ],
  ['no reasoning', { reasoning: { effort: 'none' } }, { reasoning: { mode: 'off', effort: 'none' } }],
  ['hidden reasoning', { reasoning: { summary: 'none' } }, { reasoning: { show: 'hidden' } }],
  [
    'text',
    { text: { format: { type: 'json_object' }, verbosity: 'low' } },
    { output: { type: 'json' }, verbosity: 'low' },
  ],
  [
    'a JSON schema',
    { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
    { output: { type: 'json-schema', name: 'n', schema: { type: 'object' }, strict: true } },
  ],
  ['user', { user: 'u' }, { user: 'u' }],
  ['safety_identifier', { safety_identifier: 's' }, { user: 's' }],
  [
    'both names of the user',
    { user: 'u', safety_identifier: 's' },
    { user: 'u', extra: { wire: 'responses', at: '', fields: { safety_identifier: 's' } } },
  ],
  [
    'metadata and keys',
    { metadata: { a: 'b' }, prompt_cache_key: 'k', service_tier: 'flex', parallel_tool_calls: false },
    { metadata: { a: 'b' }, promptCacheKey: 'k', serviceTier: 'flex', parallelToolCalls: false },
  ],
  [
    'what is the default anyway',
    { store: false, background: false, truncation: 'disabled', top_logprobs: 0 },
    { store: false },
  ],
  [
    'what is granted anyway',
    { include: ['reasoning.encrypted_content'], stream_options: { include_obfuscation: false } },
    {},
  ],
  [
    'what only this protocol knows',
    {
      include: ['reasoning.encrypted_content', 'web_search_call.results'],
      store: true,
      truncation: 'auto',
      max_tool_calls: 3,
      new_thing: { a: 1 },
      text: { tone: 'dry' },
      reasoning: { context: 'auto' },
    },
    {
      store: true,
      extra: {
        wire: 'responses',
        at: '',
        fields: {
          truncation: 'auto',
          max_tool_calls: 3,
          new_thing: { a: 1 },
          include: ['web_search_call.results'],
          text: { tone: 'dry' },
          reasoning: { context: 'auto' },
        },
      },
    },
  ],
];

for (const [title, body, expected] of members) {
  test(`member: ${title}`, (t) => {
    const { model, system, turns, tools, stream, ...rest } = decode(body);
    t.deepEqual(rest, expected);
  });
}

test('tools of every kind', (t) => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'x' };
  const { tools } = decode({
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: { type: 'object' },
        strict: true,
        defer_loading: true,
      },
      { type: 'custom', name: 'apply_patch', format },
      { type: 'web_search_preview', filters: { allowed_domains: ['h'] }, search_context_size: 'low' },
      { type: 'mcp', server_label: 's' },
      { type: 'web_search', filters: { blocked_domains: ['i'] }, user_location: { city: 'Bern' }, odd: 1 },
    ],
  });
  t.deepEqual(tools, [
    {
      type: 'function',
      name: 'f',
      description: 'd',
      parameters: { type: 'object' },
      strict: true,
      at: 'tools[0]',
      extra: { wire: 'responses', at: 'tools[0]', fields: { defer_loading: true } },
    },
    { type: 'custom', name: 'apply_patch', format, at: 'tools[1]' },
    {
      type: 'web-search',
      allowedDomains: ['h'],
      contextSize: 'low',
      raw: {
        wire: 'responses',
        value: { type: 'web_search_preview', filters: { allowed_domains: ['h'] }, search_context_size: 'low' },
      },
      at: 'tools[2]',
    },
    { type: 'hosted', wire: 'responses', kind: 'mcp', raw: { type: 'mcp', server_label: 's' }, at: 'tools[3]' },
    {
      type: 'web-search',
      blockedDomains: ['i'],
      userLocation: { city: 'Bern' },
      raw: {
        wire: 'responses',
        value: { type: 'web_search', filters: { blocked_domains: ['i'] }, user_location: { city: 'Bern' }, odd: 1 },
      },
      at: 'tools[4]',
      extra: { wire: 'responses', at: 'tools[4]', fields: { odd: 1 } },
    },
  ]);
});

test('tools of a namespace get flat names that are safe and unique, in calls as well', (t) => {
  const request = decode({
    tools: [
      { type: 'namespace', name: 'mcp__files__', description: 'd', tools: [{ type: 'function', name: 'read' }] },
      {
        type: 'namespace',
        name: 'a.b',
        tools: [
          { type: 'function', name: 'c' },
          { type: 'custom', name: 'c d' },
        ],
      },
      { type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b__c' }] },
      { type: 'function', name: 'a_b__c' },
      { type: 'namespace', name: 'n'.repeat(60), tools: [{ type: 'function', name: 'long_name' }] },
    ],
    input: [
      { type: 'function_call', call_id: '1', name: 'c', namespace: 'a.b', arguments: '{}' },
      { type: 'custom_tool_call', call_id: '2', name: 'c d', namespace: 'a.b', input: 'x' },
    ],
  });
  const names = request.tools.map((tool) => 'name' in tool && tool.name);
  t.deepEqual(names, ['mcp__files__read', 'a_b__c_1', 'a_b__c_d', 'a__b__c', 'a_b__c', `${'n'.repeat(60)}__lo`]);
  const [first] = request.tools;
  t.deepEqual(first?.type === 'function' && first.namespace, { name: 'mcp__files__', local: 'read', description: 'd' });
  t.is(brief(request), 'assistant[call:1:a_b__c_1 call:2:a_b__c_d]');
});

const tools = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'c' },
  { type: 'mcp', server_label: 's' },
];
const choices: readonly (readonly [JsonObject | string, ModelRequest['toolChoice']])[] = [
  ['auto', { type: 'auto' }],
  ['none', { type: 'none' }],
  ['required', { type: 'required' }],
  [
    { type: 'function', name: 'f' },
    { type: 'tool', name: 'f' },
  ],
  [
    { type: 'custom', name: 'c' },
    { type: 'tool', name: 'c' },
  ],
  [
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    { type: 'allowed', required: true, names: ['f'] },
  ],
  [
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp', server_label: 's' }] },
    {
      type: 'opaque',
      wire: 'responses',
      value: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp', server_label: 's' }] },
    },
  ],
  [{ type: 'web_search_preview' }, { type: 'opaque', wire: 'responses', value: { type: 'web_search_preview' } }],
];

for (const [choice, expected] of choices) {
  test(`tool_choice ${JSON.stringify(choice)}`, (t) => {
    t.deepEqual(decode({ tools, tool_choice: choice }).toolChoice, expected);
  });
}

test('encrypted reasoning returns to the format that issued it', (t) => {
  const own = { type: 'reasoning', summary: [], encrypted_content: 'gAAA' };
  const foreign = packSignature({ format: 'messages', data: 'sig' });
  const open = { type: 'reasoning', summary: [{ type: 'summary_text', text: '' }], encrypted_content: foreign };
  const shut = { type: 'reasoning', summary: [], encrypted_content: foreign };
  const { turns } = decode({ input: [own, open, shut] });
  t.deepEqual(turns[0]?.parts, [
    { type: 'redacted-thinking', signature: { format: 'responses', data: 'gAAA' }, at: 'input[0]' },
    { type: 'thinking', text: '', signature: { format: 'messages', data: 'sig' }, at: 'input[1]' },
    { type: 'redacted-thinking', signature: { format: 'messages', data: 'sig' }, at: 'input[2]' },
  ]);
});

test("a call's own signature comes back to its call", (t) => {
  const signature = { format: 'gemini', data: 'sig' };
  const seal = { type: 'reasoning', summary: [], encrypted_content: packCallSignature({ callId: '2', signature }) };
  const { turns } = decode({ input: [call('1'), seal, call('2')] });
  t.deepEqual(turns[0]?.parts, [
    { type: 'tool-call', id: '1', name: 'f', input: '{}', at: 'input[0]' },
    { type: 'tool-call', id: '2', name: 'f', input: '{}', at: 'input[2]', signature },
  ]);
});

test('a body with packed reasoning is distinguished from one that can be relayed', (t) => {
  const item = (text: string) => ({ input: [{ type: 'reasoning', summary: [], encrypted_content: text }] });
  t.true(holdsPackedSignature(item(packSignature({ format: 'chat', data: '' }))));
  t.false(holdsPackedSignature(item('gAAA')));
  t.false(holdsPackedSignature({ input: 'sy1.' }));
});

test('parts keep their path, cache marks and unread members', (t) => {
  const { turns } = decode({
    input: [
      {
        role: 'user',
        name: 'n',
        content: [{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' }, odd: 1 }],
      },
      {
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'b', annotations: [], logprobs: [] }],
      },
    ],
  });
  t.deepEqual(turns, [
    {
      role: 'user',
      at: 'input[0]',
      extra: { wire: 'responses', at: 'input[0]', fields: { name: 'n' } },
      parts: [
        {
          type: 'text',
          text: 'a',
          at: 'input[0].content[0]',
          cache: {},
          extra: { wire: 'responses', at: 'input[0].content[0]', fields: { odd: 1 } },
        },
      ],
    },
    {
      role: 'assistant',
      at: 'input[1]',
      parts: [
        {
          type: 'text',
          text: 'b',
          at: 'input[1].content[0]',
          extra: {
            wire: 'responses',
            at: 'input[1].content[0]',
            fields: {},
            outer: { wire: 'responses', at: 'input[1]', fields: { phase: 'commentary' } },
          },
        },
      ],
    },
  ]);
});

test('empty texts say nothing, unless they carry a cache mark; a data URL has a type', (t) => {
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
  const { turns } = decode({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: '' },
          { type: 'input_text', text: '', ...mark },
          { type: 'input_image', image_url: 'data:image/png;x=y;base64,AA' },
          { type: 'input_image', image_url: 'DATA:;BASE64,AA' },
          { type: 'input_image', image_url: 'data:image/png,AA' },
        ],
      },
    ],
  });
  t.like(turns[0]?.parts, {
    0: { type: 'text', text: '', cache: {} },
    1: { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA' } },
    2: { type: 'image', source: { kind: 'base64', mediaType: 'text/plain', data: 'AA' } },
    3: { type: 'image', source: { kind: 'url', url: 'data:image/png,AA' } },
    length: 4,
  });
});

const states: readonly (readonly [JsonObject, string | undefined])[] = [
  [{}, undefined],
  [{ previous_response_id: null, background: false, store: true }, undefined],
  [{ previous_response_id: 'r' }, 'previous_response_id'],
  [{ conversation: { id: 'c' } }, 'conversation'],
  [{ prompt: { id: 'p' } }, 'prompt'],
  [{ background: true }, 'background'],
];

for (const [body, expected] of states) {
  test(`state kept by the server: ${JSON.stringify(body)}`, (t) => {
    t.is(serverState(body), expected);
    if (expected) t.deepEqual(decode(body).extra?.fields[expected], body[expected]);
  });
}
