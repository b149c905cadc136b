import test from 'ava';
import type { RequestContext } from '../../../engine/model/context.ts';
import { FaultError } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import type { FunctionTool, ModelRequest, Part, Reasoning, Turn } from '../../../engine/model/request.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { decodeRequest } from '../../../protocols/messages/decode-request/decode-request.ts';
import { encodeRequest } from '../../../protocols/messages/encode-request/encode-request.ts';
import { plainRequest } from '../../support/context.ts';
import { pathless } from '../../support/pathless.ts';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';
import { expected, recording, recordings } from './fixtures.ts';

const context = (): RequestContext => ({
  names: new ToolNames(),
  losses: new Losses('test'),
  replyIsRelayed: false,
});

/** The body as it goes out, without members that are undefined, and what was lost: `path` dropped, `~path` approximated. */
const encode = (request: ModelRequest): { body: JsonObject; losses: string[] } => {
  const using = context();
  const body = JSON.parse(JSON.stringify(encodeRequest(request, using)));
  return { body, losses: using.losses.list.map(({ path, outcome }) => (outcome === 'dropped' ? path : `~${path}`)) };
};

const says = (role: Turn['role'], ...parts: Part[]): Turn => ({ role, parts });
const text = (words: string, at?: string): Part => ({ type: 'text', text: words, at });
const call = (id: string, at?: string): Part => ({ type: 'tool-call', id, name: 'f', input: '{"a":1}', at });
const result = (id: string, words: string, at?: string): Part => ({
  type: 'tool-result',
  id,
  content: [text(words)],
  at,
});
const thinking = (format = 'messages'): Part => ({
  type: 'thinking',
  text: 'hm',
  signature: { format, data: 's' },
  at: 'th',
});
const f: FunctionTool = { type: 'function', name: 'f', at: 'tools[0]' };
const hi = says('user', text('hi'));
const asked = (over: Partial<ModelRequest>): ModelRequest => ({ ...plainRequest, turns: [hi], tools: [f], ...over });

/** Messages in short: `u:text`, `a:text call(id)`, `u:result(id)=text`. */
const brief = ({ messages }: JsonObject): string =>
  (Array.isArray(messages) ? messages : [])
    .map(({ role, content }) => `${role[0]}:${content.map(briefBlock).join(' ')}`)
    .join(' | ');

const briefBlock = (block: JsonObject): string => {
  const content = Array.isArray(block.content) ? block.content.filter(isJsonObject).map(briefBlock).join('+') : '';
  if (block.type === 'tool_use') return `call(${String(block.id)})`;
  if (block.type === 'tool_result')
    return `result(${String(block.tool_use_id)})${block.is_error ? '!' : ''}=${content}`;
  return block.type === 'text' ? String(block.text) : String(block.type);
};

const histories: readonly (readonly [
  title: string,
  turns: readonly Turn[],
  messages: string,
  losses?: readonly string[],
])[] = [
  [
    'neighbours are one turn',
    [says('user', text('a')), says('user', text('b')), says('assistant', text('c')), says('assistant', text('d')), hi],
    'u:a b | a:c d | u:hi',
  ],
  ['instructions stay where they are', [hi, says('system', text('x')), says('system', text('y'))], 'u:hi | s:x | s:y'],
  ['empty texts and turns go', [says('user', text('')), says('assistant', text('  ')), hi], 'u:hi'],
  ['nothing is left', [says('user', text(''))], 'u:.', ['~messages']],
  [
    'results come first',
    [hi, says('assistant', call('1')), says('user', text('and'), result('1', 'r'))],
    'u:hi | a:call(1) | u:result(1)=r and',
  ],
  [
    'the results of parallel calls are in one turn, in the order of the calls',
    [
      hi,
      says('assistant', call('1'), call('2')),
      says('user', result('2', 'b')),
      says('user', result('1', 'a')),
      says('user', text('go')),
    ],
    'u:hi | a:call(1) call(2) | u:result(1)=a result(2)=b go',
  ],
  [
    'results come before instructions that stand between',
    [hi, says('assistant', call('1')), says('system', text('x')), says('user', result('1', 'r'), text('go'))],
    'u:hi | a:call(1) | u:result(1)=r | s:x | u:go',
  ],
  [
    'a late result is moved to its call',
    [
      hi,
      says('assistant', call('1'), call('2')),
      says('user', result('1', 'a')),
      says('assistant', text('wait')),
      says('user', result('2', 'b', 'late')),
    ],
    'u:hi | a:call(1) call(2) | u:result(1)=a result(2)=b | a:wait',
    ['~late'],
  ],
  [
    'a call without a result',
    [hi, says('assistant', call('1', 'here')), says('user', text('never mind'))],
    'u:hi | a:call(1) | u:result(1)!=This call was not carried out. never mind',
    ['~here'],
  ],
  [
    'a call at the end',
    [hi, says('assistant', call('1', 'here'))],
    'u:hi | a:call(1) | u:result(1)!=This call was not carried out.',
    ['~here'],
  ],
  [
    'a result without a call',
    [says('user', result('9', 'r', 'here'), text('b'))],
    'u:Result of a tool call: r b',
    ['~here'],
  ],
  [
    'a second result',
    [hi, says('assistant', call('1')), says('user', result('1', 'a'), result('1', 'b', 'twice'))],
    'u:hi | a:call(1) | u:result(1)=a Result of a tool call: b',
    ['~twice'],
  ],
  [
    'ids are made plain and unique, on both sides',
    [
      hi,
      says('assistant', call('a.1'), call('a:1')),
      says('user', result('a:1', 'y'), result('a.1', 'x')),
      says('assistant', call('a.1')),
      says('user', result('a.1', 'z')),
    ],
    'u:hi | a:call(a_1) call(a_1_2) | u:result(a_1)=x result(a_1_2)=y | a:call(a_1_3) | u:result(a_1_3)=z',
  ],
  [
    'own thinking stays, foreign goes',
    [hi, says('assistant', thinking('gemini'), thinking(), text('a')), hi],
    'u:hi | a:thinking a | u:hi',
    ['th'],
  ],
  ['a turn of foreign thinking alone goes', [hi, says('assistant', thinking('chat')), hi], 'u:hi hi', ['th']],
  [
    'unsigned thinking goes',
    [hi, says('assistant', { type: 'thinking', text: 'x', at: 'th' }, text('a')), hi],
    'u:hi | a:a | u:hi',
    ['th'],
  ],
  [
    'refusals become text',
    [hi, says('assistant', { type: 'refusal', text: 'no', at: 'here' }), hi],
    'u:hi | a:no | u:hi',
    ['~here'],
  ],
  [
    'blocks of this wire stay, others go',
    [
      hi,
      says(
        'assistant',
        { type: 'opaque', wire: 'messages', raw: { type: 'compaction' } },
        { type: 'opaque', wire: 'responses', raw: { type: 'x' }, at: 'here' },
      ),
      hi,
    ],
    'u:hi | a:compaction | u:hi',
    ['here'],
  ],
  ['an answer begun ends in no white space', [hi, says('assistant', text('so ', 'here'))], 'u:hi | a:so', ['~here']],
  ['names of speakers', [{ role: 'user', name: 'Ann', at: 'm[0]', parts: [text('a')] }], 'u:a', ['m[0].name']],
];
for (const [title, turns, messages, losses = []] of histories) {
  test(`history: ${title}`, (t) => {
    const out = encode(asked({ turns }));
    t.is(brief(out.body), messages);
    t.deepEqual(out.losses, losses);
    const added = encode(asked({ turns: pathless(turns) }));
    t.is(brief(added.body), messages);
    t.deepEqual(added.losses, [...new Set(losses.map((loss) => loss.replace(/\b[^.]+/, 'messages')))]);
  });
}

test('members of a turn that only this protocol knows go out with it', (t) => {
  const extra = { wire: 'messages', at: 'messages[0]', fields: { odd: 1 } } as const;
  t.like(encode(asked({ turns: [{ ...hi, extra }] })).body, { messages: [{ role: 'user', odd: 1 }] });
  const foreign = encode(asked({ turns: [{ ...hi, name: 'n', extra: { ...extra, wire: 'chat' } }] }));
  t.like(foreign.body, { messages: [{ odd: undefined }] });
  t.deepEqual(foreign.losses, ['messages.name', 'messages[0].odd']);
});

test('a long history costs linear time', (t) => {
  const turns = Array.from({ length: 20_000 }, () => [
    says('assistant', call('same')),
    says('user', result('same', 'r')),
  ]).flat();
  const startedMs = cpuTimeMs();
  const { body } = encode(asked({ turns: [hi, ...turns] }));
  t.is(Array.isArray(body.messages) ? body.messages.length : 0, 40_001);
  t.true(cpuTimeMs() - startedMs < 5000);
});

const blocks: readonly (readonly [title: string, part: Part, block: JsonObject, losses?: readonly string[]])[] = [
  [
    'cache mark',
    { type: 'text', text: 'a', cache: { ttl: '1h' } },
    { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  [
    'image data',
    { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA' }, detail: 'high', at: 'here' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
    ['here.detail'],
  ],
  [
    'image url',
    { type: 'image', source: { kind: 'url', url: 'u' }, detail: 'auto' },
    { type: 'image', source: { type: 'url', url: 'u' } },
  ],
  [
    'pdf',
    { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' }, title: 't' },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' }, title: 't' },
  ],
  [
    'a text file',
    { type: 'document', source: { kind: 'base64', mediaType: 'text/plain', data: 'aMOp' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hé' } },
  ],
  [
    'a foreign citation',
    { type: 'text', text: 'a', citations: [{ type: 'url', url: 'u', title: 't' }], at: 'here' },
    {
      type: 'text',
      text: 'a',
      citations: [{ type: 'web_search_result_location', url: 'u', title: 't', encrypted_index: '', cited_text: '' }],
    },
    ['~here.citations'],
  ],
  [
    'what another wire said beside it',
    { type: 'text', text: 'a', extra: { wire: 'chat', at: 'messages[0]', fields: { weight: 1 } } },
    { type: 'text', text: 'a' },
    ['messages[0].weight'],
  ],
];
for (const [title, part, block, losses = []] of blocks) {
  test(`block: ${title}`, (t) => {
    const out = encode(asked({ turns: [says('user', part)] }));
    t.deepEqual(out.body.messages, [{ role: 'user', content: [block] }]);
    t.deepEqual(out.losses, losses);
  });
}

test('a call’s broken arguments become {}', (t) => {
  const broken: Part = {
    type: 'tool-call',
    id: '1',
    name: 'f',
    input: '{"a',
    at: 'here',
    signature: { format: 'gemini', data: 's' },
  };
  const out = encode(asked({ turns: [hi, says('assistant', broken), says('user', result('1', 'r'))] }));
  t.like(Array.isArray(out.body.messages) && out.body.messages[1].content[0], { type: 'tool_use', input: {} });
  t.deepEqual(out.losses, ['~here.input', 'here.signature']);
});

const refused: readonly (readonly [title: string, over: Partial<ModelRequest>, param: string])[] = [
  ['audio', { turns: [says('user', { type: 'audio', data: 'AA', format: 'wav', at: 'here' })] }, 'here'],
  [
    'another vendor’s file',
    { turns: [says('user', { type: 'image', source: { kind: 'file', id: 'x', wire: 'responses' }, at: 'here' })] },
    'here',
  ],
  [
    'a forced tool of another vendor',
    { toolChoice: { type: 'opaque', wire: 'responses', value: { type: 'file_search' } } },
    'tool_choice',
  ],
];
for (const [title, over, param] of refused) {
  test(`refused: ${title}`, (t) => {
    const error = t.throws(() => encode(asked(over)), { instanceOf: FaultError });
    t.like(error?.fault, { kind: 'unsupported', param });
  });
}

const single = { disable_parallel_tool_use: true };
const g: FunctionTool = { type: 'function', name: 'g' };
const fields: readonly (readonly [
  title: string,
  over: Partial<ModelRequest>,
  body: JsonObject,
  losses?: readonly string[],
])[] = [
  ['no limit', {}, { max_tokens: 16_000, stream: true }],
  [
    'no tools',
    { tools: [], toolChoice: { type: 'auto' }, parallelToolCalls: false },
    { tools: undefined, tool_choice: undefined },
    ['parallel_tool_calls'],
  ],
  [
    'a forced choice of no tools',
    { tools: [], toolChoice: { type: 'required' } },
    { tools: undefined, tool_choice: undefined },
    ['tool_choice'],
  ],
  ['a tool without parameters', {}, { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }] }],
  [
    'a schema that names a member twice',
    {
      tools: [
        {
          ...f,
          parameters: {
            properties: { required: { type: 'object', required: ['a', 'a'] } },
            enum: [{ required: ['b', 'b'] }],
          },
        },
      ],
    },
    {
      tools: [
        {
          name: 'f',
          input_schema: {
            type: 'object',
            properties: { required: { type: 'object', required: ['a'] } },
            enum: [{ required: ['b', 'b'] }],
          },
        },
      ],
    },
  ],
  [
    'a long name with odd characters',
    { tools: [{ ...f, name: `a.${'b'.repeat(80)}` }] },
    { tools: [{ name: `a_${'b'.repeat(62)}`, input_schema: { type: 'object', properties: {} } }] },
  ],
  [
    'a custom tool',
    {
      tools: [{ type: 'custom', name: 'patch', description: 'd', format: { definition: 'start: x' }, at: 'tools[0]' }],
    },
    {
      tools: [
        {
          name: 'patch',
          description: 'd\n\nThe input must follow this grammar:\nstart: x',
          input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        },
      ],
    },
    ['~tools[0]'],
  ],
  [
    'web search of another wire',
    {
      tools: [
        {
          type: 'web-search',
          maxUses: 2,
          allowedDomains: ['a'],
          blockedDomains: ['b'],
          contextSize: 'low',
          raw: { wire: 'responses', value: {} },
          at: 'tools[0]',
        },
      ],
    },
    { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['a'] }] },
    ['tools[0].search_context_size', 'tools[0].blocked_domains'],
  ],
  [
    'a hosted tool of another wire',
    { tools: [{ type: 'hosted', wire: 'responses', kind: 'file_search', raw: {}, at: 'tools[0]' }] },
    { tools: undefined },
    ['tools[0]'],
  ],
  [
    'tools that only the history names',
    { tools: [], turns: [hi, says('assistant', call('1')), says('user', result('1', 'r'))] },
    { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'none' } },
    ['~tools'],
  ],
  ['choice auto', { toolChoice: { type: 'auto' } }, { tool_choice: { type: 'auto' } }],
  [
    'choice none, one at a time',
    { toolChoice: { type: 'none' }, parallelToolCalls: false },
    { tool_choice: { type: 'none' } },
    ['parallel_tool_calls'],
  ],
  ['choice required', { toolChoice: { type: 'required' } }, { tool_choice: { type: 'any' } }],
  [
    'choice of one tool, one at a time',
    { toolChoice: { type: 'tool', name: 'f' }, parallelToolCalls: false },
    { tool_choice: { type: 'tool', name: 'f', ...single } },
  ],
  ['one at a time', { parallelToolCalls: false }, { tool_choice: { type: 'auto', ...single } }],
  ['many at a time', { parallelToolCalls: true }, { tool_choice: undefined }],
  [
    'choice among some',
    { tools: [f, g], toolChoice: { type: 'allowed', required: true, names: ['g'] } },
    { tools: [{ name: 'g', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'any' } },
    ['~tool_choice', 'tools[0]'],
  ],
  ['temperature above 1', { temperature: 1.7 }, { temperature: 1 }, ['~temperature']],
  [
    'sampling',
    { temperature: 0.5, topP: 0.9, topK: 3, stop: ['a', '\n'] },
    { temperature: 0.5, top_p: 0.9, top_k: 3, stop_sequences: ['a'] },
    ['stop'],
  ],
  ['user', { user: 'u' }, { metadata: { user_id: 'u' } }],
  ['tier', { serviceTier: 'default' }, { service_tier: 'standard_only' }],
  ['a tier of another vendor', { serviceTier: 'flex' }, { service_tier: undefined }, ['service_tier']],
  [
    'JSON',
    { output: { type: 'json' } },
    { system: [{ type: 'text', text: 'Reply with one JSON object and nothing else.' }] },
    ['~response_format'],
  ],
  [
    'a schema',
    { output: { type: 'json-schema', schema: { type: 'object' }, name: 'n', strict: true } },
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ['response_format.name', 'response_format.strict'],
  ],
  [
    'what this wire has no field for',
    {
      seed: 1,
      presencePenalty: 0.1,
      frequencyPenalty: 0,
      logitBias: { 5: 1 },
      verbosity: 'low',
      metadata: { a: 'b' },
      promptCacheKey: 'k',
    },
    {},
    ['seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'verbosity', 'metadata', 'prompt_cache_key'],
  ],
  [
    'fields of another wire',
    { extra: { wire: 'chat', at: '', fields: { min_p: 0.1, nothing: null } } },
    { min_p: undefined },
    ['min_p'],
  ],
  [
    'fields of this wire',
    { user: 'u', extra: { wire: 'messages', at: '', fields: { speed: 'fast', metadata: { more: 1 } } } },
    { speed: 'fast', metadata: { user_id: 'u', more: 1 } },
  ],
];
for (const [title, over, body, losses = []] of fields) {
  test(`field: ${title}`, (t) => {
    const out = encode(asked({ model: 'claude-sonnet-4-0', ...over }));
    for (const [name, value] of Object.entries(body)) t.deepEqual(out.body[name], value, name);
    t.deepEqual(out.losses, losses);
  });
}

const manual = (budget_tokens: number): JsonObject => ({ type: 'enabled', budget_tokens });
const looped = (first: Part): readonly Turn[] => [
  hi,
  says('assistant', first, call('1')),
  says('user', result('1', 'r')),
];
const plans: readonly (readonly [
  title: string,
  reasoning: Reasoning,
  over: Partial<ModelRequest>,
  body: JsonObject,
  losses?: readonly string[],
])[] = [
  [
    'own effort stays',
    { effort: 'high', wire: 'messages' },
    { model: 'claude-opus-4-5' },
    { thinking: undefined, output_config: { effort: 'high' }, max_tokens: 16_000 },
  ],
  [
    'an effort where the model has none',
    { effort: 'high', wire: 'messages' },
    {},
    { thinking: undefined, output_config: undefined, max_tokens: 16_000 },
    ['reasoning.effort'],
  ],
  ...['claude-opus-4-6', 'anthropic/claude-sonnet-4.6'].map((model): (typeof plans)[number] => [
    `${model}: xhigh`,
    { mode: 'adaptive', effort: 'xhigh', wire: 'messages' },
    { model },
    { output_config: { effort: 'max' } },
    ['~reasoning.effort'],
  ]),
  ...['claude-opus-5', 'claude-haiku-5-5'].map((model): (typeof plans)[number] => [
    `${model}: off, with an effort`,
    { mode: 'off', effort: 'max', wire: 'messages' },
    { model },
    { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
    ['~reasoning.effort'],
  ]),
  [
    'adaptive stays',
    { mode: 'adaptive', effort: 'max', show: 'auto', wire: 'messages' },
    { model: 'claude-opus-5' },
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
  ],
  [
    'between tools stays',
    { mode: 'between-tools', wire: 'messages' },
    { model: 'claude-opus-5-5' },
    { thinking: { type: 'between_tools' }, output_config: undefined },
  ],
  [
    'own budget stays',
    { mode: 'on', budget: 3000, show: 'hidden', wire: 'messages' },
    { maxTokens: 4096 },
    { thinking: { ...manual(3000), display: 'omitted' }, max_tokens: 4096 },
  ],
  ['off', { mode: 'off' }, {}, { thinking: { type: 'disabled' } }],
  ['no effort', { effort: 'none' }, {}, { thinking: { type: 'disabled' } }],
  ['minimal', { effort: 'minimal' }, { maxTokens: 20_000 }, { thinking: manual(2000), output_config: undefined }],
  ['low', { effort: 'low' }, { maxTokens: 20_000 }, { thinking: manual(4000) }],
  ['medium', { effort: 'medium' }, { maxTokens: 20_000 }, { thinking: manual(10_000) }],
  ['high', { effort: 'high' }, { maxTokens: 20_000 }, { thinking: manual(16_000), max_tokens: 20_000 }],
  ['xhigh', { effort: 'xhigh' }, { maxTokens: 20_000 }, { thinking: manual(19_000) }],
  ['max, capped', { effort: 'max' }, { maxTokens: 200_000 }, { thinking: manual(128_000) }],
  ['at least the least', { effort: 'low' }, { maxTokens: 2000 }, { thinking: manual(1024), max_tokens: 2000 }],
  ['no room', { effort: 'high' }, { maxTokens: 500 }, { thinking: manual(1024), max_tokens: 1524 }, ['~max_tokens']],
  ['no limit', { effort: 'high' }, {}, { thinking: manual(12_800), max_tokens: 28_800 }],
  ['on, no more said', { mode: 'on' }, { maxTokens: 10_000 }, { thinking: manual(5000) }],
  [
    'a budget below the least',
    { mode: 'on', budget: 100 },
    { maxTokens: 5000 },
    { thinking: manual(1024) },
    ['~reasoning.budget_tokens'],
  ],
  [
    'a budget above the limit',
    { mode: 'on', budget: 9000 },
    { maxTokens: 5000 },
    { thinking: manual(4999), max_tokens: 5000 },
    ['~reasoning.budget_tokens'],
  ],
  ['a budget without a limit', { mode: 'on', budget: 9000 }, {}, { thinking: manual(9000), max_tokens: 25_000 }],
  [
    'a summary of some length',
    { mode: 'on', budget: 2000, show: 'detailed' },
    {},
    { thinking: { ...manual(2000), display: 'summarized' } },
    ['~reasoning.summary'],
  ],
  [
    'not with a forced tool',
    { effort: 'high' },
    { toolChoice: { type: 'required' } },
    { thinking: undefined, tool_choice: { type: 'any' }, max_tokens: 16_000 },
    ['~reasoning'],
  ],
  [
    'not with sampling',
    { mode: 'on', budget: 2000 },
    { temperature: 0.2, topK: 4 },
    { thinking: manual(2000), temperature: undefined, top_k: undefined },
    ['temperature', 'top_k'],
  ],
  ['with temperature 1', { mode: 'on', budget: 2000 }, { temperature: 1 }, { thinking: manual(2000), temperature: 1 }],
  [
    'after calls with signed thinking',
    { mode: 'on', budget: 2000 },
    { turns: looped(thinking()) },
    { thinking: manual(2000) },
  ],
  [
    'after calls with foreign thinking',
    { mode: 'on', budget: 2000 },
    { turns: looped(thinking('gemini')) },
    { thinking: undefined },
    ['th', '~reasoning'],
  ],
  [
    'after calls without thinking',
    { effort: 'high' },
    { turns: looped(text('so')) },
    { thinking: undefined },
    ['~reasoning'],
  ],
  [
    'adaptive after calls without thinking',
    { mode: 'adaptive' },
    { model: 'm', turns: looped(text('so')) },
    { thinking: { type: 'adaptive' } },
  ],
  [
    'after calls that have been answered',
    { mode: 'on', budget: 2000 },
    { turns: [...looped(text('so')), says('assistant', text('done')), hi] },
    { thinking: manual(2000) },
  ],
  [
    'not when the answer is begun',
    { mode: 'on', budget: 2000 },
    { turns: [hi, says('assistant', text('so'))] },
    { thinking: undefined },
    ['~reasoning'],
  ],
];

const adaptive = (effort?: string): JsonObject => ({
  thinking: { type: 'adaptive' },
  output_config: effort === undefined ? undefined : { effort },
});
/** Models that think by themselves: the newest, and whatever isn't known to be old. */
const byThemselves = [
  'claude-opus-4-6',
  'claude-opus-5',
  'anthropic/claude-opus-5.5',
  'claude-opus-9',
  'my-deployment',
];
const newerPlans: typeof plans = byThemselves.flatMap((model): typeof plans => [
  [`${model}: an effort`, { effort: 'high' }, { model, maxTokens: 4000 }, { ...adaptive('high'), max_tokens: 4000 }],
  [`${model}: minimal`, { effort: 'minimal' }, { model }, adaptive('low'), ['~reasoning.effort']],
  [`${model}: on`, { mode: 'on' }, { model }, { ...adaptive(), max_tokens: 32_000 }],
  [`${model}: a budget`, { mode: 'on', budget: 4000 }, { model }, adaptive('medium'), ['~reasoning.budget_tokens']],
  [`${model}: after calls without thinking`, { effort: 'max' }, { model, turns: looped(text('so')) }, adaptive('max')],
  [
    `${model}: with a forced tool`,
    { effort: 'high' },
    { model: model === 'anthropic/claude-opus-5.5' ? 'm' : model, toolChoice: { type: 'required' } },
    { thinking: undefined, output_config: { effort: 'high' }, tool_choice: { type: 'any' } },
    ['~reasoning'],
  ],
]);
const offPlans: typeof plans = [
  ...['claude-sonnet-4-5', 'claude-opus-4-8', 'claude-opus-5', 'claude-opus-5-20260724', 'claude-haiku-5-5'].flatMap(
    (model): typeof plans => [
      [
        `${model}: no effort`,
        { effort: 'none' },
        { model },
        { thinking: { type: 'disabled' }, output_config: undefined },
      ],
    ],
  ),
  ...['claude-fable-5', 'claude-opus-5-5', 'claude-sonnet-5.5', 'claude-opus-9', 'my-deployment'].flatMap(
    (model): typeof plans => [
      [
        `${model}: no effort, where it always thinks`,
        { effort: 'none' },
        { model, maxTokens: 500 },
        { thinking: undefined, output_config: { effort: 'low' }, max_tokens: 500 },
        ['~reasoning'],
      ],
    ],
  ),
];
const oldPlans: typeof plans = [
  'claude-3-7-sonnet-20250219',
  'claude-sonnet-4-20250514',
  'claude-opus-4-0',
  'claude-opus-4-1-20250805',
  'anthropic/claude-haiku-4.5',
  'us.anthropic.claude-opus-4-5-20251101-v1:0',
].flatMap((model): typeof plans => [
  [`${model}: an effort is a budget`, { effort: 'high' }, { model, maxTokens: 20_000 }, { thinking: manual(16_000) }],
  [
    `${model}: a newer model's words are a budget`,
    { mode: 'adaptive', effort: 'medium', wire: 'messages' },
    { model, maxTokens: 20_000 },
    { thinking: manual(10_000), output_config: undefined },
    ['~reasoning.mode', '~reasoning.effort'],
  ],
]);
for (const [title, reasoning, over, body, losses = []] of [...plans, ...newerPlans, ...offPlans, ...oldPlans]) {
  test(`thinking: ${title}`, (t) => {
    const out = encode(asked({ model: 'claude-sonnet-4-5', reasoning, ...over }));
    for (const [name, value] of Object.entries(body)) t.deepEqual(out.body[name], value, name);
    t.deepEqual(out.losses, losses);
  });
}

const newer = ['claude-opus-4-7', 'claude-opus-5', 'claude-haiku-5-5', 'vendor/claude-opus-9', 'my-deployment'];
for (const model of newer) {
  test(`sampling that ${model} refuses is a loss`, (t) => {
    const out = encode(asked({ model, temperature: 0.5, topP: 0.9, topK: 3 }));
    t.deepEqual([out.body.temperature, out.body.top_p, out.body.top_k], [undefined, undefined, undefined]);
    t.deepEqual(out.losses, ['temperature', 'top_p', 'top_k']);
    const near = encode(asked({ model, temperature: 1, topP: 0.99 }));
    t.deepEqual([near.body.temperature, near.body.top_p, near.losses], [1, 0.99, []]);
  });
}

test('the newest models that are known to refuse a forced call choose by themselves', (t) => {
  const toolChoice = { type: 'tool', name: 'f' } as const;
  const out = encode(asked({ model: 'claude-opus-5-5', toolChoice, reasoning: { effort: 'high' } }));
  t.deepEqual([out.body.tool_choice, out.body.thinking], [{ type: 'auto' }, { type: 'adaptive' }]);
  t.deepEqual(out.losses, ['~tool_choice']);
  const unknown = encode(asked({ model: 'claude-opus-9', toolChoice }));
  t.deepEqual(unknown.body.tool_choice, { type: 'tool', name: 'f' });
});

/** A body in one spelling: content as blocks, neighbours merged, defaults written out, null members left out. */
const canonical = (body: JsonObject): JsonObject => {
  const { messages, system, stream, max_tokens, ...rest } = body;
  const merged: { role: unknown; content: unknown[] }[] = [];
  for (const message of Array.isArray(messages) ? messages : []) {
    const content = blocksOf(message.content);
    const last = merged.at(-1);
    if (last && last.role === message.role && last.role !== 'system') last.content.push(...content);
    else merged.push({ role: message.role, content });
  }
  return JSON.parse(
    JSON.stringify({
      ...rest,
      messages: merged,
      system: system && blocksOf(system),
      stream: stream ?? false,
      max_tokens: max_tokens ?? 4096,
    }),
  );
};

const blocksOf = (content: unknown): unknown[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (Array.isArray(content) ? content : []).map((block) =>
        block.type === 'tool_result' ? { ...block, content: blocksOf(block.content) } : block,
      );

for (const name of recordings('.request.json')) {
  const recorded = JSON.parse(recording(`${name}.request.json`).toString());
  // One is broken on purpose; one has no max_tokens, since it asks for a count.
  if (expected(name).http_status === 400 && name.endsWith('shape')) {
    test(`${name}: refused with its path`, (t) => {
      t.is(t.throws(() => decodeRequest(recorded), { instanceOf: FaultError })?.fault.param, 'messages[0]');
    });
    continue;
  }
  test(`${name}: request → model → request changes nothing`, (t) => {
    const out = encode(decodeRequest({ max_tokens: 4096, ...recorded }));
    t.deepEqual(out.body, canonical(recorded));
    t.deepEqual(out.losses, []);
  });
}

test('all that this wire can say comes back', (t) => {
  const rich: JsonObject = {
    model: 'm',
    max_tokens: 9000,
    system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', scope: 'global' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
          { type: 'image', source: { type: 'file', file_id: 'file_1' }, transformations: [] },
          {
            type: 'document',
            source: { type: 'content', content: [{ type: 'text', text: 'x' }] },
            title: 't',
            context: 'c',
            citations: { enabled: true },
          },
          {
            type: 'search_result',
            source: 's',
            title: 't',
            content: [{ type: 'text', text: 'x' }],
            citations: { enabled: true },
          },
          { type: 'container_upload', file_id: 'f' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          {
            type: 'text',
            text: 'b',
            citations: [{ type: 'web_search_result_location', url: 'u', encrypted_index: 'e' }],
          },
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'f',
            input: { big: [1] },
            caller: { type: 'direct' },
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            is_error: true,
            content: [{ type: 'tool_reference', tool_name: 'x' }],
            toolset_name: 'y',
          },
          { type: 'text', text: 'c' },
        ],
      },
      {
        role: 'system',
        content: [
          { type: 'text', text: 'now' },
          { type: 'tool_removal', name: 'f' },
        ],
      },
    ],
    tools: [
      {
        name: 'f',
        description: 'd',
        input_schema: { type: 'object' },
        strict: true,
        cache_control: { type: 'ephemeral' },
        input_examples: [{}],
        type: 'custom',
      },
      { type: 'web_search_20260209', name: 'web_search', max_uses: 3 },
      { type: 'bash_20250124', name: 'bash' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive', display: 'summarized', future: 1 },
    output_config: {
      effort: 'xhigh',
      format: { type: 'json_schema', schema: { type: 'object' } },
      task_budget: { total: 5 },
    },
    top_p: 0.99,
    stop_sequences: ['x'],
    metadata: { user_id: 'u', more: 1 },
    service_tier: 'standard_only',
    cache_control: { type: 'ephemeral' },
    container: 'c',
    context_management: { edits: [] },
    mcp_servers: [],
    stream: true,
  };
  const out = encode(decodeRequest(rich));
  const tools = Array.isArray(rich.tools)
    ? rich.tools.map(({ type, ...tool }) => (type === 'custom' ? tool : { type, ...tool }))
    : [];
  t.deepEqual(out.body, { ...rich, tools });
  t.deepEqual(out.losses, []);
});

const begun = [hi, { ...says('assistant', text('so')), at: 'messages[1]' }];

for (const model of [
  'claude-opus-4-6',
  'claude-sonnet-4-6',
  'claude-opus-5-5',
  'claude-next',
  'us.anthropic.claude-fable-5-2',
]) {
  test(`${model} doesn't continue an answer: the user has the last word`, (t) => {
    for (const client of ['chat', 'responses'] as const) {
      const using = { ...context(), client };
      const body = JSON.parse(JSON.stringify(encodeRequest(asked({ model, turns: begun, tools: [] }), using)));
      t.is(brief(body), 'u:hi | a:so | u:Continue.');
      t.deepEqual(
        using.losses.list.map(({ path, outcome }) => `${outcome} ${path}`),
        ['approximated messages[1]'],
      );
    }
    const using = { ...context(), client: 'messages' } as const;
    t.is(brief(JSON.parse(JSON.stringify(encodeRequest(asked({ model, turns: begun }), using)))), 'u:hi | a:so');
    t.deepEqual(using.losses.list, []);
  });
}

for (const model of ['claude-sonnet-4-5', 'claude-opus-4-20250514', 'claude-3-5-haiku-latest', 'kimi-k3']) {
  test(`${model} continues an answer`, (t) => {
    t.is(brief(encode(asked({ model, turns: begun })).body), 'u:hi | a:so');
  });
}

test('reasoning stays on where the user has the last word', (t) => {
  const request = asked({ model: 'claude-opus-4-6', turns: begun, tools: [], reasoning: { effort: 'high' } });
  const body = encodeRequest(request, { ...context(), client: 'chat' });
  t.like(body.thinking, { type: 'adaptive' });
});
