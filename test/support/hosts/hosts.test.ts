import test from 'ava';
import type { HostBody } from './check.ts';
import { breachesOf } from './host-vendor.ts';
import { type StrictHost, strictHosts } from './hosts.ts';

/** The strict hosts refuse what the originals refuse, by rule and place, and take what all of them take. */
const hi = { role: 'user', content: 'Hi.' };
const system = { role: 'system', content: 'Be brief.' };
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'look_up', parameters: schema } }];
const toolWith = (more: object) => ({ tools: [{ type: 'function', function: { ...tools[0]?.function, ...more } }] });

const signature = strictHosts["gemini's door"].callMembers;
const callOf = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look_up', arguments: '{}' },
  ...signature,
  ...more,
});
const calling = (id = 'call00001', more: object = {}) => ({
  role: 'assistant',
  content: '',
  tool_calls: [callOf(id)],
  reasoning_content: 'First, look it up.',
  ...more,
});
const result = (id = 'call00001', content = 'Łódź') => ({ role: 'tool', tool_call_id: id, content });

/** A tool loop in the narrowest form. Members that only some hosts know are left to those. */
const narrowest = (host: StrictHost): HostBody => {
  const call = calling();
  const { reasoning_content: _, ...withoutReasoning } = call;
  const turn = host.reasoning === 'reasoning_content' ? call : withoutReasoning;
  const calls = host.callMembers ? turn.tool_calls : turn.tool_calls.map(({ extra_content: _, ...rest }) => rest);
  return {
    model: host.model,
    messages: [system, hi, { ...turn, tool_calls: calls }, result()],
    tools,
    max_tokens: 4_096,
    stream: true,
  };
};

const hosts: Readonly<Record<string, StrictHost>> = strictHosts;

for (const [name, host] of Object.entries(hosts)) {
  test(`${name} takes the narrowest form`, (t) => {
    t.deepEqual(breachesOf(host, narrowest(host)), []);
  });
}

type Row = readonly [host: keyof typeof strictHosts, change: object, path: string];

const deepSchema = { type: 'object', properties: { a: { type: 'string', anyOf: [{ type: 'string' }] } } };
const tuple = { type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }] } } };
const referring = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } };

const refused: Readonly<Record<string, Row>> = {
  'a second system message': ['vllm', { messages: [system, system, hi] }, 'messages[1].role'],
  'a system message in the middle': ['llama.cpp', { messages: [hi, system, hi] }, 'messages[1].role'],
  'one behind the user': ['minimax', { messages: [hi, system] }, 'messages[1].role'],
  'a developer': ['kimi', { messages: [{ role: 'developer', content: 'A' }, hi] }, 'messages[0].role'],
  'a list of texts': ['ollama cloud', { messages: [{ role: 'user', content: [text('A')] }] }, 'messages[0].content'],
  "a list in the assistant's turn": [
    'nim',
    { messages: [hi, { role: 'assistant', content: [text('A')] }, hi] },
    'messages[1].content',
  ],
  'two of one side': ['lm studio', { messages: [system, hi, hi] }, 'messages[2].role'],
  'a named tool': ['lm studio', { tool_choice: { type: 'function' } }, 'tool_choice'],
  'a forced tool': ['dashscope', { tool_choice: 'required' }, 'tool_choice'],
  'the user behind a result': ['mistral', { messages: [hi, calling(), result(), hi] }, 'messages[3].role'],
  'an answer at the end': ['mistral', { messages: [hi, { role: 'assistant', content: 'A' }] }, 'messages[1].role'],
  'an id of others': ['mistral', { messages: [hi, calling('call_1'), result('call_1')] }, 'messages[1].tool_calls'],
  'a long id': [
    'openai',
    { messages: [hi, calling('c'.repeat(41)), result('c'.repeat(41))] },
    'messages[1].tool_calls',
  ],
  'an unknown member': ['mistral', { stream_options: { include_usage: true } }, 'stream_options'],
  'an unknown member of a message': [
    'mistral',
    { messages: [hi, calling('call00001'), result()] },
    'messages[1].reasoning_content',
  ],
  'stop words': ['xai', { stop: ['A'] }, 'stop'],
  'a penalty': ['cerebras', { presence_penalty: 0 }, 'presence_penalty'],
  'a temperature': ['kimi', { temperature: 1 }, 'temperature'],
  'a temperature of zero': ['minimax', { temperature: 0 }, 'temperature'],
  'an effort of others': ['kimi', { reasoning_effort: 'medium' }, 'reasoning_effort'],
  'calls without what was thought': [
    'kimi',
    { messages: [hi, calling('call00001', { reasoning_content: '' }), result()] },
    'messages[1].reasoning_content',
  ],
  'strict tools': ['kimi', toolWith({ strict: true }), 'tools[0].function.strict'],
  'a type beside a union': ['kimi', toolWith({ parameters: deepSchema }), 'tools[0].function.parameters.properties.a'],
  'a tuple': ['kimi', toolWith({ parameters: tuple }), 'tools[0].function.parameters.properties.a'],
  'a reference': ['llama.cpp', toolWith({ parameters: referring }), 'tools[0].function.parameters.properties.a'],
  'an object without properties': [
    'openai',
    toolWith({ parameters: { type: 'object' } }),
    'tools[0].function.parameters',
  ],
  'a union at the root': [
    "gemini's door",
    toolWith({ parameters: { ...schema, anyOf: [{ required: ['city'] }] } }),
    'tools[0].function.parameters',
  ],
  'an empty text part': [
    'z.ai',
    { messages: [{ role: 'user', content: [text('A'), text('')] }] },
    'messages[0].content',
  ],
  'an empty result': ['z.ai', { messages: [hi, calling(), result('call00001', '')] }, 'messages[2].content'],
  'an image': ['z.ai', { messages: [{ role: 'user', content: [text('A'), image()] }] }, 'messages[0].content'],
  'too many tokens': ['z.ai', { max_tokens: 131_073 }, 'max_tokens'],
  'the newer limit': ['z.ai', { max_completion_tokens: 9 }, 'max_completion_tokens'],
  'a call without its signature': [
    "gemini's door",
    {
      messages: [
        hi,
        calling('call00001', { tool_calls: [callOf('call00001', { extra_content: undefined })] }),
        result(),
      ],
    },
    'messages[1].tool_calls',
  ],
  'an effort of the newest': ['vllm', { reasoning_effort: 'xhigh' }, 'reasoning_effort'],
  'reasoning off': ['xai 4.5', { reasoning_effort: 'none' }, 'reasoning_effort'],
  'the highest effort': ['fireworks', { reasoning_effort: 'max' }, 'reasoning_effort'],
  'the lowest effort': ['cerebras', { reasoning_effort: 'minimal' }, 'reasoning_effort'],
  'two sampling fields': ['copilot', { temperature: 0, top_p: 0.9 }, 'top_p'],
  'a list of types': [
    "gemini's door",
    toolWith({ parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } } }),
    'tools[0].function.parameters.properties.a',
  ],
  'empty arguments': [
    'vllm',
    {
      messages: [
        hi,
        calling('c', { tool_calls: [callOf('c', { function: { name: 'f', arguments: '' } })] }),
        result('c'),
      ],
    },
    'messages[1].tool_calls',
  ],
  'a call without a result': ['vllm', { messages: [hi, calling(), hi] }, 'messages[2]'],
  'a result without a call': ['vllm', { messages: [hi, result()] }, 'messages[1].tool_call_id'],
  'a choice without tools': ['vllm', { tools: undefined, tool_choice: 'auto' }, 'tool_choice'],
  'an empty list of tools': ['vllm', { tools: [] }, 'tools'],
  'stream options without a stream': ['vllm', { stream: false, stream_options: {} }, 'stream_options'],
  'a name with a dot': ['vllm', toolWith({ name: 'a.b' }), 'tools[0].function.name'],
  'a custom tool': ['vllm', { tools: [{ type: 'custom', custom: { name: 'a' } }] }, 'tools[0].type'],
  'two tools of one name': ['vllm', { tools: [...tools, ...tools] }, 'tools[1].function.name'],
};

function text(words: string) {
  return { type: 'text', text: words };
}

function image() {
  return { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
}

for (const [title, [name, change, path]] of Object.entries(refused)) {
  test(`${name} refuses ${title}`, (t) => {
    const host: StrictHost = strictHosts[name];
    const paths = breachesOf(host, { ...narrowest(host), ...change }).map((breach) => breach.path);
    t.true(paths.includes(path), JSON.stringify(paths));
  });
}
