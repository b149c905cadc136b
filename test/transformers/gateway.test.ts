import test from 'ava';
import { request } from 'undici';
import type { Facts } from '../support/facts.ts';
import { startGateway } from '../support/gateway.ts';
import { readChatReply, readChatStream } from '../support/readers/chat.ts';
import { readMessagesReply, readMessagesStream } from '../support/readers/messages.ts';
import { readResponsesReply, readResponsesStream } from '../support/readers/responses.ts';
import { recordingsOf } from '../support/upstreams/recordings.ts';
import { jsonAnswer, recordedAnswer, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';
import { pieces, sse } from '../support/vendors/script.ts';

/** Each stage over the whole gateway: what a server that speaks Chat Completions gets, and what each client does. */
const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
const say = 'hello';

interface Client {
  readonly path: string;
  readonly body: (stream: boolean) => object;
  readonly readStream: (text: string) => Facts;
  readonly readReply: (body: unknown) => Facts;
  readonly stops: Readonly<Record<'end' | 'tools' | 'length', string>>;
}

const clients: Readonly<Record<string, Client>> = {
  messages: {
    path: '/v1/messages',
    body: (stream) => ({
      model: 'p,m',
      max_tokens: 4_000,
      stream,
      messages: [{ role: 'user', content: say }],
      tools: [{ name: 'get_weather', input_schema: schema }],
      thinking: { type: 'enabled', budget_tokens: 2_000 },
    }),
    readStream: readMessagesStream,
    readReply: readMessagesReply,
    stops: { end: 'end_turn', tools: 'tool_use', length: 'max_tokens' },
  },
  chat: {
    path: '/v1/chat/completions',
    body: (stream) => ({
      model: 'p,m',
      stream,
      messages: [{ role: 'user', content: say }],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
      reasoning_effort: 'high',
    }),
    readStream: readChatStream,
    readReply: readChatReply,
    stops: { end: 'stop', tools: 'tool_calls', length: 'length' },
  },
  responses: {
    path: '/v1/responses',
    body: (stream) => ({
      model: 'p,m',
      stream,
      input: say,
      tools: [{ type: 'function', name: 'get_weather', parameters: schema }],
      reasoning: { effort: 'high' },
    }),
    readStream: readResponsesStream,
    readReply: readResponsesReply,
    stops: { end: 'completed', tools: 'completed', length: 'max_output_tokens' },
  },
};

interface Answered {
  readonly content?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish?: string;
}

/** What the server answers, whole or streamed. */
const wire = ({ content, reasoning, calls = [], finish }: Answered, stream: boolean) => {
  const head = { id: 'c', created: 1, model: 'm' };
  const finish_reason = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  const written = calls.map(({ name, arguments: text }, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: text },
  }));
  if (!stream) {
    const message = {
      role: 'assistant',
      content: content ?? null,
      refusal: null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: written.map(({ index: _, ...call }) => call) }),
    };
    const choice = { index: 0, message, finish_reason };
    return jsonAnswer({ ...head, object: 'chat.completion', choices: [choice], usage });
  }
  const chunk = (delta: object, end: string | null = null) =>
    sse({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: end }] });
  return sseAnswer([
    chunk({ role: 'assistant', content: '' }),
    ...pieces(reasoning ?? '').map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(content ?? '').map((piece) => chunk({ content: piece })),
    ...written.flatMap(({ index, id, type, function: { name, arguments: text } }) => [
      chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
      ...pieces(text).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finish_reason),
    sse({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
    sse('[DONE]'),
  ]);
};

/** Sends the client's question through a gateway with these transformers. */
const ask = async (
  { path, body, readStream, readReply }: Client,
  stream: boolean,
  transformers: readonly unknown[],
  answered: Answered,
) => {
  const upstream = await startUpstream(() => wire(answered, stream));
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers,
  });
  try {
    const reply = await request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body(stream)),
    });
    const text = await reply.body.text();
    // What arrived is the gateway's own body in a known wire format; the tests look at it member by member.
    const sent: Record<string, unknown> = JSON.parse(upstream.requests[0]?.text ?? '{}');
    const facts = reply.statusCode === 200 ? (stream ? readStream(text) : readReply(JSON.parse(text))) : undefined;
    return { facts, text, sent };
  } finally {
    await gateway.stop();
    await upstream.close();
  }
};

for (const [name, client] of Object.entries(clients)) {
  for (const stream of [true, false]) {
    const way = `${name}, ${stream ? 'streamed' : 'whole'}`;
    const { stops } = client;

    test(`tooluse: ${way}: the exit is the answer’s text`, async (t) => {
      const calls = [{ name: 'ExitTool', arguments: JSON.stringify({ response: 'Done: "żółw" 🐢\n' }) }];
      const { facts, text, sent } = await ask(client, stream, ['tooluse'], { calls });
      t.like(facts, { text: 'Done: "żółw" 🐢\n', toolCalls: [], stop: stops.end });
      t.false(text.includes('ExitTool'));
      t.is(sent.tool_choice, 'required');
      t.regex(JSON.stringify(sent.tools), /"get_weather".*"ExitTool"/);
      t.regex(JSON.stringify(sent.messages), /"role":"system".*<system-reminder>/);
    });

    test(`tooluse: ${way}: another call stays a call`, async (t) => {
      const calls = [{ name: 'get_weather', arguments: '{"city":"x"}' }];
      const { facts } = await ask(client, stream, ['tooluse'], { content: 'Wait.', calls });
      t.like(facts, { text: 'Wait.', stop: stops.tools });
      t.like(facts?.toolCalls[0], { name: 'get_weather', input: { city: 'x' } });
    });

    test(`reasoning: ${way}: switches, and a tag`, async (t) => {
      const stage = { name: 'reasoning', options: { tag: 'think' } };
      const content = '<think>\nhm 🤔</think>\n\nyes';
      const { facts, sent } = await ask(client, stream, [stage], { content });
      t.like(facts, { text: 'yes', reasoning: 'hm 🤔', stop: stops.end });
      t.is(sent.enable_thinking, true);
      t.like(sent.thinking, name === 'messages' ? { type: 'enabled', budget_tokens: 2_000 } : { type: 'enabled' });
      t.is(sent.reasoning_effort, name === 'messages' ? undefined : 'high');
    });

    test(`reasoning: ${way}: reasoning_content`, async (t) => {
      const { facts } = await ask(client, stream, ['reasoning'], { reasoning: 'hm', content: 'yes' });
      t.like(facts, { text: 'yes', reasoning: 'hm', stop: stops.end });
    });

    test(`reasoning: ${way}: turned off`, async (t) => {
      const stage = { name: 'reasoning', options: { enable: false } };
      const { facts, text, sent } = await ask(client, stream, [stage], { reasoning: 'secret', content: 'yes' });
      t.like(facts, { text: 'yes', reasoning: '', stop: stops.end });
      t.false(text.includes('secret'));
      t.like(sent, { enable_thinking: false, thinking: { type: 'disabled' } });
      t.is(sent.reasoning_effort, undefined);
    });

    test(`enhancetool: ${way}: arguments are repaired`, async (t) => {
      const calls = [
        { name: 'get_weather', arguments: "{'city': 'Łódź', 'days': '3',}" },
        { name: 'get_weather', arguments: '{"city":"x"}' },
      ];
      const { facts } = await ask(client, stream, ['enhancetool'], { content: 'Wait.', calls });
      t.is(facts?.text, 'Wait.');
      t.deepEqual(
        facts?.toolCalls.map(({ input }) => input),
        [{ city: 'Łódź', days: 3 }, { city: 'x' }],
      );
      t.is(facts?.stop, stops.tools);
    });

    test(`all at once: ${way}`, async (t) => {
      const stages = ['enhancetool', 'tooluse', { name: 'reasoning', options: { tag: 'think' } }];
      const calls = [
        { name: 'get_weather', arguments: '{"city":"x","days":"3"}' },
        { name: 'ExitTool', arguments: '{"response":"done"}' },
      ];
      const { facts } = await ask(client, stream, stages, { content: '<think>hm</think>Wait. ', calls });
      t.like(facts, { reasoning: 'hm', text: 'Wait. done', stop: stops.tools });
      t.deepEqual(
        facts?.toolCalls.map(({ input }) => input),
        [{ city: 'x', days: 3 }],
      );
    });
  }
}

test('reasoning: without a tag a chat client gets the server’s own bytes', async (t) => {
  const upstream = await startUpstream(() => recordedAnswer('openai-chat/text-vercel-long.sse', 701));
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: ['reasoning'],
  });
  const reply = await request(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...Object(clients.chat?.body(true)), stream_options: { include_usage: true } }),
  });
  const got = Buffer.from(await reply.body.arrayBuffer());
  await gateway.stop();
  await upstream.close();
  const recording = recordingsOf('openai-chat').find(({ name }) => name === 'text-vercel-long');
  t.true(recording && got.equals(recording.bytes));
});

test('enhancetool: a call truncated by the limit reaches a chat client unchanged', async (t) => {
  const calls = [{ name: 'get_weather', arguments: '{"city":"Ł' }];
  const { facts } = await ask(clients.chat ?? t.fail(), true, ['enhancetool'], { calls, finish: 'length' });
  t.is(facts?.stop, 'length');
  t.deepEqual(
    facts?.toolCalls.map(({ input }) => input),
    ['{"city":"Ł'],
  );
});

test('reasoning: a recorded stream with tags, in pieces', async (t) => {
  const recording = recordingsOf('groq').find(({ name }) => name === 'think-tags-in-content');
  const upstream = await startUpstream(() => recordedAnswer('groq/think-tags-in-content.sse', 613));
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: 'reasoning', provider: 'p', options: { tag: 'think' } }],
  });
  const reply = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(clients.messages?.body(true)),
  });
  const facts = readMessagesStream(await reply.body.text());
  await gateway.stop();
  await upstream.close();
  t.is(`<think>\n${facts.reasoning}</think>\n\n${facts.text}`, recording?.expected.text ?? '');
});
