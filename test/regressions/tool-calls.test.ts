import test from 'ava';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { at, type ClientName, clientNames, hear, hearWhole, send } from './rig.ts';
import {
  begin,
  callItem,
  callRecords,
  calls,
  candidate,
  done,
  finish,
  message,
  more,
  response,
  role,
  toolUse,
  twoCalls,
} from './vendor-words.ts';

/** Both calls, whatever their ids. */
const inputs = [
  { name: 'f', input: { x: 1 } },
  { name: 'g', input: { y: 2 } },
];

const named = (facts: { readonly toolCalls: readonly { readonly name: string; readonly input: unknown }[] }) =>
  facts.toolCalls.map(({ name, input }) => ({ name, input }));

/** The data of a stream's records. */
const dataOf = (stream: string): JsonObject[] =>
  [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']) => JSON.parse(json));

const has = (stream: string, sought: JsonObject): boolean =>
  dataOf(stream).some((data) => Object.entries(sought).every(([name, value]) => data[name] === value));

for (const client of clientNames) {
  for (const told of ['done', 'item'] as const) {
    test(`T1: arguments that only the ${told} record has reach the client: ${client}`, (t) => {
      const { facts } = hear('responses', client, response(callRecords(0, 'call_1', 'f', '{"x":1}', told)));
      t.deepEqual(facts.toolCalls, [{ id: 'call_1', name: 'f', input: { x: 1 } }]);
    });
  }
}

test('T2: a call that comes whole still has its delta toward a Messages client', (t) => {
  const call = { functionCall: { name: 'f', args: { x: 1 } } };
  const { facts, text } = hear('gemini', 'messages', [candidate([call], 'STOP')]);
  t.deepEqual(named(facts), inputs.slice(0, 1));
  const deltas = dataOf(text).filter(({ type }) => type === 'content_block_delta');
  t.deepEqual(
    deltas.map((data) => at(data, 'delta')),
    [{ type: 'input_json_delta', partial_json: '{"x":1}' }],
  );
});

for (const [upstream, records] of Object.entries(twoCalls)) {
  for (const client of clientNames) {
    test(`T3: parallel calls have a place of their own each: ${upstream} → ${client}`, (t) => {
      const { facts, text } = hear(upstream, client, records);
      t.deepEqual(named(facts), inputs);
      t.is(new Set(facts.toolCalls.map(({ id }) => id)).size, 2);
      if (client !== 'chat') return;
      const places = dataOf(text).flatMap((data) => at(data, 'choices', 0, 'delta', 'tool_calls', 0, 'index') ?? []);
      t.deepEqual([...new Set(places)], [0, 1], 'calls are counted, not blocks');
    });
  }
}

for (const client of clientNames) {
  test(`T4: interleaved argument deltas stay with their calls: ${client}`, (t) => {
    const { facts } = hear('openai', client, [
      role,
      calls(
        { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } },
        { index: 1, id: 'call_2', type: 'function', function: { name: 'g', arguments: '{' } },
      ),
      more(0, '{"x'),
      more(1, '"y":'),
      calls({ index: 0, function: { arguments: '":' } }, { index: 1, function: { arguments: '2' } }),
      more(1, '}'),
      more(0, '1}'),
      finish('tool_calls'),
      done,
    ]);
    t.deepEqual(facts.toolCalls, [
      { id: 'call_1', ...inputs[0] },
      { id: 'call_2', ...inputs[1] },
    ]);
  });

  test(`T4: interleaved items of a Responses stream stay apart: ${client}`, (t) => {
    const [added1, delta1, , item1] = callRecords(0, 'call_1', 'f', '{"x":1}', 'delta');
    const [added2, delta2, , item2] = callRecords(1, 'call_2', 'g', '{"y":2}', 'delta');
    const mixed = [added1, added2, delta2, delta1, item2, item1].filter((record) => record !== undefined);
    t.deepEqual(named(hear('responses', client, response(mixed)).facts), inputs);
  });

  for (const [title, again] of [
    ['its id and name', { id: 'call_1', type: 'function', name: 'f' }],
    ['its id with an empty name', { id: 'call_1', type: 'function', name: '' }],
    ['empty id and name', { id: '', name: '' }],
    ['nulls', { id: null, type: null, name: null }],
  ] as const) {
    test(`T5: a call that repeats ${title} with each delta stays one call: ${client}`, (t) => {
      const { name, ...rest } = again;
      const piece = (args: string) => calls({ index: 0, ...rest, function: { name, arguments: args } });
      const { facts } = hear('openai', client, [
        role,
        begin(0, 'call_1', 'f'),
        piece('{"x"'),
        piece(':1}'),
        finish('tool_calls'),
        done,
      ]);
      t.deepEqual(facts.toolCalls, [{ id: 'call_1', name: 'f', input: { x: 1 } }]);
    });
  }

  test(`T6: empty deltas amid 100 KB of arguments are nothing: ${client}`, (t) => {
    const input = { file: 'żółw '.repeat(20_000) };
    const pieces = JSON.stringify(input).match(/[\s\S]{1,997}/g) ?? [];
    const { facts } = hear('openai', client, [
      role,
      begin(0, 'call_1', 'f'),
      ...pieces.flatMap((piece) => [more(0, ''), more(0, piece), more(0, '')]),
      finish('tool_calls'),
      done,
    ]);
    t.deepEqual(facts.toolCalls, [{ id: 'call_1', name: 'f', input }]);
  });
}

for (const [upstream, records] of [
  [
    'openai',
    [
      role,
      calls({ index: 0, function: { name: 'f', arguments: '{"x":1}' } }),
      calls({ index: 1, function: { name: 'g', arguments: '{"y":2}' } }),
      finish('tool_calls'),
      done,
    ],
  ],
  ['gemini', twoCalls.gemini ?? []],
] as const) {
  for (const client of clientNames) {
    test(`T7: calls without ids get their own, the same each time: ${upstream} → ${client}`, (t) => {
      const { facts, text } = hear(upstream, client, records);
      const ids = facts.toolCalls.map(({ id }) => id);
      t.deepEqual(named(facts), inputs);
      t.true(ids.every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id)) && new Set(ids).size === 2, ids.join());
      t.is(hear(upstream, client, records).text, text);
    });
  }
}

for (const [upstream, records] of Object.entries(twoCalls)) {
  test(`T8: a Responses client hears that each call and its arguments are done: ${upstream}`, (t) => {
    const { text, facts } = hear(upstream, 'responses', records);
    const finished = dataOf(text).filter(({ type }) => type === 'response.output_item.done');
    const items = finished.filter((data) => at(data, 'item', 'type') === 'function_call');
    t.deepEqual(
      items.map((data) => [at(data, 'item', 'call_id'), at(data, 'item', 'arguments'), at(data, 'item', 'status')]),
      facts.toolCalls.map(({ id, input }) => [id, JSON.stringify(input), 'completed']),
    );
    const args = dataOf(text).filter(({ type }) => type === 'response.function_call_arguments.done');
    t.deepEqual(
      args.map((data) => data.arguments),
      ['{"x":1}', '{"y":2}'],
    );
    const last = dataOf(text).at(-1);
    t.is(last?.type, 'response.completed');
    const output = at(last, 'response', 'output');
    t.is(Array.isArray(output) ? output.filter((item) => at(item, 'type') === 'function_call').length : 0, 2);
  });
}

/** A history with two calls, their results and words behind them, as each client writes it. */
const answered: Readonly<Record<ClientName, JsonObject>> = {
  messages: {
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } },
          { type: 'tool_use', id: 'c2', name: 'g', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
          { type: 'text', text: 'and now?' },
        ],
      },
    ],
  },
  chat: {
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'user', content: 'and now?' },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'go' },
      callItem('c1', 'f', '{"x":1}'),
      callItem('c2', 'g', '{}'),
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'function_call_output', call_id: 'c2', output: 'two' },
      { role: 'user', content: 'and now?' },
    ],
  },
};

const functionsOf = (client: ClientName, ...names: string[]): JsonObject => {
  const schema = { type: 'object', properties: { x: { type: 'number' } } };
  const tool = {
    messages: (name: string): JsonObject => ({ name, input_schema: schema }),
    chat: (name: string): JsonObject => ({ type: 'function', function: { name, parameters: schema } }),
    responses: (name: string): JsonObject => ({ type: 'function', name, parameters: schema, strict: false }),
  }[client];
  return { tools: names.map(tool) };
};

for (const client of clientNames) {
  const body = { ...answered[client], ...functionsOf(client, 'f', 'g') };

  test(`T9: results go into one user turn right behind the calls, before other words: ${client} → anthropic`, (t) => {
    const { body: sent } = send(client, 'anthropic', body);
    const turns = at(sent, 'messages');
    t.deepEqual(Array.isArray(turns) ? turns.map((turn) => at(turn, 'role')) : [], ['user', 'assistant', 'user']);
    const content = at(turns, 2, 'content');
    t.deepEqual(Array.isArray(content) ? content.map((part) => [at(part, 'type'), at(part, 'tool_use_id')]) : [], [
      ['tool_result', 'c1'],
      ['tool_result', 'c2'],
      ['text', undefined],
    ]);
  });

  test(`T9: results go into one content, in the order of the calls: ${client} → gemini`, (t) => {
    const contents = at(send(client, 'gemini', body).body, 'contents');
    const roles = Array.isArray(contents) ? contents.map((content) => at(content, 'role')) : [];
    t.deepEqual(roles, ['user', 'model', 'user']);
    const parts = at(contents, 2, 'parts');
    t.deepEqual(
      Array.isArray(parts) ? parts.map((part) => at(part, 'functionResponse', 'name') ?? at(part, 'text')) : [],
      ['f', 'g', 'and now?'],
    );
  });

  test(`T9: results are messages right behind the calls: ${client} → openai`, (t) => {
    const messages = at(send(client, 'openai', body).body, 'messages');
    const brief = Array.isArray(messages) ? messages.map((one) => at(one, 'tool_call_id') ?? at(one, 'role')) : [];
    t.deepEqual(brief, ['user', 'assistant', 'c1', 'c2', 'user']);
  });
}

/** Words for the same choice. */
const choices: Readonly<Record<ClientName, { readonly none: unknown; readonly forced: unknown }>> = {
  messages: { none: { type: 'none' }, forced: { type: 'tool', name: 'f' } },
  chat: { none: 'none', forced: { type: 'function', function: { name: 'f' } } },
  responses: { none: 'none', forced: { type: 'function', name: 'f' } },
};
const carried: Readonly<
  Record<string, { readonly path: readonly string[]; readonly none: unknown; readonly forced: unknown }>
> = {
  anthropic: { path: ['tool_choice'], ...choices.messages },
  openai: { path: ['tool_choice'], ...choices.chat },
  responses: { path: ['tool_choice'], ...choices.responses },
  gemini: {
    path: ['toolConfig', 'functionCallingConfig'],
    none: { mode: 'NONE' },
    forced: { mode: 'ANY', allowedFunctionNames: ['f'] },
  },
};

for (const client of clientNames) {
  for (const [upstream, { path, ...expected }] of Object.entries(carried)) {
    for (const choice of ['none', 'forced'] as const) {
      const tool_choice = JSON.parse(JSON.stringify(choices[client][choice]));
      test(`T10: tool_choice ${choice} is carried, and goes with its tools: ${client} → ${upstream}`, (t) => {
        const full = send(client, upstream, { ...functionsOf(client, 'f', 'g'), tool_choice });
        t.deepEqual(at(full.body, ...path), expected[choice]);
      });
    }
    test(`T10: without tools no tool_choice goes out: ${client} → ${upstream}`, (t) => {
      const none = JSON.parse(JSON.stringify(choices[client].none));
      const emptied = send(client, upstream, { tools: [], tool_choice: none, ...noParallel[client] });
      t.is(at(emptied.body, ...path), undefined);
      t.is(at(emptied.body, 'parallel_tool_calls'), undefined);
      t.is(at(emptied.body, 'tools'), undefined);
    });
  }
}

const noParallel = { messages: {}, chat: { parallel_tool_calls: false }, responses: { parallel_tool_calls: false } };

const patch = '*** Begin Patch\n*** Add File: "ż.txt"\n+\\o/\n*** End Patch';
const customTool = { type: 'custom', name: 'apply_patch', description: 'Edits files.', format: { type: 'text' } };

for (const upstream of ['anthropic', 'openai', 'gemini', 'deepseek', 'openrouter', 'groq']) {
  test(`T11: a freeform tool reaches the vendor: ${upstream}`, (t) => {
    const { text } = send('responses', upstream, { tools: [customTool] });
    t.true(text.includes('apply_patch') && text.includes('Edits files.'));
    t.false(text.includes('"type":"custom"'), 'as a function, which every server has');
  });
}

for (const [upstream, records] of [
  ['anthropic', message(toolUse(0, 'toolu_1', 'apply_patch', ...cut(JSON.stringify({ input: patch }))), 'tool_use')],
  [
    'openai',
    [
      role,
      begin(0, 'call_1', 'apply_patch'),
      ...cut(JSON.stringify({ input: patch })).map((piece) => more(0, piece)),
      finish('tool_calls'),
      done,
    ],
  ],
  ['gemini', [candidate([{ functionCall: { name: 'apply_patch', args: { input: patch } } }], 'STOP')]],
] as const) {
  test(`T11: a freeform tool's call comes back as one, its text as the model wrote it: ${upstream}`, (t) => {
    const tools = [{ type: 'custom', name: 'apply_patch' }] as const;
    const { text } = hear(upstream, 'responses', records, { tools });
    const item = dataOf(text).find(
      (data) => data.type === 'response.output_item.done' && at(data, 'item', 'type') === 'custom_tool_call',
    );
    t.is(at(item, 'item', 'name'), 'apply_patch');
    t.is(at(item, 'item', 'input'), patch);
    t.true(has(text, { type: 'response.custom_tool_call_input.done', input: patch }));
  });
}

function cut(json: string): string[] {
  return json.match(/[\s\S]{1,3}/g) ?? [];
}

for (const upstream of ['openai', 'anthropic', 'gemini']) {
  test(`T12: builtin and namespace tools never become nameless ones: ${upstream}`, (t) => {
    const tools = [
      { type: 'web_search' },
      { type: 'local_shell' },
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      {
        type: 'namespace',
        name: 'mcp__files',
        description: 'Files.',
        tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: {} } }],
      },
      { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } },
    ];
    const { body, losses } = send('responses', upstream, { tools });
    const sent = at(body, 'tools');
    const functions = (Array.isArray(sent) ? sent : []).flatMap((tool) => {
      const declared = at(tool, 'functionDeclarations');
      return Array.isArray(declared) ? declared : [at(tool, 'function') ?? tool];
    });
    const names = functions.flatMap((tool) => (at(tool, 'googleSearch') ? [] : [at(tool, 'name')]));
    t.true(
      names.every((name) => typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name)),
      String(names),
    );
    t.true(names.includes('f') && names.some((name) => String(name).includes('read')));
    t.true(losses.some((path) => path.startsWith('tools[1]')) && losses.some((path) => path.startsWith('tools[2]')));
  });
}

for (const [written, client] of [
  ['', 'chat'],
  ['{}', 'chat'],
  ['', 'responses'],
] as const) {
  const call = {
    chat: {
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: written } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
    },
    responses: {
      input: [
        { role: 'user', content: 'go' },
        callItem('c1', 'f', written),
        { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      ],
    },
  }[client];
  test(`T13: no arguments, written as '${written}', are an empty object for every vendor: ${client}`, (t) => {
    const body = { ...call, ...functionsOf(client, 'f') };
    const anthropic = send(client, 'anthropic', body).body;
    t.deepEqual(at(anthropic, 'messages', 1, 'content', 0, 'input'), {});
    t.is(at(send(client, 'openai', body).body, 'messages', 1, 'tool_calls', 0, 'function', 'arguments'), '{}');
    t.is(at(send(client, 'responses', body).body, 'input', 1, 'arguments'), '{}');
    t.deepEqual(at(send(client, 'gemini', body).body, 'contents', 1, 'parts', 0, 'functionCall', 'args'), {});
  });
}

for (const [upstream, records] of [
  ['anthropic', message(toolUse(0, 'toolu_1', 'f', ''), 'tool_use')],
  ['openai', [role, begin(0, 'call_1', 'f'), finish('tool_calls'), done]],
  ['responses', response(callRecords(0, 'call_1', 'f', '', 'delta'))],
  ['gemini', [candidate([{ functionCall: { name: 'f' } }], 'STOP')]],
] as const) {
  for (const client of clientNames) {
    test(`T13: a call without arguments is one with an empty object: ${upstream} → ${client}`, (t) => {
      t.deepEqual(named(hear(upstream, client, records).facts), [{ name: 'f', input: {} }]);
    });
  }
}

const pixel = 'iVBORw0KGgo=';
const imageOutput = [
  { type: 'input_text', text: 'look' },
  { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
];
const outputOf = (output: JsonObject | readonly JsonObject[]): JsonObject => ({
  input: [
    { role: 'user', content: 'go' },
    callItem('c1', 'f', '{}'),
    { type: 'function_call_output', call_id: 'c1', output },
  ],
  ...functionsOf('responses', 'f'),
});

for (const upstream of ['anthropic', 'openai', 'responses', 'gemini', 'openrouter']) {
  test(`T14: an image that a tool gave reaches the model: ${upstream}`, (t) => {
    const { text } = send('responses', upstream, outputOf(imageOutput), 'gemini-3-pro');
    t.true(text.includes(pixel) && text.includes('look') && text.includes('image/png'));
  });

  test(`T14: a tool's output that is an object is given as its JSON: ${upstream}`, (t) => {
    const { text } = send('responses', upstream, outputOf({ weather: { celsius: 21 } }));
    t.true(text.replaceAll('\\', '').includes('{"weather":{"celsius":21}}'), text);
  });
}

test('T14: an image in a Messages tool result reaches a chat vendor behind all results', (t) => {
  const { body } = send('messages', 'openai', {
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c1', name: 'f', input: {} },
          { type: 'tool_use', id: 'c2', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }],
          },
          { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
        ],
      },
    ],
    ...functionsOf('messages', 'f'),
  });
  const messages = at(body, 'messages');
  const roles = Array.isArray(messages) ? messages.map((one) => at(one, 'role')) : [];
  t.deepEqual(roles, ['user', 'assistant', 'tool', 'tool', 'user']);
  t.true(JSON.stringify(at(messages, 4)).includes(`data:image/png;base64,${pixel}`));
});

test('T1, T13: whole replies tell the same calls as streams', (t) => {
  const body = {
    id: 'x',
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        finish_reason: 'stop',
      },
    ],
  };
  for (const client of clientNames) {
    t.deepEqual(hearWhole('openai', client, body).toolCalls, [{ id: 'call_1', name: 'f', input: {} }], client);
  }
});
