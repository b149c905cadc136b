import test from 'ava';
import { FaultError } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import type { ModelRequest, Part, Turn, WireFormat } from '../../../engine/model/request.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { decodeRequest } from '../../../protocols/responses/decode-request/decode-request.ts';
import { encodeRequest } from '../../../protocols/responses/encode-request/encode-request.ts';
import { plainRequest } from '../../support/context.ts';
import { requests } from './fixtures.ts';

interface Encoded {
  readonly body: JsonObject;
  readonly losses: readonly string[];
  readonly names: ToolNames;
}

const encode = (over: Partial<ModelRequest>, client?: WireFormat): Encoded => {
  const losses = new Losses('test');
  const names = new ToolNames();
  const body = encodeRequest({ ...plainRequest, ...over }, { losses, names, replyIsRelayed: false, client });
  const told = losses.list.map(({ path, outcome }) => `${outcome} ${path}`);
  return { body: JSON.parse(JSON.stringify(body)), losses: told, names };
};

const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string, name = 'f'): Part => ({ type: 'tool-call', id, name, input: { a: 1 } });
const seal = (format: string, data = 'D') => ({ format, data });

/** Places differ once a conversation has been written anew; all else must not. */
const placeless = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(placeless);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'at')
      .map(([name, member]) => [name, placeless(member)]),
  );
};

for (const [name, body] of requests) {
  test(`${name}: decoded and written again, the request is the same, and nothing is lost`, (t) => {
    const request = decodeRequest(body);
    const { body: again, losses } = encode(request, 'responses');
    t.deepEqual(placeless(decodeRequest(again)), placeless(request));
    t.deepEqual(losses, []);
    t.is(again.store, body.store);
    t.is(again.instructions ?? '', body.instructions ?? '');
  });
}

const inputs: readonly (readonly [string, readonly Turn[], readonly JsonObject[], readonly string[]])[] = [
  [
    'a user turn, with empty texts left out',
    [user(text('a'), text('')), user(text(''))],
    [{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }],
    [],
  ],
  [
    'outputs come before the rest of their turn',
    [assistant(call('1')), user(text('x'), { type: 'tool-result', id: '1', content: [text('o')] })],
    [
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: '1', output: 'o' },
      { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
    ],
    [],
  ],
  [
    'an output with an image, one with nothing, one that is an error',
    [
      user(
        {
          type: 'tool-result',
          id: '1',
          content: [{ type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA' } }],
        },
        { type: 'tool-result', id: '2', content: [] },
        { type: 'tool-result', id: '3', content: [text('no')], isError: true, at: 'messages[1].content[2]' },
      ),
    ],
    [
      {
        type: 'function_call_output',
        call_id: '1',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA' }],
      },
      { type: 'function_call_output', call_id: '2', output: '' },
      { type: 'function_call_output', call_id: '3', output: 'Error: no' },
    ],
    ['approximated messages[1].content[2].is_error'],
  ],
  [
    'a marked output; an error with an image',
    [
      user(
        { type: 'tool-result', id: '1', content: [text('o')], cache: {}, at: 'r[0]' },
        {
          type: 'tool-result',
          id: '2',
          content: [text('no'), { type: 'image', source: { kind: 'url', url: 'https://h/i' } }],
          isError: true,
          at: 'r[1]',
        },
      ),
    ],
    [
      { type: 'function_call_output', call_id: '1', output: 'o' },
      {
        type: 'function_call_output',
        call_id: '2',
        output: [
          { type: 'input_text', text: 'Error: ' },
          { type: 'input_text', text: 'no' },
          { type: 'input_image', image_url: 'https://h/i' },
        ],
      },
    ],
    ['dropped r[0].cache_control', 'approximated r[1].is_error'],
  ],
  [
    'nodes that a stage added, without paths',
    [
      assistant({ type: 'thinking', text: 't' }, { type: 'audio', data: '', format: 'wav' }, call('1')),
      user(
        { type: 'tool-result', id: '1', content: [text('no')], isError: true },
        {
          type: 'document',
          source: { kind: 'text', text: 'x' },
          context: 'c',
          cite: true,
          cache: { ttl: '1h' },
        },
        { type: 'document', source: { kind: 'content', parts: [text('y')] } },
        { type: 'search-result', source: 's', title: 't', content: [] },
        { type: 'thinking', text: 't' },
      ),
      assistant({ type: 'text', text: 'a', citations: [{ type: 'url', url: 'u' }] }),
    ],
    [
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: '1', output: 'Error: no' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'c', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_text', text: 'y' },
          { type: 'input_text', text: 't\ns\n' },
        ],
      },
      {
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'a',
            annotations: [{ type: 'url_citation', url: 'u', title: 'u', start_index: 0, end_index: 1 }],
          },
        ],
      },
    ],
    [
      'dropped thinking',
      'dropped audio',
      'approximated tool_result.is_error',
      'dropped document.citations',
      'approximated document.context',
      'approximated document',
      'approximated content.cache_control',
      'approximated search_result',
      'approximated content.citations',
      'approximated input',
    ],
  ],
  [
    'own reasoning, with the item it led to',
    [
      assistant(
        { type: 'thinking', text: 't', signature: seal('responses') },
        { type: 'redacted-thinking', signature: seal('responses', 'E') },
        { type: 'thinking', text: 'open', signature: seal('responses', '') },
        call('1'),
      ),
    ],
    [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'D' },
      { type: 'reasoning', summary: [], encrypted_content: 'E' },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'open' }] },
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{"a":1}' },
    ],
    ['approximated input'],
  ],
  [
    'reasoning of others, or without what it led to, is left out',
    [
      assistant(
        { type: 'thinking', text: 't', signature: seal('messages'), at: 'm[0]' },
        { type: 'thinking', text: 'u', at: 'm[1]' },
        text('a'),
      ),
      assistant({ ...text('b') }, { type: 'thinking', text: 't', signature: seal('responses'), at: 'm[2]' }),
      user(text('c')),
    ],
    [
      { role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'c' }] },
    ],
    ['dropped m[0]', 'dropped m[1]', 'dropped m[2]'],
  ],
  [
    'documents of every source',
    [
      user(
        { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' } },
        { type: 'document', source: { kind: 'url', url: 'https://h/f' }, title: 't' },
        { type: 'document', source: { kind: 'text', text: 'x' }, title: 't', at: 'd[2]' },
        { type: 'search-result', source: 's', title: 't', content: [{ type: 'text', text: 'c' }], at: 'd[3]' },
      ),
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA' },
          { type: 'input_file', filename: 't', file_url: 'https://h/f' },
          { type: 'input_text', text: 't\nx' },
          { type: 'input_text', text: 't\ns\nc' },
        ],
      },
    ],
    ['approximated d[2]', 'approximated d[3]'],
  ],
  [
    'an instruction in the middle, and blocks that only others know',
    [
      user(text('a')),
      { role: 'system', parts: [text('s')] },
      assistant({ type: 'opaque', wire: 'messages', raw: { type: 'server_tool_use' }, at: 'm[2]' }, text('b')),
      user({ type: 'opaque', wire: 'responses', raw: { type: 'mcp_approval_response' } }),
    ],
    [
      { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
      { role: 'developer', content: [{ type: 'input_text', text: 's' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
      { type: 'mcp_approval_response' },
    ],
    ['dropped m[2]'],
  ],
  [
    'a document with a title and an introduction',
    [
      user({
        type: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' },
        title: 't',
        context: 'c',
        cite: true,
        at: 'd',
      }),
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'c' },
          { type: 'input_file', filename: 't', file_data: 'data:application/pdf;base64,AA' },
        ],
      },
    ],
    ['dropped d.citations', 'approximated d.context'],
  ],
  [
    'an answer to go on with',
    [user(text('a')), { ...assistant(text('b')), at: 'messages[1]' }],
    [
      { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
    ],
    ['approximated messages[1]'],
  ],
  [
    "names and members of other protocols' nodes",
    [
      {
        role: 'user',
        name: 'n',
        at: 'messages[0]',
        extra: { wire: 'chat', at: 'messages[0]', fields: { odd: 1 } },
        parts: [{ type: 'text', text: 'a', cache: {}, at: 'messages[0].content[0]' }],
      },
    ],
    [{ role: 'user', content: [{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }] }],
    ['dropped messages[0].name', 'dropped messages[0].odd'],
  ],
];

for (const [title, turns, expected, losses] of inputs) {
  test(`input: ${title}`, (t) => {
    const encoded = encode({ turns });
    t.deepEqual(encoded.body.input, expected);
    t.deepEqual(encoded.losses, losses);
  });
}

const plainTool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } } as const;

const toolResult: Part = { type: 'tool-result', id: '1', content: [text('x')] };

/** Sealed reasoning is asked for. */
const sealed = { include: ['reasoning.encrypted_content'] };

const bodies: readonly (readonly [string, Partial<ModelRequest>, JsonObject, readonly string[], WireFormat?])[] = [
  ['nothing', {}, {}, []],
  [
    'system',
    {
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: '' },
        { type: 'text', text: 'b', at: 'system[1]', cache: {} },
      ],
    },
    {
      input: [
        {
          role: 'developer',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
          ],
        },
      ],
    },
    [],
  ],
  [
    'a client of this protocol: its instructions stay where they were',
    {
      system: [
        { type: 'text', text: 'a', at: 'instructions' },
        { type: 'text', text: 'b', at: 'input[0].content' },
      ],
    },
    { instructions: 'a', input: [{ role: 'developer', content: [{ type: 'input_text', text: 'b' }] }] },
    [],
  ],
  [
    'limits',
    { maxTokens: 100, temperature: 0.5, topP: 0.9 },
    { max_output_tokens: 100, temperature: 0.5, top_p: 0.9 },
    [],
  ],
  ['too small a limit', { maxTokens: 5 }, { max_output_tokens: 16 }, ['approximated max_tokens']],
  [
    'sampling that a reasoning model refuses',
    { model: 'gpt-5-mini', temperature: 0.5, topP: 1 },
    { model: 'gpt-5-mini', ...sealed },
    ['dropped temperature'],
  ],
  [
    'what has no field here',
    { stop: ['x'], seed: 1, presencePenalty: 1, frequencyPenalty: 1, logitBias: { a: 1 }, topK: 5, cache: {} },
    {},
    ['stop', 'seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'top_k', 'cache_control'].map(
      (name) => `dropped ${name}`,
    ),
  ],
  [
    'output and verbosity',
    { output: { type: 'json-schema', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
    {
      text: {
        format: { type: 'json_schema', name: 'response', schema: { type: 'object' }, strict: true },
        verbosity: 'low',
      },
    },
    [],
  ],
  ['JSON mode', { output: { type: 'json' } }, { text: { format: { type: 'json_object' } } }, []],
  ['effort alone', { reasoning: { effort: 'high' } }, { reasoning: { effort: 'high' }, ...sealed }, []],
  ...(
    [
      [1024, 'low'],
      [1025, 'medium'],
      [8192, 'medium'],
      [8193, 'high'],
    ] as const
  ).map(
    ([budget, effort]) =>
      [
        `a budget of ${budget}`,
        { reasoning: { mode: 'on', budget } },
        { reasoning: { effort, summary: 'auto' }, ...sealed },
        ['approximated reasoning.budget_tokens'],
      ] as const,
  ),
  [
    'between tools',
    { reasoning: { mode: 'between-tools' } },
    { reasoning: { summary: 'auto' }, ...sealed },
    ['approximated reasoning.mode'],
  ],
  [
    'an effort beside a budget',
    { reasoning: { mode: 'on', budget: 9000, effort: 'low' } },
    { reasoning: { effort: 'low', summary: 'auto' }, ...sealed },
    ['dropped reasoning.budget_tokens'],
  ],
  ['adaptive', { reasoning: { mode: 'adaptive' } }, { reasoning: { summary: 'auto' }, ...sealed }, []],
  [
    'hidden',
    { reasoning: { mode: 'adaptive', effort: 'max', show: 'hidden' } },
    { reasoning: { effort: 'max' }, ...sealed },
    [],
  ],
  [
    'reasoning that is carried, unasked',
    { turns: [assistant({ type: 'thinking', text: 'hm', signature: seal('responses') }, call('1')), user(toolResult)] },
    {
      input: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'D' },
        { type: 'function_call', call_id: '1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: '1', output: 'x' },
      ],
      ...sealed,
    },
    [],
  ],
  ['a model that is known to reason, unasked', { model: 'gpt-6.1-terra' }, { model: 'gpt-6.1-terra', ...sealed }, []],
  ['the same behind a router', { model: 'openai/o3' }, { model: 'openai/o3', ...sealed }, []],
  [
    'sampling of a model that is told not to reason',
    { model: 'gpt-6.1-terra', temperature: 0.5, reasoning: { effort: 'none' } },
    { model: 'gpt-6.1-terra', temperature: 0.5, reasoning: { effort: 'none' }, ...sealed },
    [],
  ],
  ['off', { reasoning: { mode: 'off' } }, { reasoning: { effort: 'none' } }, []],
  [
    'off for a model that always reasons',
    { model: 'o3', reasoning: { mode: 'off' } },
    { model: 'o3', reasoning: { effort: 'low' }, ...sealed },
    ['approximated reasoning'],
  ],
  [
    'asked of a model that has none',
    { model: 'gpt-4o', reasoning: { mode: 'on' } },
    { model: 'gpt-4o' },
    ['dropped reasoning'],
  ],
  [
    'who asks',
    { user: 'u'.repeat(70), metadata: { a: 'b' }, promptCacheKey: 'k', serviceTier: 'standard_only' },
    {
      safety_identifier: 'd73ea28dd3d10dfcdad1736f6568864c58b5cb7bb318ac5d3098a0f07c6162a8',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      service_tier: 'default',
    },
    ['approximated user'],
  ],
  [
    "members of this wire's own",
    {
      reasoning: { effort: 'low' },
      extra: {
        wire: 'responses',
        at: '',
        fields: {
          truncation: 'auto',
          store: true,
          include: ['x'],
          reasoning: { context: 'auto' },
          text: { tone: 'dry' },
        },
      },
    },
    {
      truncation: 'auto',
      store: true,
      include: ['reasoning.encrypted_content', 'x'],
      reasoning: { effort: 'low', context: 'auto' },
      text: { tone: 'dry' },
    },
    [],
  ],
  [
    'state that the vendor keeps',
    { extra: { wire: 'responses', at: '', fields: { previous_response_id: 'r' } } },
    { previous_response_id: 'r', store: undefined },
    [],
    'responses',
  ],
  ['what is to be kept', { store: true }, { store: true }, [], 'responses'],
  ['a function of which nothing is said', { tools: [plainTool] }, { tools: [{ ...plainTool, strict: false }] }, []],
  [
    'a function of which its own client says nothing',
    { tools: [plainTool] },
    { tools: [plainTool], store: undefined },
    [],
    'responses',
  ],
  [
    "members of another wire's",
    { extra: { wire: 'messages', at: '', fields: { container: 'c' } } },
    {},
    ['dropped container'],
  ],
  [
    'a tool choice without tools',
    { toolChoice: { type: 'required' }, parallelToolCalls: false },
    {},
    ['dropped tool_choice', 'dropped parallel_tool_calls'],
  ],
];

for (const [title, request, members, losses, client] of bodies) {
  test(`body: ${title}`, (t) => {
    const encoded = encode(request, client);
    const base = { model: 'm', input: [], stream: true, store: false };
    t.deepEqual(encoded.body, JSON.parse(JSON.stringify({ ...base, ...members })));
    t.deepEqual(encoded.losses, losses);
  });
}

const choices: readonly (readonly [ModelRequest['toolChoice'], JsonObject | string | undefined])[] = [
  [{ type: 'auto' }, 'auto'],
  [{ type: 'none' }, 'none'],
  [{ type: 'required' }, 'required'],
  [
    { type: 'tool', name: 'f' },
    { type: 'function', name: 'f' },
  ],
  [
    { type: 'allowed', required: false, names: ['f'] },
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  ],
  [
    { type: 'allowed', required: true, names: ['f'] },
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
  ],
  [{ type: 'opaque', wire: 'responses', value: { type: 'mcp' } }, { type: 'mcp' }],
  [{ type: 'opaque', wire: 'chat', value: { type: 'mcp' } }, undefined],
];

test('tool choices of every kind', (t) => {
  for (const [toolChoice, expected] of choices) {
    const { body, losses } = encode({ tools: [plainTool], toolChoice });
    t.deepEqual<unknown, unknown>(body.tool_choice, expected);
    t.deepEqual(losses, expected === undefined ? ['dropped tool_choice'] : []);
  }
});

test('tools of every kind, with what is said of their use', (t) => {
  const { body, losses, names } = encode({
    tools: [
      { type: 'function', name: 'mcp.read file', description: 'd', cache: {}, at: 'tools[0]' },
      { type: 'custom', name: 'patch', format: { type: 'text' } },
      {
        type: 'web-search',
        maxUses: 3,
        allowedDomains: ['h'],
        at: 'tools[2]',
        raw: { wire: 'messages', value: { type: 'web_search_20250305' } },
      },
      { type: 'hosted', wire: 'responses', kind: 'mcp', raw: { type: 'mcp', server_label: 's' } },
      { type: 'hosted', wire: 'messages', kind: 'code_execution_20250825', raw: {}, at: 'tools[4]' },
      { type: 'hosted', wire: 'messages', kind: 'web_fetch_20250910', raw: {}, at: 'tools[5]' },
      { type: 'function', name: 'n__a', namespace: { name: 'n', local: 'a', description: 'group' }, strict: true },
      { type: 'function', name: 'n__b', namespace: { name: 'n', local: 'b' } },
    ],
    toolChoice: { type: 'allowed', required: true, names: ['mcp.read file', 'patch', 'n__b'] },
    parallelToolCalls: false,
    turns: [
      assistant(
        call('1', 'mcp.read file'),
        { type: 'tool-call', id: '2', name: 'patch', input: '{"input":"*** Begin"}' },
        call('3', 'n__b'),
      ),
      user({ type: 'tool-result', id: '2', content: [text('ok')] }),
    ],
  });
  const parameters = { type: 'object', properties: {} };
  t.deepEqual(body.tools, [
    { type: 'function', name: 'mcp_read_file', description: 'd', parameters, strict: false },
    { type: 'custom', name: 'patch', format: { type: 'text' } },
    { type: 'web_search', filters: { allowed_domains: ['h'] } },
    { type: 'mcp', server_label: 's' },
    { type: 'code_interpreter', container: { type: 'auto' } },
    {
      type: 'namespace',
      name: 'n',
      description: 'group',
      tools: [
        { type: 'function', name: 'a', parameters, strict: true },
        { type: 'function', name: 'b', parameters, strict: false },
      ],
    },
  ]);
  t.deepEqual(body.tool_choice, {
    type: 'allowed_tools',
    mode: 'required',
    tools: [
      { type: 'function', name: 'mcp_read_file' },
      { type: 'custom', name: 'patch' },
      { type: 'function', name: 'b', namespace: 'n' },
    ],
  });
  t.false(body.parallel_tool_calls);
  t.deepEqual(body.input, [
    { type: 'function_call', call_id: '1', name: 'mcp_read_file', arguments: '{"a":1}' },
    { type: 'custom_tool_call', call_id: '2', name: 'patch', input: '*** Begin' },
    { type: 'function_call', call_id: '3', name: 'b', namespace: 'n', arguments: '{"a":1}' },
    { type: 'custom_tool_call_output', call_id: '2', output: 'ok' },
  ]);
  t.is(names.model('mcp_read_file'), 'mcp.read file');
  t.deepEqual(losses, [
    'dropped tools[0].cache_control',
    'dropped tools[2].max_uses',
    'approximated tools[4]',
    'dropped tools[5]',
  ]);
});

test('ids and names that are too long are cut, the same in a call and its output', (t) => {
  const id = `call_${'x'.repeat(80)}`;
  const { body } = encode({
    turns: [
      assistant(call(id, 'n'.repeat(70)), call(`${id}y`)),
      user({ type: 'tool-result', id, content: [] }, { type: 'tool-result', id: `${id}y`, content: [] }),
    ],
  });
  const items = Array.isArray(body.input) ? body.input.filter(isJsonObject) : [];
  const ids = items.map((item) => String(item.call_id));
  t.true(ids.every((one) => one.length <= 64));
  t.is(new Set(ids).size, 2);
  t.deepEqual(ids.slice(0, 2), ids.slice(2));
  t.is(String(items[0]?.name).length, 64);
});

const refused: readonly (readonly [string, Partial<ModelRequest>, string])[] = [
  [
    "another vendor's file",
    { turns: [user({ type: 'image', source: { kind: 'file', id: 'file_1' }, at: 'messages[0].content[0]' })] },
    'messages[0].content[0]',
  ],
  [
    'a tool that the vendor would have to run',
    { tools: [{ type: 'hosted', wire: 'messages', kind: 'bash_20250124', raw: {}, at: 'tools[0]' }] },
    'tools[0]',
  ],
];

for (const [title, request, param] of refused) {
  test(`refused: ${title}`, (t) => {
    const error = t.throws(() => encode(request), { instanceOf: FaultError });
    t.is(error.fault.kind, 'unsupported');
    t.is(error.fault.param, param);
  });
}

test('a conversation with everything comes back the same over the same wire', (t) => {
  const body: JsonObject = {
    model: 'gpt-5.6',
    instructions: 'i',
    input: [
      { role: 'developer', content: [{ type: 'input_text', text: 'd' }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'u', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
          { type: 'input_image', file_id: 'file-1' },
          { type: 'input_file', file_id: 'file-2' },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'gAAA' },
      { role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'c' }] },
      {
        role: 'assistant',
        phase: 'final_answer',
        content: [
          { type: 'output_text', text: 'f' },
          { type: 'refusal', refusal: 'r' },
        ],
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'function_call', call_id: '1', name: 'f', namespace: 'n', arguments: '{"big":12345678901234567890}' },
      { type: 'custom_tool_call', call_id: '2', name: 'patch', input: 'x' },
      {
        type: 'function_call_output',
        call_id: '1',
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://h/i.png' },
        ],
      },
      { type: 'custom_tool_call_output', call_id: '2', output: 'b' },
      { role: 'system', content: [{ type: 'input_text', text: 'later' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'v' }] },
    ],
    tools: [
      {
        type: 'namespace',
        name: 'n',
        description: 'g',
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
      },
      { type: 'custom', name: 'patch', format: { type: 'text' } },
      { type: 'web_search', user_location: { type: 'approximate' } },
    ],
    tool_choice: { type: 'custom', name: 'patch' },
    max_tool_calls: 4,
  };
  const request = decodeRequest(body);
  const { body: again, losses } = encode(request, 'responses');
  t.deepEqual(losses, []);
  t.deepEqual(placeless(decodeRequest(again)), placeless(request));
  const developer = (item: unknown) =>
    isJsonObject(item) && item.role === 'system' ? { ...item, role: 'developer' } : item;
  t.deepEqual(again.input, Array.isArray(body.input) ? body.input.map(developer) : []);
  t.deepEqual(again.tools, body.tools);
});
