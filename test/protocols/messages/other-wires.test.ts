import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { clientOf, convert, type Target, targets } from '../../conversions/losses/pairs.ts';

const client = clientOf('messages');
const targetOf = (name: string): Target => {
  const found = targets.find((target) => target.name === name);
  if (!found) throw new Error(`no target ${name}`);
  return found;
};
/** One of each other wire format. */
const others = ['look-alike', 'responses gpt-5.1', 'gemini gemini-3-pro'].map(targetOf);
const own = targetOf('anthropic claude-sonnet-4-5');

const smallest: JsonObject = { model: 'm', max_tokens: 4096, messages: [{ role: 'user', content: 'x' }] };

/** The converted body, or the path of what was refused. */
const sent = (body: JsonObject, target: Target): JsonObject | string => {
  const found = convert(client, { ...smallest, ...body }, target);
  return 'refused' in found ? found.refused : found.body;
};

const lossesOf = (body: JsonObject, target: Target): readonly string[] => {
  const found = convert(client, { ...smallest, ...body }, target);
  return 'refused' in found ? [] : found.losses.map(({ path, outcome }) => `${outcome} ${path}`);
};

const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** The names of the functions that an upstream's body declares. */
const declared = (body: JsonObject | string): readonly unknown[] => {
  if (typeof body === 'string') return [body];
  return objects(body.tools).flatMap(({ name, function: wrapped, functionDeclarations }) =>
    functionDeclarations
      ? objects(functionDeclarations).map((one) => one.name)
      : [isJsonObject(wrapped) ? wrapped.name : name],
  );
};

/** All texts of the conversation, in order. */
const textsOf = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    ['text', 'content', 'output'].includes(name) && typeof member === 'string' ? [member] : textsOf(member),
  );
};

const conversation = (body: JsonObject | string): readonly string[] =>
  typeof body === 'string' ? [body] : textsOf(body.messages ?? body.input ?? body.contents);

/** The same, however a target joins the messages of one speaker. */
const passages = (body: JsonObject | string): readonly string[] =>
  conversation(body).flatMap((text) => text.split('\n\n'));

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  input_schema: { type: 'object', properties: { a: { type: 'string' } } },
  ...more,
});
const deferred = (name: string): JsonObject => tool(name, { defer_loading: true });
const placeholder = deferred('DeferredToolPlaceholder');
const use = (id: string, name: string): JsonObject => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: {} }],
});
const answer = (id: string, ...content: readonly JsonObject[]): JsonObject => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
});
const reference = (tool_name: string): JsonObject => ({ type: 'tool_reference', tool_name });
const search = (id: string, ...names: readonly string[]): readonly JsonObject[] => [
  use(id, 'ToolSearch'),
  answer(id, ...names.map(reference)),
];
const hi = { role: 'user', content: 'x' };
const says = (...content: readonly JsonObject[]): JsonObject => ({ role: 'system', content });
const byName = (type: string, name: string): JsonObject => ({ type, tool: { type: 'tool_reference', name } });

/** Bodies, and the tools that another vendor's model gets. */
const offers: Readonly<Record<string, readonly [body: JsonObject, tools: readonly string[]]>> = {
  'a first request of Claude Code': [
    { tools: [tool('Bash'), tool('ToolSearch'), placeholder, tool('Write')] },
    ['Bash', 'ToolSearch', 'Write'],
  ],
  'a found tool': [
    {
      tools: [tool('ToolSearch'), placeholder, tool('Write'), deferred('mcp__x__find')],
      messages: [hi, ...search('t1', 'mcp__x__find')],
    },
    ['ToolSearch', 'Write', 'mcp__x__find'],
  ],
  'deferred tools that nothing names': [
    { tools: [deferred('a'), tool('find'), deferred('b')], messages: [hi, ...search('t1', 'b')] },
    ['find', 'b'],
  ],
  'tools found one after the other': [
    { tools: [deferred('a'), deferred('b'), tool('find')], messages: [hi, ...search('t1', 'b'), ...search('t2', 'a')] },
    ['find', 'b', 'a'],
  ],
  'a deferred tool that was called': [
    { tools: [tool('f'), deferred('a')], messages: [hi, use('t1', 'a'), answer('t1', { type: 'text', text: 'r' })] },
    ['f', 'a'],
  ],
  'a deferred tool that must be called': [
    { tools: [tool('f'), deferred('a')], tool_choice: { type: 'tool', name: 'a' } },
    ['f', 'a'],
  ],
  "the vendor's own search": [
    {
      tools: [{ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }, tool('f'), deferred('a')],
    },
    ['f', 'a'],
  ],
  "a newer search of the vendor's": [
    { tools: [{ type: 'tool_search_tool_regex_20270101', name: 's' }, deferred('a'), tool('f')] },
    ['a', 'f'],
  ],
  'an added and a removed tool': [
    {
      tools: [tool('a'), tool('b'), deferred('c')],
      messages: [hi, says(byName('tool_removal', 'a'), byName('tool_addition', 'c'))],
    },
    ['b', 'c'],
  ],
  'the last change counts': [
    {
      tools: [tool('a'), tool('b')],
      messages: [hi, says(byName('tool_removal', 'a')), hi, says(byName('tool_addition', 'a'))],
    },
    ['b', 'a'],
  ],
  'a tool by value': [
    {
      tools: [tool('a')],
      messages: [hi, says({ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('n') } })],
    },
    ['a', 'n'],
  ],
  'a tool of an MCP server that goes': [
    { tools: [tool('a')], messages: [hi, says(byName('tool_removal', 'a'), { type: 'tool_removal', tool: mcp() })] },
    [],
  ],
  'the changes that a summary holds': [
    {
      tools: [tool('a'), deferred('b')],
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'compaction', content: 's', tool_changes: [byName('tool_addition', 'b')] }],
        },
        hi,
      ],
    },
    ['a', 'b'],
  ],
  'a memory tool': [{ tools: [{ type: 'memory_20250818', name: 'memory' }] }, ['memory']],
  'a shell': [{ tools: [{ type: 'bash_20250124', name: 'bash' }] }, ['bash']],
  'a newer kind of tool with a schema': [{ tools: [tool('n', { type: 'custom_20270101' })] }, ['n']],
};

function mcp(): JsonObject {
  return { type: 'mcp_tool_reference', server_name: 's', name: 'x' };
}

for (const [what, [body, expected]] of Object.entries(offers)) {
  for (const target of others) {
    test(`${what}: the tools toward ${target.name}`, (t) => {
      t.deepEqual(declared(sent(body, target)), expected);
      const all = objects(body.tools).length;
      if (expected.length < all) t.true(lossesOf(body, target).some((loss) => /^dropped tools\[\d+\]$/.test(loss)));
    });
  }
}

for (const target of others) {
  test(`what a search found reaches ${target.name} as one line that names it`, (t) => {
    const messages = [
      hi,
      use('t1', 'ToolSearch'),
      answer('t1', reference('a'), reference('b'), { type: 'text', text: 'Tool loaded.' }),
    ];
    const body = sent({ tools: [tool('ToolSearch'), deferred('a'), deferred('b')], messages }, target);
    const said = conversation(body).join('\n');
    t.regex(said, /Found, and now available: a, b\n+Tool loaded\./);
    // An assistant message with calls alone may have no text.
    const results = typeof body === 'string' ? [] : objects(body.messages).filter(({ role }) => role === 'tool');
    t.false(results.some(({ content }) => content === ''));
  });

  test(`a result of nothing that ${target.name} has isn't empty`, (t) => {
    const messages = [hi, use('t1', 'f'), answer('t1', { type: 'x_mark', mark: 1 })];
    const body = sent({ tools: [tool('f')], messages }, target);
    t.deepEqual(conversation(body).at(-1), '(no output)');
  });

  test(`a growing history adds tools at the end toward ${target.name}`, (t) => {
    const names = ['a', 'b', 'c', 'd'];
    const step = fc.oneof(
      fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }).map((found) => ({ found })),
      fc.constantFrom(...names).map((name) => ({ name })),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(names), fc.array(step, { maxLength: 6 }), (order, steps) => {
        const tools = [tool('find'), ...order.map(deferred), placeholder];
        let before: readonly unknown[] = ['find'];
        const messages: JsonObject[] = [hi];
        for (const [index, one] of steps.entries()) {
          if ('found' in one) messages.push(...search(`t${index}`, ...one.found));
          else messages.push(use(`t${index}`, one.name), answer(`t${index}`, { type: 'text', text: 'r' }));
          const now = declared(sent({ tools, messages }, target));
          t.deepEqual(now.slice(0, before.length), before);
          before = now;
        }
      }),
      { numRuns: 30, seed: 1 },
    );
    t.pass();
  });
}

test("toward the vendor's own format, everything stays as received", (t) => {
  const changes = says(byName('tool_removal', 'a'), { type: 'text', text: 's' });
  const messages = [hi, ...search('t1', 'a'), { ...changes, output_config: { effort: 'low' }, clear_at: 'never' }, hi];
  const tools = [tool('ToolSearch'), placeholder, deferred('a')];
  const body = sent({ tools, messages }, own);
  if (typeof body === 'string') throw new Error(body);
  t.deepEqual(body.tools, tools);
  const [, , found, change] = objects(body.messages);
  t.deepEqual(found?.content, [{ type: 'tool_result', tool_use_id: 't1', content: [reference('a')] }]);
  t.deepEqual(change, { ...changes, output_config: { effort: 'low' }, clear_at: 'never' });
});

const compaction = (more: JsonObject): JsonObject => ({
  role: 'assistant',
  content: [{ type: 'compaction', ...more }],
});

for (const target of others) {
  test(`a summary takes the place of what stands before it, toward ${target.name}`, (t) => {
    const messages = [
      hi,
      compaction({ content: 'older' }),
      hi,
      compaction({ content: 'summary', encrypted_content: 'e' }),
      { role: 'user', content: 'y' },
    ];
    t.deepEqual(passages(sent({ messages }, target)), ['summary', 'y']);
    const lost = lossesOf({ messages }, target);
    for (const index of [0, 1, 2]) t.true(lost.includes(`dropped messages[${index}]`));
    t.true(lost.includes('approximated messages[3].content[0].content'));
  });

  test(`what follows a summary in its message stays with the model, toward ${target.name}`, (t) => {
    const content = [
      { type: 'compaction', content: 'summary' },
      { type: 'text', text: 'go on' },
    ];
    const body = sent({ messages: [hi, { role: 'assistant', content }, { role: 'user', content: 'y' }] }, target);
    t.deepEqual(conversation(body), ['summary', 'go on', 'y']);
  });

  test(`a failed summary changes nothing, toward ${target.name}`, (t) => {
    const messages = [hi, compaction({ content: null }), { role: 'user', content: 'y' }];
    t.deepEqual(passages(sent({ messages }, target)), ['x', 'y']);
  });

  test(`the effort of the last message that sets one holds toward ${target.name}`, (t) => {
    const system = (effort: string) => ({ role: 'system', content: 's', output_config: { effort } });
    const messages = [hi, system('high'), hi, system('low'), hi];
    const body = sent({ messages, thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }, target);
    t.regex(JSON.stringify(body), /"(?:reasoning_effort|effort|thinkingLevel)":"low"/i);
  });

  test(`a message that is cleared when the user speaks again is left out then, toward ${target.name}`, (t) => {
    const note = { role: 'system', content: 'note', clear_at: 'next_user_message' };
    t.true(passages(sent({ messages: [hi, note] }, target)).includes('note'));
    const body = { messages: [hi, note, { role: 'assistant', content: 'a' }, hi] };
    t.false(passages(sent(body, target)).includes('note'));
    t.false(lossesOf(body, target).some((loss) => loss.includes('clear_at')));
  });
}

/** Bodies that no other vendor can serve, and the path that the fault names. */
const refusals: Readonly<Record<string, readonly [body: JsonObject, path: string]>> = {
  'MCP servers': [{ mcp_servers: [{ type: 'url', url: 'https://h', name: 's' }] }, 'mcp_servers'],
  'a container': [{ container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] } }, 'container'],
  'a container by id': [{ container: 'c' }, 'container'],
  'a thread': [{ thread: { id: 't' } }, 'thread'],
  'an unknown kind of compaction': [{ compaction: { type: 'dream' } }, 'compaction'],
  'tools of an MCP server': [{ tools: [tool('a'), { type: 'mcp_toolset', mcp_server_name: 's' }] }, 'tools[1]'],
  'a text editor': [{ tools: [{ type: 'text_editor_20250728', name: 'e' }] }, 'tools[0]'],
  'a computer': [{ tools: [{ type: 'computer_toolset_20260801', name: 'c' }] }, 'tools[0]'],
  'a browser': [{ tools: [{ type: 'browser_toolset_20260801', name: 'b' }] }, 'tools[0]'],
  'a tool of an unknown type': [{ tools: [{ type: 'dream_20270101', name: 'd' }] }, 'tools[0]'],
  'an uploaded file': [user({ type: 'container_upload', file_id: 'f' }), 'messages[0].content[0]'],
  'an unknown block with text': [user({ type: 'x_note', text: 't' }), 'messages[0].content[0]'],
  'an unknown block with content': [user({ type: 'x_tool_result', content: 'c' }), 'messages[0].content[0]'],
  'an unknown block with tools': [user({ type: 'x_tools', tools: [{}] }), 'messages[0].content[0]'],
  'an unknown block with media': [user({ type: 'video', source: { type: 'url', url: 'u' } }), 'messages[0].content[0]'],
  'an image from an unknown source': [user({ type: 'image', source: { type: 'x', x: 1 } }), 'messages[0].content[0]'],
  'an unknown block of a result': [
    { tools: [tool('f')], messages: [hi, use('t1', 'f'), answer('t1', { type: 'x_note', text: 't' })] },
    'messages[2].content[0].content[0]',
  ],
  'an unknown block of the model': [
    { messages: [hi, { role: 'assistant', content: [{ type: 'x_note', text: 't' }] }, hi] },
    'messages[1].content[0]',
  ],
  'a sealed summary': [
    { messages: [compaction({ content: null, encrypted_content: 'e' }), hi] },
    'messages[0].content[0]',
  ],
  'an added tool that there is not': [
    { tools: [tool('a')], messages: [hi, says(byName('tool_addition', 'b'))] },
    'messages[1].content[0].tool.name',
  ],
  'an added tool of an MCP server': [
    { tools: [tool('a')], messages: [hi, says({ type: 'tool_addition', tool: mcp() })] },
    'messages[1].content[0].tool',
  ],
  'an added tool without a schema': [
    { messages: [hi, says({ type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'n' } } })] },
    'messages[1].content[0].tool.definition.input_schema',
  ],
};

function user(...content: readonly JsonObject[]): JsonObject {
  return { messages: [{ role: 'user', content: [...content, { type: 'text', text: 'x' }] }] };
}

for (const [what, [body, path]] of Object.entries(refusals)) {
  for (const target of others) {
    test(`${what} is refused toward ${target.name}`, (t) => {
      t.is(sent(body, target), path);
    });
  }
  test(`${what} goes to the vendor's own format`, (t) => {
    t.is(typeof sent(body, own), 'object');
  });
}

/** What other vendors do without, and the losses that say so. */
const dropped: Readonly<Record<string, readonly [body: JsonObject, losses: readonly string[]]>> = {
  'fallbacks, speed and other settings': [
    { fallbacks: [{ model: 'n' }], speed: 'fast', inference_geo: 'us', user_profile_id: 'p' },
    ['dropped fallbacks', 'dropped speed', 'dropped inference_geo', 'dropped user_profile_id'],
  ],
  diagnostics: [{ diagnostics: { previous_message_id: 'm' } }, []],
  'what thinking is bound to': [{ thinking: { type: 'disabled', block_binding: 'drop_block' } }, []],
  'clearing of thinking': [{ context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }, []],
  'clearing of calls': [
    { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
    ['dropped context_management.edits'],
  ],
  "the vendor's own steps": [
    {
      messages: [
        hi,
        {
          role: 'assistant',
          content: [
            { type: 'fallback', from: 'a' },
            { type: 'mcp_tool_result', tool_use_id: 'm', content: [{ type: 'text', text: 'r' }] },
            { type: 'x_new_tool_result', content: 'r' },
            { type: 'text', text: 'y' },
          ],
        },
        hi,
      ],
    },
    [0, 1, 2].map((index) => `dropped messages[1].content[${index}]`),
  ],
  'an unknown block that carries nothing': [user({ type: 'x_mark', mark: 1 }), ['dropped messages[0].content[0]']],
  'no container': [{ container: null, mcp_servers: [] }, []],
};

for (const [what, [body, losses]] of Object.entries(dropped)) {
  for (const target of others) {
    test(`${what}: losses toward ${target.name}`, (t) => {
      const found = lossesOf(body, target).filter(
        (loss) => !/reasoning|thinking\.type|^approximated thinking$/.test(loss),
      );
      t.deepEqual([...found].sort(), [...losses].sort());
    });
  }
}

const json = JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: 's-1' });
const composed = `user_${'a'.repeat(64)}_account_b_session_12345678-aaaa`;
const named = ['groq llama-3.3-70b-versatile', 'openrouter z-ai/glm-5', 'responses gpt-5.1'];
const ids = [
  ...named.flatMap((name) => [json, composed].map((id) => [id, name] as const)),
  [json, 'deepseek deepseek-chat'] as const,
];

for (const [id, name] of ids) {
  test(`Claude Code's user_id of ${id.length} characters is a stable hash toward ${name}`, (t) => {
    const idOf = (user_id: string): unknown => {
      const body = sent({ metadata: { user_id } }, targetOf(name));
      return typeof body === 'string' ? body : (body.user ?? body.safety_identifier ?? body.user_id);
    };
    t.regex(String(idOf(id)), /^[0-9a-f]{64}$/);
    t.is(idOf(id), idOf(id.replace('s-1', 's-2').replace('-aaaa', '-bbbb')), 'in another session too');
    t.not(idOf(id), idOf(id.replace(/d{9}|a{9}/, 'c')));
    t.is(idOf('u-1'), 'u-1');
  });
}
