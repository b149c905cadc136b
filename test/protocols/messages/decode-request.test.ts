import test from 'ava';
import { FaultError } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import {
  decodeCountRequest,
  decodeRequest,
  needsRepair,
} from '../../../protocols/messages/decode-request/decode-request.ts';

const body = (over: JsonObject = {}): JsonObject => ({
  model: 'm',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hi' }],
  ...over,
});

/** Without the members that are undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const decoded = (over: JsonObject) => decodeRequest(body(over));
const partOf = (block: JsonObject, role = 'user'): unknown =>
  plain(decoded({ messages: [{ role, content: [block] }] }).turns[0]?.parts[0]);

const at = 'messages[0].content[0]';
const cache_control = { type: 'ephemeral', ttl: '1h' };

const blocks: readonly (readonly [title: string, block: JsonObject, part: JsonObject])[] = [
  ['text', { type: 'text', text: 'a', cache_control }, { type: 'text', text: 'a', cache: { ttl: '1h' } }],
  ['a null mark', { type: 'text', text: 'a', cache_control: null }, { type: 'text', text: 'a' }],
  [
    'a mark that says more is kept as it was',
    { type: 'text', text: 'a', cache_control: { type: 'ephemeral', scope: 'global' } },
    {
      type: 'text',
      text: 'a',
      cache: {},
      extra: { wire: 'messages', at, fields: { cache_control: { type: 'ephemeral', scope: 'global' } } },
    },
  ],
  [
    'a web citation',
    { type: 'text', text: 'a', citations: [{ type: 'web_search_result_location', url: 'u', cited_text: 'q' }] },
    {
      type: 'text',
      text: 'a',
      citations: [
        {
          type: 'url',
          url: 'u',
          quote: 'q',
          raw: { wire: 'messages', value: { type: 'web_search_result_location', url: 'u', cited_text: 'q' } },
        },
      ],
    },
  ],
  [
    'another citation',
    { type: 'text', text: 'a', citations: [{ type: 'page_location', start_page_number: 1 }] },
    {
      type: 'text',
      text: 'a',
      citations: [{ type: 'opaque', wire: 'messages', value: { type: 'page_location', start_page_number: 1 } }],
    },
  ],
  [
    'base64 image',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' }, transformations: [] },
    {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA' },
      extra: { wire: 'messages', at, fields: { transformations: [] } },
    },
  ],
  [
    'url image',
    { type: 'image', source: { type: 'url', url: 'u' } },
    { type: 'image', source: { kind: 'url', url: 'u' } },
  ],
  [
    'file image',
    { type: 'image', source: { type: 'file', file_id: 'f' } },
    { type: 'image', source: { kind: 'file', id: 'f', wire: 'messages' } },
  ],
  [
    'a source that says more',
    { type: 'image', source: { type: 'url', url: 'u', ttl: 5 } },
    {
      type: 'image',
      source: { kind: 'url', url: 'u' },
      extra: { wire: 'messages', at, fields: { source: { type: 'url', url: 'u', ttl: 5 } } },
    },
  ],
  [
    'an image of an unknown source',
    { type: 'image', source: { type: 'hologram' } },
    { type: 'opaque', wire: 'messages', raw: { type: 'image', source: { type: 'hologram' } } },
  ],
  [
    'pdf',
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AA' },
      title: 't',
      context: 'c',
      citations: { enabled: true },
    },
    {
      type: 'document',
      source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' },
      title: 't',
      context: 'c',
      cite: true,
    },
  ],
  [
    'text document',
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
    { type: 'document', source: { kind: 'text', text: 'd' } },
  ],
  [
    'content document',
    { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
    {
      type: 'document',
      source: { kind: 'content', parts: [{ type: 'text', text: 'x', at: `${at}.source.content[0]` }] },
    },
  ],
  [
    'search result',
    {
      type: 'search_result',
      source: 's',
      title: 't',
      content: [{ type: 'text', text: 'x' }],
      citations: { enabled: false },
    },
    {
      type: 'search-result',
      source: 's',
      title: 't',
      content: [{ type: 'text', text: 'x', at: `${at}.content[0]` }],
      cite: false,
    },
  ],
  [
    'own thinking',
    { type: 'thinking', thinking: 'hm', signature: 'sig' },
    { type: 'thinking', text: 'hm', signature: { format: 'messages', data: 'sig' } },
  ],
  [
    'foreign thinking',
    { type: 'thinking', thinking: 'hm', signature: packSignature({ format: 'gemini', data: 'g' }) },
    { type: 'thinking', text: 'hm', signature: { format: 'gemini', data: 'g' } },
  ],
  ['unsigned thinking', { type: 'thinking', thinking: 'hm', signature: '' }, { type: 'thinking', text: 'hm' }],
  [
    'redacted thinking',
    { type: 'redacted_thinking', data: 'd' },
    { type: 'redacted-thinking', signature: { format: 'messages', data: 'd' } },
  ],
  [
    'tool call',
    { type: 'tool_use', id: 'i', name: 'n', input: { a: 1 }, caller: { type: 'direct' } },
    {
      type: 'tool-call',
      id: 'i',
      name: 'n',
      input: { a: 1 },
      extra: { wire: 'messages', at, fields: { caller: { type: 'direct' } } },
    },
  ],
  [
    'tool result of text',
    { type: 'tool_result', tool_use_id: 'i', content: 'r', is_error: true },
    { type: 'tool-result', id: 'i', content: [{ type: 'text', text: 'r', at: `${at}.content` }], isError: true },
  ],
  [
    'tool result without content',
    { type: 'tool_result', tool_use_id: 'i' },
    { type: 'tool-result', id: 'i', content: [] },
  ],
  [
    'tool result of blocks',
    {
      type: 'tool_result',
      tool_use_id: 'i',
      content: [
        { type: 'image', source: { type: 'url', url: 'u' } },
        { type: 'tool_reference', tool_name: 't' },
      ],
    },
    {
      type: 'tool-result',
      id: 'i',
      content: [
        { type: 'image', source: { kind: 'url', url: 'u' }, at: `${at}.content[0]` },
        {
          type: 'opaque',
          wire: 'messages',
          raw: { type: 'tool_reference', tool_name: 't' },
          at: `${at}.content[1]`,
        },
      ],
    },
  ],
  [
    'a hosted call',
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    {
      type: 'opaque',
      wire: 'messages',
      raw: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    },
  ],
  [
    'a type named like an object member',
    { type: 'constructor' },
    { type: 'opaque', wire: 'messages', raw: { type: 'constructor' } },
  ],
];
for (const [title, block, part] of blocks) {
  test(`block: ${title}`, (t) => t.deepEqual(partOf(block), { ...part, at }));
}

const fields: readonly (readonly [title: string, over: JsonObject, request: JsonObject])[] = [
  ['sampling', { temperature: 1, top_p: 0.5, top_k: 4 }, { temperature: 1, topP: 0.5, topK: 4 }],
  ['null means absent', { temperature: null, tools: null, thinking: null, stop_sequences: null }, {}],
  ['stop', { stop_sequences: ['x'] }, { stop: ['x'] }],
  ['no tokens, to warm the cache', { max_tokens: 0 }, { maxTokens: 0 }],
  [
    'metadata',
    { metadata: { user_id: 'u', more: 1 } },
    { user: 'u', extra: { wire: 'messages', at: '', fields: { metadata: { more: 1 } } } },
  ],
  ['tier', { service_tier: 'standard_only' }, { serviceTier: 'default' }],
  ['cache', { cache_control: { type: 'ephemeral' } }, { cache: {} }],
  [
    'unknown fields',
    { speed: 'fast', container: 'c' },
    { extra: { wire: 'messages', at: '', fields: { speed: 'fast', container: 'c' } } },
  ],
  [
    'manual thinking',
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    { reasoning: { mode: 'on', budget: 2000, wire: 'messages' } },
  ],
  [
    'adaptive thinking with an effort',
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'max' } },
    { reasoning: { mode: 'adaptive', show: 'hidden', effort: 'max', wire: 'messages' } },
  ],
  [
    'thinking between tools',
    { thinking: { type: 'between_tools' } },
    { reasoning: { mode: 'between-tools', wire: 'messages' } },
  ],
  ['no thinking', { thinking: { type: 'disabled' } }, { reasoning: { mode: 'off', wire: 'messages' } }],
  [
    'thinking of an unknown kind',
    { thinking: { type: 'deep' } },
    { extra: { wire: 'messages', at: '', fields: { thinking: { type: 'deep' } } } },
  ],
  ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map(
    (effort) =>
      [`effort ${effort}`, { output_config: { effort } }, { reasoning: { effort, wire: 'messages' } }] as const,
  ),
  ['an effort alone', { output_config: { effort: 'high' } }, { reasoning: { effort: 'high', wire: 'messages' } }],
  [
    'an unknown effort and a budget for the task',
    { output_config: { effort: 'huge', task_budget: 5 } },
    { extra: { wire: 'messages', at: '', fields: { output_config: { effort: 'huge', task_budget: 5 } } } },
  ],
  [
    'a schema',
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    { output: { type: 'json-schema', schema: { type: 'object' } } },
  ],
  [
    'a schema under its old name',
    { output_format: { type: 'json_schema', schema: { type: 'object' } } },
    { output: { type: 'json-schema', schema: { type: 'object' } } },
  ],
  ['system text', { system: 'be brief' }, { system: [{ type: 'text', text: 'be brief', at: 'system' }] }],
  [
    'system blocks',
    { system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
    { system: [{ type: 'text', text: 'a', cache: {}, at: 'system[0]' }] },
  ],
  [
    'a client tool',
    {
      tools: [
        {
          name: 'n',
          description: 'd',
          input_schema: { type: 'object' },
          strict: true,
          cache_control,
          defer_loading: true,
        },
      ],
    },
    {
      tools: [
        {
          type: 'function',
          name: 'n',
          description: 'd',
          parameters: { type: 'object' },
          strict: true,
          cache: { ttl: '1h' },
          at: 'tools[0]',
          extra: { wire: 'messages', at: 'tools[0]', fields: { defer_loading: true } },
        },
      ],
    },
  ],
  [
    'web search',
    {
      tools: [
        { type: 'web_search_20260209', name: 'web_search', max_uses: 2, allowed_domains: ['a.b'], user_location: null },
      ],
    },
    {
      tools: [
        {
          type: 'web-search',
          maxUses: 2,
          allowedDomains: ['a.b'],
          raw: {
            wire: 'messages',
            value: {
              type: 'web_search_20260209',
              name: 'web_search',
              max_uses: 2,
              allowed_domains: ['a.b'],
              user_location: null,
            },
          },
          at: 'tools[0]',
        },
      ],
    },
  ],
  [
    'a hosted tool',
    { tools: [{ type: 'bash_20250124', name: 'bash' }] },
    {
      tools: [
        {
          type: 'hosted',
          wire: 'messages',
          kind: 'bash_20250124',
          name: 'bash',
          raw: { type: 'bash_20250124', name: 'bash' },
          at: 'tools[0]',
        },
      ],
    },
  ],
  [
    'choice: one call of any tool',
    { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    { toolChoice: { type: 'required' }, parallelToolCalls: false },
  ],
  ['choice: this tool', { tool_choice: { type: 'tool', name: 'n' } }, { toolChoice: { type: 'tool', name: 'n' } }],
  ['choice: none', { tool_choice: { type: 'none' } }, { toolChoice: { type: 'none' } }],
  [
    'choice: unknown',
    { tool_choice: { type: 'server' } },
    { toolChoice: { type: 'opaque', wire: 'messages', value: { type: 'server' } } },
  ],
];
const bare = plain(decodeRequest(body())) as object;
for (const [title, over, request] of fields) {
  test(`field: ${title}`, (t) => t.deepEqual(plain(decoded(over)), { ...bare, ...request }));
}

test('the smallest request', (t) => {
  t.deepEqual(bare, {
    model: 'm',
    system: [],
    turns: [
      {
        role: 'user',
        parts: [{ type: 'text', text: 'hi', at: 'messages[0].content' }],
        at: 'messages[0]',
      },
    ],
    tools: [],
    maxTokens: 10,
    stream: false,
  });
});

const said = (role: string, content: string): JsonObject => ({ role, content });

test('instructions at the front of the messages join the system prompt', (t) => {
  const asked = body({ system: 'one', messages: [said('system', 'two'), said('user', 'hi'), said('system', 'three')] });
  const request = decodeRequest(asked);
  t.deepEqual(
    request.system.map(({ text, at }) => [text, at]),
    [
      ['one', 'system'],
      ['two', 'messages[0].content'],
    ],
  );
  t.deepEqual(
    request.turns.map(({ role, at }) => [role, at]),
    [
      ['user', 'messages[1]'],
      ['system', 'messages[2]'],
    ],
  );
  t.true(needsRepair(asked));
  t.false(needsRepair(body()));
});

test('counting needs no max_tokens', (t) => {
  const { max_tokens, ...rest } = body({ system: 's' });
  t.is(decodeCountRequest(rest).maxTokens, undefined);
  t.is(decodeCountRequest(rest).system.length, 1);
});

const content = (block: JsonObject): JsonObject => ({
  messages: [said('user', 'a'), said('assistant', 'b'), { role: 'user', content: [block] }],
});
const faults: readonly (readonly [path: string, over: JsonObject])[] = [
  ['model', { model: undefined }],
  ['model', { model: '' }],
  ['messages', { messages: undefined }],
  ['messages', { messages: [] }],
  ['messages[0]', { messages: ['Invalid content'] }],
  ['messages[0].role', { messages: [said('tool', 'x')] }],
  ['messages[0].content', { messages: [{ role: 'user' }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: 4 }] }],
  ['max_tokens', { max_tokens: undefined }],
  ['max_tokens', { max_tokens: -1 }],
  ['max_tokens', { max_tokens: 1.5 }],
  ['temperature', { temperature: 1.1 }],
  ['temperature', { temperature: -0.1 }],
  ['top_p', { top_p: 2 }],
  ['top_k', { top_k: -1 }],
  ['stream', { stream: 'yes' }],
  ['system', { system: 4 }],
  ['system[0]', { system: [{ type: 'image', source: { type: 'url', url: 'u' } }] }],
  ['stop_sequences[0]', { stop_sequences: [1] }],
  ['thinking.type', { thinking: {} }],
  ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
  ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
  ['metadata.user_id', { metadata: { user_id: 4 } }],
  ['tools[0].name', { tools: [{ input_schema: {} }] }],
  ['tools[0].input_schema', { tools: [{ name: 'n' }] }],
  ['tool_choice.type', { tool_choice: {} }],
  ['tool_choice.name', { tool_choice: { type: 'tool' } }],
  ['messages[2].content[0].type', content({})],
  ['messages[2].content[0].text', content({ type: 'text' })],
  ['messages[2].content[0].source', content({ type: 'image' })],
  ['messages[2].content[0].source.media_type', content({ type: 'image', source: { type: 'base64', data: 'AA' } })],
  ['messages[2].content[0].source.url', content({ type: 'document', source: { type: 'url' } })],
  ['messages[2].content[0].input', content({ type: 'tool_use', id: 'i', name: 'n', input: '{}' })],
  ['messages[2].content[0].tool_use_id', content({ type: 'tool_result' })],
  [
    'messages[2].content[0].content[1].text',
    content({ type: 'tool_result', tool_use_id: 'i', content: [{ type: 'text', text: 'x' }, { type: 'text' }] }),
  ],
  ['messages[2].content[0].data', content({ type: 'redacted_thinking' })],
  [
    'messages[1].content[0]',
    {
      messages: [
        said('user', 'a'),
        { role: 'system', content: [{ type: 'image', source: { type: 'url', url: 'u' } }] },
      ],
    },
  ],
];
for (const [path, over] of faults) {
  test(`fault at ${path}: ${JSON.stringify(over) ?? ''}`, (t) => {
    const error = t.throws(() => decoded(over), { instanceOf: FaultError });
    t.is(error?.fault.kind, 'invalid-request');
    t.is(error?.fault.param, path);
    t.true(error?.fault.message.startsWith(path));
  });
}
