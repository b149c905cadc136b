import test from 'ava';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { createTokenCounter } from '../../engine/routing/tokens/encoder.ts';
import { decodeCountRequest } from '../../protocols/messages/decode-request/decode-request.ts';
import { sseAnswer } from '../support/upstreams/upstream.ts';
import { overGateway } from './over-gateway.ts';
import { at, type ClientName, clientNames, clients, hear, hearWhole, send, sse } from './rig.ts';
import { candidate, chatUsage, chunk, done, finish, message, response, role, text } from './vendor-words.ts';

/** 100 tokens of prompt, 40 of them read from a cache and 10 written to one; 20 of output, 5 of them reasoning. */
const anthropicUsage = {
  input_tokens: 50,
  cache_read_input_tokens: 40,
  cache_creation_input_tokens: 10,
  output_tokens: 20,
  output_tokens_details: { thinking_tokens: 5 },
};
const openaiUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 5 },
};
const responsesUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
};
const geminiUsage = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 15,
  thoughtsTokenCount: 5,
  totalTokenCount: 120,
};
const deepseekUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_cache_hit_tokens: 40,
  prompt_cache_miss_tokens: 60,
  completion_tokens_details: { reasoning_tokens: 5 },
};

const withUsage: Readonly<Record<string, readonly (string | JsonObject)[]>> = {
  anthropic: message(text(0, 'a'), 'end_turn', anthropicUsage, { ...anthropicUsage, output_tokens: 1 }),
  openai: [role, chunk({ content: 'a' }), finish('stop'), chatUsage(openaiUsage), done],
  openrouter: [
    role,
    chunk({ content: 'a' }),
    finish('stop'),
    chunk({ content: '' }, 'stop', { usage: openaiUsage }),
    done,
  ],
  deepseek: [role, chunk({ content: 'a' }), chunk({ content: '' }, 'stop', { usage: deepseekUsage }), done],
  groq: [role, chunk({ content: 'a' }), chunk({}, 'stop', { x_groq: { id: 'req_1', usage: openaiUsage } }), done],
  responses: response([], { usage: responsesUsage }),
  gemini: [candidate([{ text: 'a' }], 'STOP', { usageMetadata: geminiUsage })],
};
/** These don't tell what was written to a cache. */
const silentOnWrites = ['gemini', 'deepseek'];

for (const [format, records] of Object.entries(withUsage)) {
  for (const client of clientNames) {
    test(`U2, U3: cached tokens count once, and writes aren't reads: ${format} → ${client}`, (t) => {
      const cacheWrite = silentOnWrites.includes(format) ? 0 : 10;
      t.deepEqual(hear(format, client, records).facts.usage, {
        prompt: 100,
        cacheRead: 40,
        cacheWrite,
        output: 20,
        reasoning: 5,
      });
    });
  }
}

for (const client of clientNames) {
  test(`U2: a cached count above the prompt's makes nothing negative: ${client}`, (t) => {
    const usage = { ...openaiUsage, prompt_tokens: 10, total_tokens: 30 };
    const { text: stream } = hear('openai', client, [role, finish('stop'), chatUsage(usage), done]);
    t.notRegex(stream, /_tokens":-/);
  });
}

test('U1: message_start estimates the prompt, and the end corrects it', async (t) => {
  const words = 'These are about a dozen tokens of a prompt, more or less. '.repeat(20);
  const script = () => sseAnswer((withUsage.openai ?? []).map(sse));
  await overGateway(t, 'openai', script, async ({ post }) => {
    const { text: stream } = await post('messages', { stream: true, messages: [{ role: 'user', content: words }] });
    const data = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']): JsonObject => JSON.parse(json));
    const estimate = Number(at(data[0], 'message', 'usage', 'input_tokens'));
    t.true(estimate > 100 && estimate < 1_000, `${estimate}`);
    const { usage } = clients.messages.readStream(stream);
    t.deepEqual(usage, { prompt: 100, cacheRead: 40, cacheWrite: 10, output: 20, reasoning: 5 });
  });
});

test('U1: counts that the vendor gives at the beginning go out at the beginning', (t) => {
  const { text: stream } = hear('anthropic', 'messages', withUsage.anthropic ?? []);
  const [, start = '{}'] = /^data: (\{"type":"message_start".*\})$/m.exec(stream) ?? [];
  t.like(at(JSON.parse(start), 'message', 'usage'), { input_tokens: 50, cache_read_input_tokens: 40 });
});

test('U4: each kind of block and each tool counts, not only text', (t) => {
  const { count } = createTokenCounter();
  const words = 'Some words that certainly take tokens, whatever holds them. '.repeat(10);
  const tokens = (more: JsonObject): number =>
    count(decodeCountRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more }));
  const plain = tokens({});
  const turn = (...content: JsonObject[]) => ({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: content.filter(({ type }) => type !== 'tool_result') },
      { role: 'user', content: [...content.filter(({ type }) => type === 'tool_result'), { type: 'text', text: 'x' }] },
    ],
  });
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const cases: Readonly<Record<string, JsonObject>> = {
    system: { system: words },
    tools: { tools: [{ name: 'f', description: words, input_schema: { type: 'object' } }] },
    'input schema': {
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: { x: { type: 'string', description: words } } } },
      ],
    },
    text: turn({ type: 'text', text: words }),
    call: turn({ ...call, input: { words } }, { type: 'tool_result', tool_use_id: 'c', content: 'ok' }),
    result: turn(call, { type: 'tool_result', tool_use_id: 'c', content: words }),
    'result of blocks': turn(call, { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: words }] }),
    image: {
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://images.example/x.png' } }] },
      ],
    },
    document: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: words } }],
        },
      ],
    },
  };
  for (const [title, body] of Object.entries(cases)) t.true(tokens(body) > plain + 80, `${title}: ${tokens(body)}`);
});

for (const format of Object.keys(withUsage)) {
  test(`U5: a Responses answer has all its counts, also when they are 0: ${format}`, (t) => {
    const bare = {
      anthropic: { output_tokens: 2, input_tokens: 1 },
      openai: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    const records =
      format === 'anthropic'
        ? message(text(0, 'a'), 'end_turn', bare.anthropic)
        : format === 'openai'
          ? [role, chunk({ content: 'a' }), finish('stop'), chatUsage(bare.openai), done]
          : (withUsage[format] ?? []);
    const { text: stream } = hear(format, 'responses', records);
    const [, last = '{}'] = /^data: (\{"type":"response.completed".*\})$/m.exec(stream) ?? [];
    const usage = at(JSON.parse(last), 'response', 'usage');
    t.is(typeof at(usage, 'input_tokens_details', 'cached_tokens'), 'number');
    t.is(typeof at(usage, 'output_tokens_details', 'reasoning_tokens'), 'number');
  });
}

test('U5: a whole Responses reply has them as well', (t) => {
  const reply = {
    id: 'x',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };
  t.like(at(hearWhole('openai', 'responses', reply).body, 'usage'), {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 3,
  });
});

/** A conversation of three turns in which each text occurs once. */
const history: Readonly<Record<ClientName, (turns: number) => JsonObject>> = {
  messages: (turns) => ({
    system: 'word-system',
    messages: Array.from({ length: turns }, (_, index) => [
      { role: 'user', content: `word-user-${index}` },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: `word-said-${index}` },
          { type: 'tool_use', id: `c${index}`, name: 'f', input: { q: `word-asked-${index}`, a: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${index}`, content: `word-found-${index}` }] },
    ]).flat(),
    tools: [{ name: 'f', description: 'word-tool', input_schema: { type: 'object', properties: { q: {}, a: {} } } }],
  }),
  chat: (turns) => ({
    messages: [
      { role: 'system', content: 'word-system' },
      ...Array.from({ length: turns }, (_, index) => [
        { role: 'user', content: `word-user-${index}` },
        {
          role: 'assistant',
          content: `word-said-${index}`,
          tool_calls: [
            {
              id: `c${index}`,
              type: 'function',
              function: { name: 'f', arguments: `{"q":"word-asked-${index}","a":1}` },
            },
          ],
        },
        { role: 'tool', tool_call_id: `c${index}`, content: `word-found-${index}` },
      ]).flat(),
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'f', description: 'word-tool', parameters: { type: 'object', properties: { q: {}, a: {} } } },
      },
    ],
    prompt_cache_key: 'word-key',
  }),
  responses: (turns) => ({
    instructions: 'word-system',
    input: Array.from({ length: turns }, (_, index): JsonObject[] => [
      { role: 'user', content: `word-user-${index}` },
      { role: 'assistant', content: `word-said-${index}` },
      { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: `{"q":"word-asked-${index}","a":1}` },
      { type: 'function_call_output', call_id: `c${index}`, output: `word-found-${index}` },
    ]).flat(),
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'word-tool',
        parameters: { type: 'object', properties: { q: {}, a: {} } },
      },
    ],
    prompt_cache_key: 'word-key',
  }),
};

const upstreams = ['anthropic', 'openai', 'responses', 'gemini', 'deepseek', 'openrouter', 'groq'];

for (const client of clientNames) {
  for (const upstream of upstreams) {
    const ask = (turns: number) => send(client, upstream, history[client](turns));

    test(`U6: nothing goes out twice, and nothing is added: ${client} → ${upstream}`, (t) => {
      const body = history[client](3);
      const { text: sent } = ask(3);
      const words = JSON.stringify(body).match(/word-(?!key)[\w-]+/g) ?? [];
      t.deepEqual((sent.match(/word-(?!key)[\w-]+/g) ?? []).sort(), words.sort());
      t.true(sent.length < 2 * JSON.stringify(body).length, `${sent.length} bytes`);
    });

    test(`U7: one more turn leaves the bytes before it as they were: ${client} → ${upstream}`, (t) => {
      const [shorter, longer] = [ask(2).text, ask(3).text];
      t.is(ask(3).text, longer, 'the same request gives the same bytes');
      const turn = shorter.lastIndexOf('word-found-1');
      const start = Math.min(...['"messages":', '"input":', '"contents":'].map((name) => from(shorter, name)));
      t.is(longer.slice(start, turn), shorter.slice(start, turn));
      const tools = /"tools":\[.*?word-tool.*?\]/.exec(shorter)?.[0];
      t.true(tools !== undefined && longer.includes(tools));
    });
  }
}

const from = (text: string, name: string): number => {
  const place = text.indexOf(name);
  return place < 0 ? Number.POSITIVE_INFINITY : place;
};

for (const client of ['chat', 'responses'] as const) {
  for (const [upstream, taken] of [
    ['openai', true],
    ['look-alike', false],
    ['responses', true],
    ['groq', false],
    ['deepseek', false],
    ['anthropic', false],
  ] as const) {
    test(`U7: prompt_cache_key reaches those who know it: ${client} → ${upstream}`, (t) => {
      const own = upstream === 'openai' ? 'https://api.openai.com/v1' : undefined;
      const row = upstream === 'look-alike' ? 'openai' : upstream;
      const { body, losses } = send(client, row, history[client](1), 'model-x', own);
      t.is(body.prompt_cache_key, taken ? 'word-key' : undefined);
      t.is(losses.includes('prompt_cache_key'), !taken);
    });
  }
}

test('U7: cache marks of a Messages client stay in their places', (t) => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const body = {
    system: [{ type: 'text', text: 'sys', ...mark }],
    tools: [{ name: 'f', input_schema: { type: 'object' }, ...mark }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }],
  };
  const { body: sent } = send('messages', 'anthropic', body);
  for (const place of [at(sent, 'system', 0), at(sent, 'tools', 0), at(sent, 'messages', 0, 'content', 0)]) {
    t.deepEqual(at(place, 'cache_control'), { type: 'ephemeral' });
  }
});
