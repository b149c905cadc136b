import test from 'ava';
import OpenAI from 'openai';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import type { Tool } from '../../../engine/model/request.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { decodeRequest } from '../../../protocols/responses/decode-request/decode-request.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { replyContext } from '../../support/context.ts';
import { recordsOf } from '../../support/events.ts';
import { readResponsesReply, readResponsesStream } from '../../support/readers/responses.ts';

const search = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds tools.',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
} as const;

/** What an agent may declare, in each place where it can. */
const declared: readonly JsonObject[] = [
  { type: 'function', name: 'plain', parameters: { type: 'object', properties: {} } },
  { type: 'custom', name: 'patch' },
  {
    type: 'namespace',
    name: 'functions',
    description: 'The agent’s own.',
    tools: [
      { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' } },
      { type: 'function', name: 'wait', parameters: { type: 'object', properties: {} } },
    ],
  },
  { type: 'local_shell' },
  { type: 'shell' },
  { type: 'apply_patch' },
  search,
];

const question = { role: 'user', content: 'hi' } as const;

/** The same tools, declared in the body, in an item, in two items, and as the result of a search. */
const places: Readonly<Record<string, JsonObject>> = {
  tools: { tools: declared, input: [question] },
  additional_tools: { input: [{ type: 'additional_tools', role: 'developer', tools: declared }, question] },
  'two items': {
    input: [
      { type: 'additional_tools', role: 'developer', tools: declared.slice(0, 2) },
      question,
      { type: 'additional_tools', role: 'developer', tools: declared.slice(2) },
    ],
  },
  tool_search_output: {
    input: [
      question,
      { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: {} },
      { type: 'tool_search_output', call_id: 's', execution: 'client', tools: declared },
    ],
  },
};

interface CallCase {
  /** The model's name of the tool, and the JSON that it writes. */
  readonly name: string;
  readonly json: readonly string[];
  /** The item without its id. */
  readonly item: JsonObject;
}

const done = { status: 'completed', call_id: 'call_1' } as const;

const calls: Readonly<Record<string, CallCase>> = {
  function: {
    name: 'plain',
    json: ['{"a":', '1}'],
    item: { type: 'function_call', ...done, name: 'plain', arguments: '{"a":1}' },
  },
  custom: {
    name: 'patch',
    json: ['{"input":"a', 'b"}'],
    item: { type: 'custom_tool_call', ...done, name: 'patch', input: 'ab' },
  },
  'custom, in a namespace': {
    name: 'functions__exec',
    json: ['{"input":"ls"}'],
    item: { type: 'custom_tool_call', ...done, name: 'exec', namespace: 'functions', input: 'ls' },
  },
  'function, in a namespace': {
    name: 'functions__wait',
    json: [],
    item: { type: 'function_call', ...done, name: 'wait', namespace: 'functions', arguments: '{}' },
  },
  tool_search: {
    name: 'tool_search',
    json: ['{"query":"de', 'mo","limit":3}'],
    item: { type: 'tool_search_call', ...done, execution: 'client', arguments: { query: 'demo', limit: 3 } },
  },
  'tool_search, without arguments': {
    name: 'tool_search',
    json: [],
    item: { type: 'tool_search_call', ...done, execution: 'client', arguments: {} },
  },
  local_shell: {
    name: 'local_shell',
    json: ['{"command":["ls","-l"],"timeout_ms":5}'],
    item: {
      type: 'local_shell_call',
      ...done,
      action: { type: 'exec', command: ['ls', '-l'], env: {}, timeout_ms: 5 },
    },
  },
  'local_shell, with one text': {
    name: 'local_shell',
    json: ['{"command":"ls -l"}'],
    item: { type: 'local_shell_call', ...done, action: { type: 'exec', command: ['sh', '-c', 'ls -l'], env: {} } },
  },
  shell: {
    name: 'shell',
    json: ['{"commands":["ls"]}'],
    item: {
      type: 'shell_call',
      ...done,
      action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
      environment: { type: 'local' },
    },
  },
  apply_patch: {
    name: 'apply_patch',
    json: ['{"type":"create_file","path":"a","diff":"+b"}'],
    item: { type: 'apply_patch_call', ...done, operation: { type: 'create_file', path: 'a', diff: '+b' } },
  },
  'apply_patch that deletes': {
    name: 'apply_patch',
    json: ['{"type":"delete_file","path":"a"}'],
    item: { type: 'apply_patch_call', ...done, operation: { type: 'delete_file', path: 'a' } },
  },
};

const eventsFor = ({ name, json }: CallCase): ModelEvent[] => [
  { type: 'message-start', id: '', model: 'm' },
  { type: 'block-start', index: 0, block: { type: 'text' } },
  { type: 'text-delta', index: 0, text: 'Let me see.' },
  { type: 'block-stop', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'call_1', name } },
  ...json.map((piece) => ({ type: 'input-delta', index: 1, json: piece }) as const),
  { type: 'block-stop', index: 1 },
  { type: 'message-stop', finish: 'tool-call', usage: { input: 1, output: 1 } },
];

const libraryFor = (text: string): OpenAI =>
  new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  });

for (const [place, body] of Object.entries(places)) {
  for (const [kind, given] of Object.entries(calls)) {
    test(`${kind}, declared in ${place}: the call comes back as it was declared`, async (t) => {
      const clientBody = { model: 'm', ...body };
      const context = replyContext({ clientBody, request: decodeRequest(clientBody) });
      const events = eventsFor(given);
      const text = sseText(runWhole(responsesClient.encodeStream, context, events));
      readResponsesStream(text);
      const records: readonly JsonObject[] = recordsOf(Buffer.from(text)).map(({ data }) => JSON.parse(data));
      const of = (type: string) => records.filter((record) => record.type === type);
      const [, added] = of('response.output_item.added');
      const items = of('response.output_item.done').map(({ item }) => item);
      const { id, ...item } = { id: '', ...(items[1] as JsonObject) };
      t.deepEqual(item, given.item);
      t.like(added, { output_index: 1, item: { id, type: given.item.type, status: 'in_progress', call_id: 'call_1' } });
      t.regex(id, /^[a-z]+_\w{1,60}$/);
      t.like(of('response.completed')[0], { response: { output: items } });

      const final = await libraryFor(text).responses.stream({ model: 'm', input: 'hi' }).finalResponse();
      t.is(String(final.output.at(-1)?.type), String(given.item.type));

      const folded = foldReply(events);
      if (isFault(folded)) throw new Error(folded.message);
      const whole = responsesClient.encodeReply(folded, context);
      readResponsesReply(whole);
      t.deepEqual(whole.output, items);
    });
  }
}

test('a command that the token limit cut is incomplete, and holds nothing that could run', (t) => {
  const clientBody = { model: 'm', ...places.tools };
  const context = replyContext({ clientBody, request: decodeRequest(clientBody) });
  const events: readonly ModelEvent[] = [
    { type: 'message-start', id: '', model: 'm' },
    { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'call_1', name: 'shell' } },
    { type: 'input-delta', index: 0, json: '{"commands":["rm -r a","rm -r' },
    { type: 'block-stop', index: 0 },
    { type: 'message-stop', finish: 'length', usage: {} },
  ];
  const folded = foldReply(events);
  if (isFault(folded)) throw new Error(folded.message);
  t.like(responsesClient.encodeReply(folded, context), {
    output: { 0: { type: 'shell_call', status: 'incomplete', action: { commands: [] } } },
  });
});

const names = (tools: readonly Tool[] | undefined): readonly string[] =>
  (tools ?? []).map((tool) => (tool.type === 'function' || tool.type === 'custom' ? tool.name : tool.type));

const functionTool = (name: string, more: JsonObject = {}): JsonObject => ({ type: 'function', name, ...more });
const space = (...tools: readonly JsonObject[]): JsonObject => ({ type: 'namespace', name: 'space', tools });

const found = (...tools: readonly JsonObject[]): readonly JsonObject[] => [
  { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'q' } },
  { type: 'tool_search_output', call_id: 's', execution: 'client', tools },
];

const lists: readonly (readonly [string, JsonObject, readonly string[], readonly string[]])[] = [
  [
    'the items’ tools stand behind the body’s, in order',
    {
      tools: [functionTool('a')],
      input: [
        { type: 'additional_tools', role: 'developer', tools: [functionTool('c'), space(functionTool('d'))] },
        question,
        { type: 'additional_tools', role: 'developer', tools: [functionTool('b')] },
      ],
    },
    ['a', 'c', 'space__d', 'b'],
    [],
  ],
  [
    'a tool that is declared again keeps its place',
    {
      tools: [functionTool('a')],
      input: [
        { type: 'additional_tools', role: 'developer', tools: [functionTool('b'), functionTool('a')] },
        question,
        { type: 'additional_tools', role: 'developer', tools: [functionTool('b'), functionTool('c')] },
      ],
    },
    ['a', 'b', 'c'],
    [],
  ],
  [
    'without a search, deferred tools are declared at once',
    { tools: [functionTool('a', { defer_loading: true }), space(functionTool('b', { defer_loading: true }))] },
    ['a', 'space__b'],
    [],
  ],
  [
    'a search of the vendor’s finds nothing elsewhere',
    { tools: [{ type: 'tool_search' }, functionTool('a', { defer_loading: true })] },
    ['hosted', 'a'],
    [],
  ],
  [
    'a search of the client’s declares what it found',
    {
      tools: [search, functionTool('a', { defer_loading: true }), space(functionTool('b', { defer_loading: true }))],
      input: [question, ...found(space(functionTool('b', { defer_loading: true })))],
    },
    ['tool_search', 'space__b'],
    ['a', 'space__b'],
  ],
  [
    'a deferred tool that must be called is declared',
    {
      tools: [search, functionTool('a', { defer_loading: true })],
      input: [question],
      tool_choice: { type: 'function', name: 'a' },
    },
    ['tool_search', 'a'],
    [],
  ],
  [
    'a built-in tool and a function of its name differ',
    { tools: [functionTool('shell'), { type: 'shell' }] },
    ['shell', 'shell_1'],
    [],
  ],
];

for (const [title, body, tools, deferred] of lists) {
  test(title, (t) => {
    const request = decodeRequest({ model: 'm', input: 'hi', ...body });
    t.deepEqual(names(request.tools), tools);
    t.deepEqual(names(request.deferredTools), deferred);
  });
}

test('instructions behind declared tools stay at the front', (t) => {
  const { system, turns } = decodeRequest({
    model: 'm',
    input: [
      { type: 'additional_tools', role: 'developer', tools: declared },
      { role: 'developer', content: 'one' },
      { role: 'developer', content: 'two' },
      question,
    ],
  });
  t.deepEqual(
    system.map(({ text }) => text),
    ['one', 'two'],
  );
  t.deepEqual(
    turns.map(({ role }) => role),
    ['user'],
  );
});

const choices: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ type: 'shell' }, { type: 'tool', name: 'shell' }],
  [{ type: 'apply_patch' }, { type: 'tool', name: 'apply_patch' }],
  [
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'shell' }, { type: 'custom', name: 'patch' }] },
    { type: 'allowed', required: true, names: ['shell', 'patch'] },
  ],
];

for (const [choice, expected] of choices) {
  test(`tool_choice names a built-in tool: ${JSON.stringify(choice)}`, (t) => {
    const request = decodeRequest({ model: 'm', input: 'hi', tools: declared, tool_choice: choice });
    t.deepEqual(request.toolChoice, expected as typeof request.toolChoice);
  });
}

for (const [item, param] of [
  [{ type: 'additional_tools', role: 'developer' }, 'input[0].tools'],
  [{ type: 'additional_tools', role: 'developer', tools: 'all' }, 'input[0].tools'],
  [{ type: 'additional_tools', tools: [{ type: 'function' }] }, 'input[0].tools[0].name'],
  [{ type: 'additional_tools', tools: [{ name: 'f' }] }, 'input[0].tools[0].type'],
] as const) {
  test(`unreadable tools are a fault: ${JSON.stringify(item)}`, (t) => {
    t.throws(() => decodeRequest({ model: 'm', input: [item, question] }), {
      message: new RegExp(`^${param.replaceAll(/[[\].]/g, '\\$&')} `),
    });
  });
}
