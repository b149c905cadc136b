import test from 'ava';
import { FaultError } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import type { Extra, ModelRequest, Part, Turn } from '../../../engine/model/request.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import {
  type ChatDialect,
  chatUpstream,
  plainDialect,
  plainEfforts,
  thinkingSwitch,
} from '../../../protocols/chat/index.ts';
import { plainRequest } from '../../support/context.ts';
import { pathless } from '../../support/pathless.ts';

const encode = (
  request: Partial<ModelRequest>,
  dialect: Partial<ChatDialect> = {},
  replyIsRelayed = false,
): { body: JsonObject; losses: string[] } => {
  const losses = new Losses('test');
  const asked = { ...plainRequest, stream: false, ...request };
  const context = { names: new ToolNames(), losses, replyIsRelayed };
  const body = chatUpstream({ ...plainDialect, ...dialect }).encodeRequest(asked, context);
  // As it goes over the wire: without members that are undefined.
  const written: unknown = JSON.parse(JSON.stringify(body));
  return {
    body: isJsonObject(written) ? written : {},
    losses: losses.list.map(({ path, outcome }) => `${outcome === 'dropped' ? '-' : '~'}${path}`),
  };
};

const refusal = (request: Partial<ModelRequest>, dialect: Partial<ChatDialect> = {}) => {
  try {
    encode(request, dialect);
  } catch (error) {
    if (error instanceof FaultError) return [error.fault.kind, error.fault.param];
    throw error;
  }
  return [];
};

const text = (words: string, more: object = {}): Part => ({ type: 'text', text: words, at: 't', ...more });
const user = (...parts: Part[]): Turn => ({ role: 'user', parts, at: 'u' });
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts, at: 'a' });
const call = (id: string, more: object = {}): Part => ({
  type: 'tool-call',
  id,
  name: 'f',
  input: '{"x":1}',
  at: `c-${id}`,
  ...more,
});
const result = (id: string, content: readonly Part[] = [text('ok')], more: object = {}): Part => ({
  type: 'tool-result',
  id,
  content,
  at: `r-${id}`,
  ...more,
});
const wireCall = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: '{"x":1}' } });
const calling = (...ids: string[]): JsonObject => ({ role: 'assistant', content: null, tool_calls: ids.map(wireCall) });
const answer = (id: string, content = 'ok'): JsonObject => ({ role: 'tool', tool_call_id: id, content });
const image: Part = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA' }, at: 'i' };
const wireImage: JsonObject = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
const thinking = (words: string, signature?: { format: string; data: string }): Part => ({
  type: 'thinking',
  text: words,
  signature,
  at: 'th',
});
const own = { format: 'chat', data: '{"type":"reasoning.text","index":0,"signature":"s"}' };
const foreign = (name: string): Extra => ({ wire: 'messages', at: 'messages', fields: { [name]: 1 } });
const marks: Partial<ChatDialect> = { cacheMarks: 'cache_control' };

const conversations: readonly (readonly [
  title: string,
  turns: readonly Turn[],
  messages: readonly JsonObject[],
  losses?: readonly string[],
  dialect?: Partial<ChatDialect>,
])[] = [
  ['one text is a string', [user(text('a'))], [{ role: 'user', content: 'a' }]],
  [
    'several are parts',
    [user(text('a'), text('b'))],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
  ],
  [
    'empty texts and empty turns are left out',
    [user(text('')), user(text(''), text('a'))],
    [{ role: 'user', content: 'a' }],
  ],
  ['text of the assistant runs on', [assistant(text('a'), text('b'))], [{ role: 'assistant', content: 'ab' }]],
  ['calls alone have content null', [assistant(call('c')), user(result('c'))], [calling('c'), answer('c')]],
  [
    'results come before the rest of the turn, in order',
    [assistant(text('a'), call('c'), call('d')), user(text('b'), result('c'), result('d', [text('x'), text('y')]))],
    [
      { role: 'assistant', content: 'a', tool_calls: [wireCall('c'), wireCall('d')] },
      answer('c'),
      answer('d', 'x\n\ny'),
      { role: 'user', content: 'b' },
    ],
  ],
  [
    'results in a later turn come to the front',
    [assistant(call('c')), { role: 'system', parts: [text('s')] }, user(result('c'))],
    [calling('c'), answer('c'), { role: 'system', content: 's' }],
  ],
  [
    'a call without a result gets one',
    [assistant(call('c')), user(text('b'))],
    [calling('c'), answer('c', 'Error: this call has no result.'), { role: 'user', content: 'b' }],
    ['~c-c'],
  ],
  [
    'also at the very end',
    [assistant(call('c'))],
    [calling('c'), answer('c', 'Error: this call has no result.')],
    ['~c-c'],
  ],
  [
    'a result without a call becomes text',
    [user(result('c'))],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of the tool call c:' },
          { type: 'text', text: 'ok' },
        ],
      },
    ],
    ['~r-c'],
  ],
  [
    'turns that call one after the other are one message',
    [assistant(call('c')), assistant(call('d')), user(result('c'), result('d'))],
    [calling('c', 'd'), answer('c'), answer('d')],
  ],
  [
    'an error is said in words',
    [assistant(call('c')), user(result('c', [text('x')], { isError: true }))],
    [calling('c'), answer('c', 'Error: x')],
    ['~r-c.is_error'],
  ],
  ['no result text is an empty one', [assistant(call('c')), user(result('c', []))], [calling('c'), answer('c', '')]],
  [
    'an image in a result moves behind it',
    [assistant(call('c')), user(result('c', [text('x'), image]), text('b'))],
    [
      calling('c'),
      answer('c', 'x\n\n(The image is in the next user message.)'),
      { role: 'user', content: [wireImage] },
      { role: 'user', content: 'b' },
    ],
    ['~i'],
  ],
  [
    'an image in a result stays where it may',
    [assistant(call('c')), user(result('c', [text('x'), image]))],
    [calling('c'), { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'x' }, wireImage] }],
    [],
    { toolImages: true },
  ],
  [
    'a refusal is a part',
    [assistant({ type: 'refusal', text: 'no' })],
    [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
  ],
  [
    'or text',
    [assistant({ type: 'refusal', text: 'no', at: 'x' })],
    [{ role: 'assistant', content: 'no' }],
    ['~x'],
    { fields: new Set() },
  ],
  ['a name', [{ ...user(text('a')), name: 'n' }], [{ role: 'user', content: 'a', name: 'n' }]],
  [
    'a name that the vendor refuses',
    [{ ...user(text('a')), name: 'n' }],
    [{ role: 'user', content: 'a' }],
    ['-u.name'],
    { fields: new Set() },
  ],
  [
    'marks stay where the vendor has them',
    [user(text('a', { cache: { ttl: '1h' } }))],
    [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
    [],
    marks,
  ],
  [
    'marks are lost elsewhere',
    [user(text('a', { cache: {} }))],
    [{ role: 'user', content: 'a' }],
    ['-t.cache_control'],
  ],
  [
    'marks as breakpoints',
    [user(text('a', { cache: {} }))],
    [{ role: 'user', content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }] }],
    ['~t.cache_control'],
    { cacheMarks: 'prompt_cache_breakpoint' },
  ],
  [
    'a marked result',
    [assistant(call('c')), user(result('c', [text('x')], { cache: {} }))],
    [
      calling('c'),
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] },
    ],
    [],
    marks,
  ],
  ['reasoning is dropped', [assistant(thinking('x', own), text('a'))], [{ role: 'assistant', content: 'a' }], ['-th']],
  [
    'or sent back as text where it called',
    [assistant(thinking('x'), call('c')), user(result('c')), assistant(thinking('y'), text('a'))],
    [{ ...calling('c'), reasoning_content: 'x' }, answer('c'), { role: 'assistant', content: 'a' }],
    ['-th'],
    { reasoningHistory: { field: 'reasoning_content', on: 'calls', required: true } },
  ],
  [
    'or an empty text where it is lost but required',
    [assistant(thinking('x', { format: 'messages', data: 's' }), call('c')), user(result('c'))],
    [{ ...calling('c'), reasoning_content: '' }, answer('c')],
    ['-th', '~a.reasoning_content'],
    { reasoningHistory: { field: 'reasoning_content', on: 'calls', required: true } },
  ],
  [
    'or as the entries that it came in',
    [
      assistant(
        thinking('x', own),
        { type: 'redacted-thinking', signature: { format: 'chat', data: '{"type":"reasoning.encrypted","data":"d"}' } },
        thinking('z'),
        thinking('y', { format: 'messages', data: 's' }),
        text('a'),
      ),
    ],
    [
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.text', text: 'x', index: 0, signature: 's' },
          { type: 'reasoning.encrypted', data: 'd' },
          { type: 'reasoning.text', text: 'z' },
        ],
      },
    ],
    ['-th'],
    { reasoningHistory: { field: 'reasoning_details', on: 'all', required: false } },
  ],
  ['a turn of lost reasoning alone is left out', [assistant(thinking('x'))], [], ['-th']],
  [
    'a PDF is a file',
    [
      user({
        type: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' },
        title: 'n.pdf',
        cite: true,
        at: 'd',
      }),
    ],
    [
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'n.pdf', file_data: 'data:application/pdf;base64,AA' } }],
      },
    ],
    ['-d.citations'],
  ],
  [
    'a text document is text',
    [user({ type: 'document', source: { kind: 'text', text: 'x' }, title: 'n', at: 'd' })],
    [{ role: 'user', content: 'n\n\nx' }],
    ['~d'],
  ],
  [
    'a search result is text',
    [user({ type: 'search-result', source: 's', title: 'n', content: [{ type: 'text', text: 'x' }], at: 'd' })],
    [{ role: 'user', content: 'n (s)\n\nx' }],
    ['~d'],
  ],
  [
    'sound',
    [user({ type: 'audio', data: 'AA', format: 'wav' })],
    [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
  ],
  [
    'the finest detail',
    [user({ ...image, detail: 'original' })],
    [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'auto' } }],
      },
    ],
    ['~i.detail'],
  ],
  [
    'a document of texts is its texts, under its title, marked at its end',
    [
      user({
        type: 'document',
        source: { kind: 'content', parts: [text('a'), text('b')] },
        title: 'T',
        context: '',
        cache: {},
        at: 'd',
      }),
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'T' },
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
    ['~d'],
    marks,
  ],
  [
    'a document of texts without a title',
    [user({ type: 'document', source: { kind: 'content', parts: [text('a')] }, at: 'd' })],
    [{ role: 'user', content: 'a' }],
    ['~d'],
  ],
  [
    'citations are lost',
    [user(text('a', { citations: [{ type: 'url', url: 'u' }] }))],
    [{ role: 'user', content: 'a' }],
    ['-t.citations'],
  ],
  [
    'of two marks at one end, the outer counts',
    [assistant(call('c')), user(result('c', [text('ok', { cache: {} })], { cache: {} }))],
    [
      calling('c'),
      {
        role: 'tool',
        tool_call_id: 'c',
        content: [{ type: 'text', text: 'ok', cache_control: { type: 'ephemeral' } }],
      },
    ],
    ['-t.cache_control'],
    marks,
  ],
  [
    'a foreign block is lost',
    [user(text('a'), { type: 'opaque', wire: 'messages', raw: { type: 'x' }, at: 'o' })],
    [{ role: 'user', content: 'a' }],
    ['-o'],
  ],
  [
    "a call's foreign payload is lost",
    [assistant(call('c', { signature: { format: 'gemini', data: 's' } })), user(result('c'))],
    [calling('c'), answer('c')],
    ['-c-c.signature'],
  ],
  [
    'arguments as an object',
    [assistant(call('c', { input: { x: 1 } })), user(result('c'))],
    [calling('c'), answer('c')],
  ],
  [
    'no arguments',
    [assistant(call('c', { input: '' })), user(result('c'))],
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      answer('c'),
    ],
  ],
  [
    'members of another format are lost where a part becomes text',
    [
      user(
        { type: 'document', source: { kind: 'text', text: 'a' }, extra: foreign('a'), at: 'd' },
        { type: 'document', source: { kind: 'content', parts: [] }, title: 'b', extra: foreign('b'), at: 'e' },
        { type: 'search-result', source: 's', title: 'c', content: [], extra: foreign('c'), at: 's' },
      ),
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c (s)' },
        ],
      },
    ],
    ['~d', '-messages.a', '~e', '-messages.b', '~s', '-messages.c'],
  ],
  [
    'members of another format are lost with their part, or turn',
    [
      user({ type: 'opaque', wire: 'messages', raw: {}, extra: foreign('d'), at: 'o' }),
      assistant(text('x'), { ...thinking('y'), extra: foreign('e') }),
      { ...user(), extra: foreign('f') },
    ],
    [{ role: 'assistant', content: 'x' }],
    ['-o', '-messages.d', '-th', '-messages.e', '-messages.f'],
  ],
  [
    'own extra members go back to their places, foreign ones are lost',
    [
      {
        ...user(text('a', { extra: { wire: 'chat', at: 't', fields: { p: 1 } } })),
        extra: { wire: 'messages', at: 'messages', fields: { q: 1 } },
      },
    ],
    [{ role: 'user', content: [{ type: 'text', text: 'a', p: 1 }] }],
    ['-messages.q'],
  ],
  [
    'also those of calls',
    [
      assistant(
        call('c', { extra: { wire: 'chat', at: 'c-c', fields: { p: 1 } } }),
        call('d', { extra: foreign('q') }),
      ),
      user(result('c'), result('d')),
    ],
    [{ ...calling('c', 'd'), tool_calls: [{ ...wireCall('c'), p: 1 }, wireCall('d')] }, answer('c'), answer('d')],
    ['-messages.q'],
  ],
  [
    'a refusal of the user is text',
    [user({ type: 'refusal', text: 'no', at: 'x' })],
    [{ role: 'user', content: 'no' }],
    ['~x'],
  ],
  ['a call of the user is lost', [user(text('a'), call('c'))], [{ role: 'user', content: 'a' }], ['-c-c']],
];

for (const [title, turns, messages, losses = [], dialect = {}] of conversations) {
  test(`messages: ${title}`, (t) => {
    // An answer begun by the client is a case of its own.
    const encoded = encode({ turns: [...turns, user(text('Go on.'))] }, dialect);
    t.deepEqual<unknown, unknown>(encoded.body.messages, [...messages, { role: 'user', content: 'Go on.' }]);
    t.deepEqual(encoded.losses, [...losses]);
    const added = encode({ turns: pathless([...turns, user(text('Go on.'))]) }, dialect);
    t.deepEqual<unknown, unknown>(added.body, encoded.body);
    t.deepEqual(added.losses, [...new Set(losses.map((loss) => loss.replace(/\b[^.]+/, 'messages')))]);
  });
}

test('an answer prefix is marked where the vendor continues it, else a loss', (t) => {
  const turns = [user(text('Say it.')), assistant(text('I say'))];
  const begun = { role: 'assistant', content: 'I say' };
  const { body, losses } = encode({ turns });
  t.deepEqual<unknown, unknown>(body.messages, [{ role: 'user', content: 'Say it.' }, begun]);
  t.deepEqual(losses, ['~a']);
  t.deepEqual(encode({ turns: pathless(turns) }).losses, ['~messages']);
  const marked = encode({ turns }, { finalAssistant: 'prefix' });
  t.deepEqual<unknown, unknown>(marked.body.messages, [
    { role: 'user', content: 'Say it.' },
    { ...begun, prefix: true },
  ]);
  t.deepEqual(marked.losses, []);
});

test('instructions are one message, with parts only if cache marks need them', (t) => {
  const system = [
    { type: 'text', text: 'a', at: 's0' },
    { type: 'text', text: 'b', cache: {}, at: 's1' },
  ] as const;
  t.deepEqual(encode({ system }).body.messages, [{ role: 'system', content: 'a\n\nb' }]);
  t.deepEqual(encode({ system }).losses, ['-s1.cache_control']);
  t.deepEqual(encode({ system }, { systemRole: 'developer', ...marks }).body.messages, [
    {
      role: 'developer',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
      ],
    },
  ]);
});

const documents: readonly (readonly [title: string, part: Part, dialect?: Partial<ChatDialect>])[] = [
  ['a document by URL', { type: 'document', source: { kind: 'url', url: 'u' }, at: 'd' }],
  ['a document by file id', { type: 'document', source: { kind: 'file', id: 'x' }, at: 'd' }],
  [
    'a document of another kind',
    { type: 'document', source: { kind: 'base64', mediaType: 'application/zip', data: '' }, at: 'd' },
  ],
  ['an image by file id', { type: 'image', source: { kind: 'file', id: 'x' }, at: 'd' }],
  ['an image for a blind model', { ...image, at: 'd' }, { images: false }],
  [
    'a PDF for a vendor without files',
    { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: '' }, at: 'd' },
    { files: false },
  ],
  ['sound for a deaf vendor', { type: 'audio', data: '', format: 'wav', at: 'd' }, { audio: false }],
];

for (const [title, part, dialect] of documents) {
  test(`refused: ${title}`, (t) => {
    t.deepEqual(refusal({ turns: [user(part)] }, dialect), ['unsupported', 'd']);
    t.deepEqual(refusal({ turns: pathless([user(part)]) }, dialect), ['unsupported', 'messages']);
  });
}

const f = { type: 'function', name: 'f', parameters: { type: 'object' }, at: 'tools[0]' } as const;
const g = {
  type: 'custom',
  name: 'g',
  format: { type: 'grammar', syntax: 'lark', definition: 'x' },
  at: 'tools[1]',
} as const;
const search = {
  type: 'web-search',
  maxUses: 2,
  allowedDomains: ['h'],
  raw: { wire: 'messages', value: {} },
  at: 'tools[2]',
} as const;
const hosted = {
  type: 'hosted',
  wire: 'messages',
  kind: 'code_execution',
  name: 'code',
  raw: {},
  at: 'tools[3]',
} as const;
const wireF: JsonObject = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
const few: Partial<ChatDialect> = { fields: new Set() };

const toolCases: readonly (readonly [
  title: string,
  request: Partial<ModelRequest>,
  expected: JsonObject,
  losses?: readonly string[],
  dialect?: Partial<ChatDialect>,
])[] = [
  ['a function', { tools: [f] }, { tools: [wireF] }],
  [
    'strict and marks',
    { tools: [{ ...f, strict: true, cache: {} }] },
    {
      tools: [
        {
          type: 'function',
          function: { name: 'f', parameters: { type: 'object', properties: {} }, strict: true },
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
    [],
    marks,
  ],
  [
    'neither',
    { tools: [{ ...f, strict: true, cache: {} }] },
    { tools: [wireF] },
    ['-tools[0].strict', '-tools[0].cache_control'],
    few,
  ],
  [
    'a custom tool',
    { tools: [g] },
    {
      tools: [
        {
          type: 'custom',
          custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
      ],
    },
  ],
  [
    'a custom tool whose grammar is nested already',
    { tools: [{ ...g, format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } }] },
    {
      tools: [
        {
          type: 'custom',
          custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
      ],
    },
  ],
  [
    'a custom tool as a function',
    { tools: [g] },
    {
      tools: [
        {
          type: 'function',
          function: {
            name: 'g',
            description: '`input` must follow this lark grammar:\nx',
            parameters: {
              type: 'object',
              properties: { input: { type: 'string' } },
              required: ['input'],
              additionalProperties: false,
            },
          },
        },
      ],
    },
    ['~tools[1]'],
    few,
  ],
  [
    'members of another format on such a tool',
    {
      tools: [
        { type: 'custom', name: 'g', extra: { wire: 'messages', at: 'tools', fields: { odd: 1 } }, at: 'tools[0]' },
      ],
    },
    {
      tools: [
        {
          type: 'function',
          function: {
            name: 'g',
            parameters: {
              type: 'object',
              properties: { input: { type: 'string' } },
              required: ['input'],
              additionalProperties: false,
            },
          },
        },
      ],
    },
    ['~tools[0]', '-tools.odd'],
    few,
  ],
  ['a hosted tool is lost', { tools: [f, hosted] }, { tools: [wireF] }, ['-tools[3]']],
  ['a search is lost', { tools: [f, search] }, { tools: [wireF] }, ['-tools[2]']],
  [
    'a search by options',
    { model: 'gpt-x-search', tools: [search] },
    { web_search_options: {} },
    ['-tools[2].max_uses', '-tools[2].allowed_domains'],
  ],
  [
    'a search by options, with its context and place',
    {
      model: 'gpt-x-search',
      tools: [
        {
          type: 'web-search',
          contextSize: 'low',
          userLocation: { type: 'approximate', city: 'Bern' },
          raw: search.raw,
        },
      ],
    },
    {
      web_search_options: {
        search_context_size: 'low',
        user_location: { type: 'approximate', approximate: { city: 'Bern' } },
      },
    },
  ],
  [
    'a search with members of another format',
    {
      model: 'gpt-x-search',
      tools: [
        {
          type: 'web-search',
          raw: search.raw,
          extra: { wire: 'messages', at: 'tools', fields: { odd: 1 } },
        },
      ],
    },
    { web_search_options: {} },
    ['-tools.odd'],
  ],
  [
    'a search beside plugins of the client',
    { tools: [search], extra: { wire: 'chat', at: '', fields: { plugins: [{ id: 'x' }] } } },
    { plugins: [{ id: 'x' }, { id: 'web', include_domains: ['h'] }] },
    ['-tools[2].max_uses'],
    { webSearch: 'plugins' },
  ],
  [
    'a search by plugin',
    { tools: [search] },
    { plugins: [{ id: 'web', include_domains: ['h'] }] },
    ['-tools[2].max_uses'],
    { webSearch: 'plugins' },
  ],
  [
    'a search by settings',
    { tools: [search] },
    { search_settings: { include_domains: ['h'] } },
    ['-tools[2].max_uses'],
    { webSearch: 'search_settings' },
  ],
  [
    'choices',
    { tools: [f], toolChoice: { type: 'required' }, parallelToolCalls: false },
    { tools: [wireF], tool_choice: 'required', parallel_tool_calls: false },
  ],
  [
    'a named one',
    { tools: [f], toolChoice: { type: 'tool', name: 'f' } },
    { tools: [wireF], tool_choice: { type: 'function', function: { name: 'f' } } },
  ],
  [
    'without tools they are left out',
    { toolChoice: { type: 'auto' }, parallelToolCalls: false },
    {},
    ['-parallel_tool_calls'],
  ],
  [
    'without tools nothing is lost of their defaults',
    { toolChoice: { type: 'auto' }, parallelToolCalls: true },
    {},
    [],
  ],
  ['a forced one is lost', { toolChoice: { type: 'required' } }, {}, ['-tool_choice']],
  [
    'allowed tools',
    { tools: [f, g], toolChoice: { type: 'allowed', required: true, names: ['g'] } },
    {
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'g' } }] },
      },
    },
  ],
  [
    'allowed tools by leaving out',
    { tools: [f, { ...f, name: 'h' }], toolChoice: { type: 'allowed', required: false, names: ['f'] } },
    { tools: [wireF], tool_choice: 'auto' },
    ['~tool_choice', '-tools[0]'],
    few,
  ],
];

for (const [title, request, expected, losses = [], dialect = {}] of toolCases) {
  test(`tools: ${title}`, (t) => {
    const encoded = encode(request, dialect);
    const { model: _, messages: __, tools: written, ...rest } = encoded.body;
    const { tools, ...others } = expected;
    if (tools !== undefined || !request.tools) t.deepEqual(written, tools);
    t.deepEqual(rest, others);
    t.deepEqual(encoded.losses, [...losses]);
    const added = encode({ ...request, tools: pathless(request.tools ?? []) }, dialect);
    t.deepEqual(added.losses, [...new Set(losses.map((loss) => loss.replace(/\[\d\]/, '')))]);
  });
}

test('a choice that forces a lost tool is refused', (t) => {
  t.deepEqual(refusal({ tools: [f, hosted], toolChoice: { type: 'tool', name: 'code' } }), [
    'unsupported',
    'tool_choice',
  ]);
  t.deepEqual(refusal({ tools: [hosted], toolChoice: { type: 'required' } }), ['unsupported', 'tool_choice']);
  t.deepEqual(refusal({ tools: [f], toolChoice: { type: 'opaque', wire: 'responses', value: {} } }), [
    'unsupported',
    'tool_choice',
  ]);
});

test('invalid names are changed consistently', (t) => {
  const name = 'a.b';
  const { body } = encode({
    tools: [{ ...f, name }],
    toolChoice: { type: 'tool', name },
    turns: [assistant(call('c', { name })), user(result('c'))],
  });
  t.like(body, {
    tools: [{ function: { name: 'a_b' } }],
    tool_choice: { function: { name: 'a_b' } },
    messages: [{ tool_calls: [{ function: { name: 'a_b' } }] }],
  });
});

test("a custom call's text is its `input`, else all of it", (t) => {
  for (const [input, text] of [
    [{ input: 'free' }, 'free'],
    ['{"x":1}', '{"x":1}'],
    [{ x: 1 }, '{"x":1}'],
    ['free', 'free'],
  ] as const) {
    const turns = [assistant(call('c', { name: 'g', input })), user(result('c'))];
    t.like(encode({ tools: [g], turns }).body, { messages: [{ tool_calls: [{ custom: { input: text } }] }] });
  }
});

test('a custom call goes out as the tool does', (t) => {
  const turns = [assistant(call('c', { name: 'g', input: '{"input":"free"}' })), user(result('c'))];
  t.like(encode({ tools: [g], turns }).body, {
    messages: [{ tool_calls: [{ type: 'custom', custom: { name: 'g', input: 'free' } }] }],
  });
  t.like(encode({ tools: [g], turns }, few).body, {
    messages: [{ tool_calls: [{ type: 'function', function: { arguments: '{"input":"free"}' } }] }],
  });
});

const rigid: Partial<ChatDialect> = {
  fields: new Set([...plainDialect.fields].filter((field) => field !== 'temperature' && field !== 'stop')),
};
const schema = { type: 'json-schema', schema: { type: 'object' }, name: 'a b' } as const;
const switched: Partial<ChatDialect> = {
  reasoning: { ...thinkingSwitch, efforts: { low: 'low', medium: 'high', high: 'high' } },
};
const object: Partial<ChatDialect> = { reasoning: { form: 'reasoning', efforts: plainEfforts } };

const fieldCases: readonly (readonly [
  title: string,
  request: Partial<ModelRequest>,
  expected: JsonObject,
  losses?: readonly string[],
  dialect?: Partial<ChatDialect>,
])[] = [
  ['the limit', { maxTokens: 5 }, { max_tokens: 5 }],
  [
    'the limit by its other name',
    { maxTokens: 5 },
    { max_completion_tokens: 5 },
    [],
    { maxTokens: 'max_completion_tokens' },
  ],
  [
    'sampling',
    {
      temperature: 0,
      topP: 0.5,
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 2,
      logitBias: { 1: 2 },
      stop: ['x'],
      topK: 3,
    },
    {
      temperature: 0,
      top_p: 0.5,
      seed: 1,
      presence_penalty: 1,
      frequency_penalty: 2,
      logit_bias: { 1: 2 },
      stop: ['x'],
    },
    ['-top_k'],
  ],
  [
    'what the vendor does not know',
    {
      temperature: 0,
      topK: 1,
      verbosity: 'low',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      promptCacheKey: 'k',
      stop: ['x'],
    },
    {},
    ['-temperature', '-top_k', '-verbosity', '-metadata', '-prompt_cache_key', '-service_tier', '-stop'],
    few,
  ],
  [
    'what the model refuses',
    { temperature: 0.5, stop: ['x'], topP: 1 },
    { top_p: 1 },
    ['-temperature', '-stop'],
    rigid,
  ],
  ['a temperature that is its default anyway', { temperature: 1 }, {}, [], rigid],
  ['too many stops', { stop: ['a', 'b', 'c'] }, { stop: ['a', 'b'] }, ['~stop'], { maxStops: 2 }],
  ['the user', { user: 'u' }, { user: 'u' }],
  ['the user by another name', { user: 'u' }, { user_id: 'u' }, [], { user: { field: 'user_id', fits: /^\w+$/ } }],
  [
    'a user that does not fit',
    { user: 'a b' },
    { user_id: 'c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65' },
    ['~user'],
    { user: { field: 'user_id', fits: /^\w+$/ } },
  ],
  ['JSON', { output: { type: 'json' } }, { response_format: { type: 'json_object' } }],
  [
    'a schema',
    { output: schema },
    { response_format: { type: 'json_schema', json_schema: { name: 'a_b', schema: { type: 'object' } } } },
  ],
  ['a stream', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
  ['an effort', { reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }],
  ['off', { reasoning: { mode: 'off' } }, { reasoning_effort: 'none' }],
  ['adaptive is the default', { reasoning: { mode: 'adaptive' } }, {}],
  ['budget 0', { reasoning: { mode: 'on', budget: 0 } }, { reasoning_effort: 'none' }],
  [
    'budget 1024',
    { reasoning: { mode: 'on', budget: 1024 } },
    { reasoning_effort: 'low' },
    ['~reasoning.budget_tokens'],
  ],
  [
    'budget 8192',
    { reasoning: { mode: 'on', budget: 8192 } },
    { reasoning_effort: 'medium' },
    ['~reasoning.budget_tokens'],
  ],
  [
    'budget 8193',
    { reasoning: { mode: 'on', budget: 8193 } },
    { reasoning_effort: 'high' },
    ['~reasoning.budget_tokens'],
  ],
  ['no reasoning on this model', { reasoning: { effort: 'low' } }, {}, ['-reasoning'], { reasoning: undefined }],
  ['a switch', { reasoning: { mode: 'on' } }, { thinking: { type: 'enabled' } }, [], switched],
  [
    'a switch and a word',
    { reasoning: { effort: 'medium' } },
    { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ['~reasoning.effort'],
    switched,
  ],
  ['a switch turned off', { reasoning: { mode: 'off' } }, { thinking: { type: 'disabled' } }, [], switched],
  [
    'a word that is missing',
    { reasoning: { effort: 'max' } },
    { thinking: { type: 'enabled' } },
    ['-reasoning.effort'],
    switched,
  ],
  [
    'an object',
    { reasoning: { effort: 'xhigh', show: 'hidden' } },
    { reasoning: { effort: 'xhigh', exclude: true } },
    [],
    object,
  ],
  [
    'an object with a budget',
    { reasoning: { mode: 'on', budget: 2000 } },
    { reasoning: { max_tokens: 2000 } },
    [],
    object,
  ],
  ['an object, adaptive', { reasoning: { mode: 'adaptive' } }, {}, [], object],
  [
    'an object between tools',
    { reasoning: { mode: 'between-tools' } },
    { reasoning: { enabled: true } },
    ['~reasoning.mode'],
    object,
  ],
  ['an object turned on', { reasoning: { mode: 'on' } }, { reasoning: { enabled: true } }, [], object],
  [
    'own extra',
    { extra: { wire: 'chat', at: '', fields: { a: 1, b: 2 } } },
    { a: 1 },
    ['-b'],
    { rejectedExtra: new Set(['b']) },
  ],
  [
    'own stream options',
    { stream: true, extra: { wire: 'chat', at: '', fields: { stream_options: { o: 1 } } } },
    { stream: true, stream_options: { include_usage: true, o: 1 } },
  ],
  [
    'they need a stream',
    { extra: { wire: 'chat', at: '', fields: { stream_options: { o: 1 } } } },
    {},
    ['-stream_options.o'],
  ],
  ['foreign extra', { extra: { wire: 'messages', at: '', fields: { container: 'x' } } }, {}, ['-container']],
  [
    'extra whose place is taken',
    { user: 'u', extra: { wire: 'chat', at: '', fields: { user: 'v' } } },
    { user: 'u' },
    ['-user'],
  ],
  ['a mark of its own', { cache: {} }, {}, ['-cache_control']],
  ['a mark of its own where there are marks', { cache: {} }, { cache_control: { type: 'ephemeral' } }, [], marks],
];

for (const [title, request, expected, losses = [], dialect = {}] of fieldCases) {
  test(`fields: ${title}`, (t) => {
    const encoded = encode(request, dialect);
    const { model: _, messages: __, ...rest } = encoded.body;
    t.deepEqual(rest, expected);
    t.deepEqual(encoded.losses, [...losses]);
  });
}

test('usage of a stream is always asked for, except from a vendor that refuses the field', (t) => {
  for (const passes of [true, false]) {
    t.deepEqual(encode({ stream: true }, {}, passes).body.stream_options, { include_usage: true });
    t.is(encode({ stream: true }, { streamUsage: false }, passes).body.stream_options, undefined);
    t.is(encode({ stream: false }, {}, passes).body.stream_options, undefined);
  }
});

test("a schema's description and strictness go with it", (t) => {
  const { body } = encode({ output: { ...schema, description: 'd', strict: true } });
  t.like(body.response_format, { json_schema: { name: 'a_b', description: 'd', strict: true } });
  const plain = encode({ output: schema }).body.response_format;
  t.deepEqual<unknown, unknown>(plain, {
    type: 'json_schema',
    json_schema: { name: 'a_b', schema: { type: 'object' } },
  });
});

test('a vendor whose prompt must contain the word gets an instruction where it does not', (t) => {
  const { body, losses } = encode({ output: { type: 'json' }, turns: [user(text('x'))] }, { jsonWord: true });
  t.deepEqual(body.response_format, { type: 'json_object' });
  t.like(body.messages, [{ role: 'system', content: 'Answer in JSON.' }]);
  t.deepEqual(losses, ['~response_format']);
  const saying: readonly Partial<ModelRequest>[] = [
    { system: [{ type: 'text', text: 'Use JSON.' }] },
    { turns: [user(text('as json'))] },
    { turns: [assistant(call('c')), user(result('c', [text('not JSON')]))] },
  ];
  for (const request of saying) {
    t.deepEqual(encode({ output: { type: 'json' }, ...request }, { jsonWord: true }).losses, []);
  }
});

test('a schema that the vendor does not take becomes an instruction', (t) => {
  const note = 'Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{"type":"object"}';
  const noSchema = encode({ output: schema }, { jsonSchema: false });
  t.deepEqual(noSchema.body.response_format, { type: 'json_object' });
  t.deepEqual(noSchema.body.messages, [{ role: 'system', content: note }]);
  t.deepEqual(noSchema.losses, ['~response_format']);
  const nothing = encode({ output: schema }, { jsonSchema: false, jsonMode: false });
  t.is(nothing.body.response_format, undefined);
  t.deepEqual(nothing.body.messages, [{ role: 'system', content: note }]);
});
