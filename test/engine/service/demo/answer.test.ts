import test from 'ava';
import { foldReply, isFault } from '../../../../engine/model/reply.ts';
import { answerDemo } from '../../../../engine/service/demo/answer.ts';
import { chatClient } from '../../../../protocols/chat/index.ts';

const tool = (name: string, parameters: unknown = { type: 'object', properties: {} }) => ({
  type: 'function',
  function: { name, parameters },
});
const weather = tool('get_weather', {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
});
const exit = tool('ExitTool', {
  type: 'object',
  properties: { response: { type: 'string' } },
  required: ['response'],
});
const user = (content: unknown) => ({ role: 'user', content });
const ask = (text: string, more: object = {}) => answer({ messages: [user(text)], ...more });
const answer = (request: object) => {
  const decoded = chatClient.decodeRequest({ model: 'echo', ...request }, { chatStrict: false });
  const reply = foldReply(answerDemo(decoded, '1'));
  if (isFault(reply)) throw new Error(reply.message);
  const { blocks, finish, usage } = reply;
  const joined = (type: 'text' | 'thinking'): string =>
    blocks.map((block) => (block.type === type ? block.text : '')).join('');
  const calls = blocks.filter((block) => block.type === 'tool-call');
  return { text: joined('text'), reasoning: joined('thinking'), calls, finish, usage };
};

test('it talks about what it was sent', (t) => {
  const { text, finish, calls, reasoning } = answer({
    messages: [{ role: 'system', content: 'Be brief.' }, user('Hi there!')],
    tools: [weather, tool('list_files')],
  });
  t.regex(text, /"echo"/);
  t.regex(text, /2 messages and 2 tools \(get_weather, list_files\)/);
  t.regex(text, /You said: Hi there!$/);
  t.is(finish, 'end');
  t.deepEqual(calls, []);
  t.is(reasoning, '');
});

const names = ['get_weather', 'list_files'];
const tools = [weather, tool('list_files')];
const choices: readonly (readonly [string, object, readonly string[]])[] = [
  ['hello', {}, []],
  ['call get_weather', {}, ['get_weather']],
  ['Please use list_files now.', {}, ['list_files']],
  ['use the tool', {}, ['get_weather']],
  ['run a function', {}, ['get_weather']],
  ['call all tools', {}, names],
  ['use both tools', { parallel_tool_calls: false }, ['get_weather']],
  ['call list_files and get_weather', {}, names],
  ['what is get_weather?', {}, []],
  ['call my_get_weather2', {}, []],
  ['call all tools', { tool_choice: 'none' }, []],
  ['hello', { tool_choice: 'auto' }, []],
  ['hello', { tool_choice: 'required' }, ['get_weather']],
  ['call list_files', { tool_choice: 'required' }, ['list_files']],
  ['hello', { tool_choice: tool('list_files') }, ['list_files']],
  [
    'hello',
    { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('list_files')] } } },
    ['list_files'],
  ],
  [
    'call get_weather',
    { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('list_files')] } } },
    [],
  ],
];

for (const [text, more, expected] of choices) {
  test(`"${text}" with ${JSON.stringify(more)} calls ${expected.join(' and ') || 'nothing'}`, (t) => {
    const { calls, finish, text: said } = ask(text, { tools, ...more });
    t.deepEqual(
      calls.map(({ name }) => name),
      expected,
    );
    t.is(finish, expected.length > 0 ? 'tool-call' : 'end');
    t.is(said === '', expected.length > 0);
  });
}

test('arguments fit the schema', (t) => {
  const { calls } = ask('call all tools', { tools });
  t.deepEqual(
    calls.map((call) => JSON.parse(call.json)),
    [{ city: 'example city' }, {}],
  );
});

test('without tools the demo answers with text', (t) => {
  t.regex(ask('use the tool', { tool_choice: 'auto' }).text, /no tools/);
});

test('after tool results the demo reports them', (t) => {
  const history = [
    user('call all tools'),
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
        { id: 'b', type: 'function', function: { name: 'list_files', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'b', content: 'a.txt' },
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '21 °C' }] },
  ];
  const { text, calls } = answer({ messages: history, tools });
  t.deepEqual(calls, []);
  t.is(text, 'The result of list_files is: a.txt\nThe result of get_weather is: 21 °C');
});

test('a tool that ends the conversation gets the answer as its text', (t) => {
  const { calls } = ask('hello', { tools: [weather, exit], tool_choice: 'required' });
  t.is(calls[0]?.name, 'ExitTool');
  t.regex(JSON.parse(calls[0]?.json ?? '').response, /You said: hello/);
  t.is(ask('call get_weather', { tools: [weather, exit], tool_choice: 'required' }).calls[0]?.name, 'get_weather');
});

for (const [more, expected] of [
  [{ reasoning_effort: 'low' }, true],
  [{ reasoning_effort: 'none' }, false],
  [{ enable_thinking: true }, true],
  [{ enable_thinking: false }, false],
  [{ thinking: { type: 'enabled' } }, true],
  [{ thinking: { type: 'disabled' } }, false],
  [{}, false],
] as const) {
  test(`reasoning by ${JSON.stringify(more)}: ${expected}`, (t) => {
    const { reasoning, usage } = ask('hello', more);
    t.is(reasoning !== '', expected);
    t.is((usage.reasoning ?? 0) > 0, expected);
  });
}

test('images are acknowledged', (t) => {
  const png = Buffer.alloc(70).toString('base64');
  const { text } = answer({
    messages: [
      user([
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
      ]),
    ],
  });
  t.regex(text, /2 images: image\/png, 70 bytes; one by URL/);
  t.regex(text, /You said: look$/);
});

test('the token limit cuts the text at a word', (t) => {
  const { text, finish, usage } = ask('hello', { max_tokens: 5 });
  t.is(text, 'Hello from the');
  t.is(finish, 'length');
  t.true((usage.output ?? 0) <= 5);
  t.is(ask('hello', { max_completion_tokens: 1, reasoning_effort: 'high' }).text, '');
  t.is(ask('hello', { max_tokens: 1000 }).finish, 'end');
});

test('JSON mode', (t) => {
  t.regex(JSON.parse(ask('hello', { response_format: { type: 'json_object' } }).text).answer, /You said: hello/);
});

test('a long text is repeated in part, and not in the middle of a character', (t) => {
  const { text } = ask(`${'x'.repeat(1999)}👋👋`);
  t.true(text.endsWith('x…'));
  t.true(text.length < 2300);
});

test('usage grows with the prompt', (t) => {
  const small = ask('a'.repeat(40)).usage.input ?? 0;
  t.is(ask('a'.repeat(440)).usage.input, small + 100);
});
