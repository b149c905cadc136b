import test from 'ava';
import { stageOf } from '../../../engine/config/custom/load-stages.ts';
import { testStage } from '../../../engine/testing-api.ts';
import type { Json, JsonObject, ModelRequest, Part, ToolChoice, Turn } from '../../../engine/transformer-api.ts';
import search from '../../../transformers/search/index.ts';

/** What the model is asked in the place of what the client asks. */
const options = { service: 'brave', apiKey: 'brave-key' };

const asking = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] }],
  tools: [
    { type: 'web-search', raw: { wire: 'messages', value: { type: 'web_search_20260209', name: 'web_search' } } },
    { type: 'function', name: 'look_up', parameters: { type: 'object' } },
  ],
  stream: true,
  ...more,
});

const asked = async (request: ModelRequest, memory: Readonly<Record<string, Json>> = {}): Promise<ModelRequest> => {
  const { calls } = await testStage({ stage: search, options, request, memory, client: { wire: 'messages' } });
  const [first] = calls;
  if (!first) throw new Error('nothing was asked');
  return first.request;
};

const opaque = (value: JsonObject): ToolChoice => ({ type: 'opaque', wire: 'responses', value });

const choices: readonly (readonly [given: ToolChoice | undefined, then: ToolChoice | undefined])[] = [
  [undefined, undefined],
  [{ type: 'auto' }, { type: 'auto' }],
  [{ type: 'none' }, { type: 'none' }],
  [{ type: 'required' }, { type: 'required' }],
  [
    { type: 'tool', name: 'look_up' },
    { type: 'tool', name: 'look_up' },
  ],
  [
    { type: 'tool', name: 'web_search' },
    { type: 'tool', name: 'web_search' },
  ],
  [opaque({ type: 'web_search' }), { type: 'tool', name: 'web_search' }],
  [opaque({ type: 'web_search_preview_2025_03_11' }), { type: 'tool', name: 'web_search' }],
  [
    opaque({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'web_search' }, { type: 'function', name: 'look_up' }],
    }),
    { type: 'allowed', required: true, names: ['web_search', 'look_up'] },
  ],
];

for (const [given, then] of choices) {
  test(`tool_choice ${JSON.stringify(given)}`, async (t) => {
    const { toolChoice } = await asked(asking(given && { toolChoice: given }));
    t.deepEqual(toolChoice, then);
  });
}

test('a search alone is forced where the conversation begins, and not later', async (t) => {
  const { tools, turns } = asking();
  const alone = tools.slice(0, 1);
  t.deepEqual((await asked(asking({ tools: alone }))).toolChoice, { type: 'tool', name: 'web_search' });
  t.deepEqual((await asked(asking({ tools: alone, toolChoice: { type: 'none' } }))).toolChoice, { type: 'none' });
  const later: readonly Turn[] = [...turns, { role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }, ...turns];
  t.is((await asked(asking({ tools: alone, turns: later }))).toolChoice, undefined);
});

test("the function has a name that none of the client's has", async (t) => {
  const { tools } = asking();
  const taken = ['web_search', 'web_search_2'].map((name) => ({ type: 'function', name }) as const);
  const names = (await asked(asking({ tools: [...tools, ...taken] }))).tools.map((tool) => 'name' in tool && tool.name);
  t.deepEqual(names, ['web_search_3', 'look_up', 'web_search', 'web_search_2']);
});

const block = (raw: JsonObject, wire: 'messages' | 'responses' = 'messages'): Part => ({ type: 'opaque', wire, raw });
const use = (id: string, query: string): Part =>
  block({ type: 'server_tool_use', id, name: 'web_search', input: { query } });
const found = (id: string, content: Json): Part => block({ type: 'web_search_tool_result', tool_use_id: id, content });
const said = (text: string): Part => ({ type: 'text', text });
const page = {
  type: 'web_search_result',
  url: 'https://a.example/',
  title: 'A',
  encrypted_content: 'sealed by its vendor',
  page_age: null,
};
const item = (id: string, query: string): Part =>
  block(
    {
      type: 'web_search_call',
      id,
      status: 'completed',
      action: { type: 'search', query, sources: [{ type: 'url', url: 'https://b.example/' }] },
    },
    'responses',
  );

/** An assistant's turn with earlier searches, and the turns that it becomes: calls by their queries, results by what they say. */
const histories: Readonly<
  Record<
    string,
    {
      readonly parts: readonly Part[];
      readonly after?: readonly Part[];
      readonly memory?: Readonly<Record<string, Json>>;
      readonly becomes: readonly string[];
    }
  >
> = {
  "another vendor's search": {
    parts: [said('Let me see.'), use('s1', 'one'), found('s1', [page]), said('So.')],
    becomes: ['assistant: Let me see. + call one', 'user: result A', 'assistant: So.'],
  },
  'two at once, then another': {
    parts: [
      use('s1', 'one'),
      use('s2', 'two'),
      found('s1', [page]),
      found('s2', []),
      use('s3', 'three'),
      found('s3', [page]),
    ],
    becomes: [
      'assistant: call one + call two',
      'user: result A + result nothing',
      'assistant: call three',
      'user: result A',
    ],
  },
  'one that failed': {
    parts: [
      use('s1', 'one'),
      found('s1', { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }),
      said('So.'),
    ],
    becomes: ['assistant: call one', 'user: error No more searches', 'assistant: So.'],
  },
  'one without a result': {
    parts: [use('s1', 'one')],
    becomes: ['assistant: call one', 'user: error The search failed'],
  },
  "one beside the client's call": {
    parts: [{ type: 'tool-call', id: 'c1', name: 'look_up', input: '{}' }, use('s1', 'one'), found('s1', [page])],
    after: [{ type: 'tool-result', id: 'c1', content: [{ type: 'text', text: 'rain' }] }],
    becomes: ['assistant: call look_up + call one', 'user: result A + result rain'],
  },
  'an item whose results are remembered': {
    parts: [item('ws_1', 'one'), said('So.')],
    memory: {
      ' search ws_1': [
        { id: 'ws_1', query: 'one', outcome: { pages: [{ url: 'https://c.example/', title: 'C', excerpt: 'x' }] } },
      ],
    },
    becomes: ['assistant: call one', 'user: result C', 'assistant: So.'],
  },
  'an item whose results are gone': {
    parts: [item('ws_1', 'one'), said('So.')],
    becomes: ['assistant: call one', 'user: result b.example (gone)', 'assistant: So.'],
  },
};

const shown = (part: Part): string => {
  if (part.type === 'text') return part.text;
  if (part.type === 'tool-call') return `call ${part.name === 'web_search' ? Object(part.input).query : part.name}`;
  if (part.type !== 'tool-result') return part.type;
  const [first] = part.content;
  const text = first?.type === 'text' ? first.text : '';
  if (part.isError) return `error ${/No more searches|The search failed/.exec(text)?.[0]}`;
  const title = /"title":"([^"]*)"/.exec(text)?.[1] ?? (text.includes('found nothing') ? 'nothing' : text);
  return `result ${title}${text.includes('no longer at hand') ? ' (gone)' : ''}`;
};

for (const [name, { parts, after, memory = {}, becomes }] of Object.entries(histories)) {
  test(`an earlier search: ${name}`, async (t) => {
    const { turns: first } = asking();
    const next: Turn = { role: 'user', parts: after ?? [said('And now?')] };
    const { turns } = await asked(asking({ turns: [...first, { role: 'assistant', parts }, next] }), memory);
    const read = turns
      .slice(1, after ? undefined : -1)
      .map(({ role, parts: now }) => `${role}: ${now.map(shown).join(' + ')}`);
    t.deepEqual(read, [...becomes]);
  });
}

test('an entry must name whom to ask where no service searches', async (t) => {
  t.true((await stageOf('search', search, {})).asks);
  t.is((await stageOf('search', search, options)).asks, undefined);
});
