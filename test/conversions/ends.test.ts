import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import test from 'ava';
import OpenAI from 'openai';
import { modelOf, type Wire, type WireName, wires } from '../support/faults/wires.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readResponsesStream } from '../support/readers/responses.ts';
import {
  jsonAnswer,
  type Reaction,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
  type UpstreamRequest,
} from '../support/upstreams/upstream.ts';

/** Where an upstream's answer breaks: what it plays, and what a client must come to. */
interface Place {
  readonly play: (wire: Wire) => Reaction;
  readonly comesTo: (wire: WireName) => 'error' | 'whole';
}

const texts = ['one ', 'grüße ', '👋'];
const whole = texts.join('');
/** The records up to the second word, and the next one. */
const begun = ({ stream, headRecords }: Wire): readonly [before: string, next: string] => {
  const records = stream(texts);
  return [records.slice(0, headRecords + 2).join(''), records[headRecords + 2] ?? ''];
};
const always = (what: 'error' | 'whole') => () => what;

const places: Readonly<Record<string, Place>> = {
  'before the head': { play: () => 'reset', comesTo: always('error') },
  'in the head': { play: () => ({ raw: 'HTTP/1.1 200 OK\r\ncontent-ty', finish: 'close' }), comesTo: always('error') },
  'in a record': {
    play: (wire) => {
      const [before, next] = begun(wire);
      return sseAnswer([before + next.slice(0, next.length / 2)], 'close');
    },
    comesTo: always('error'),
  },
  'between records': { play: (wire) => sseAnswer([begun(wire)[0]], 'close'), comesTo: always('error') },
  'after the finish': {
    play: (wire) =>
      sseAnswer(
        [
          wire
            .stream(texts)
            .slice(0, wire === wires.gemini ? undefined : -1)
            .join(''),
        ],
        'close',
      ),
    // Its finish is its end.
    comesTo: (wire) => (wire === 'gemini' ? 'whole' : 'error'),
  },
  'after the terminal record': {
    play: (wire) => sseAnswer([wire.stream(texts).join('')], 'stall'),
    comesTo: always('whole'),
  },
};

const upstreams: Readonly<
  Record<string, { readonly format: string; readonly wire: WireName; readonly options?: object }>
> = {
  anthropic: { format: 'anthropic', wire: 'messages' },
  openai: { format: 'openai', wire: 'chat' },
  responses: { format: 'openai', wire: 'responses', options: { api: 'responses' } },
  deepseek: { format: 'deepseek', wire: 'chat' },
  gemini: { format: 'gemini', wire: 'gemini' },
  openrouter: { format: 'openrouter', wire: 'chat' },
  groq: { format: 'groq', wire: 'chat' },
};

/** Reads a streamed answer to its end and gives its text. */
type Reader = (baseUrl: string, model: string) => Promise<string>;

const say = [{ role: 'user' as const, content: 'x' }];
const anthropic = (baseURL: string) => new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0 });
const openai = (baseUrl: string) => new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'k', maxRetries: 0 });

const langChain = (model: ChatAnthropic | ChatOpenAI): Promise<string> => joined(model.stream('x'));
const joined = async (stream: Promise<AsyncIterable<{ readonly text: string }>>): Promise<string> => {
  let text = '';
  for await (const chunk of await stream) text += chunk.text;
  return text;
};

const readers: Readonly<Record<string, Readonly<Record<string, Reader>>>> = {
  messages: {
    'the SDK’s stream': (baseUrl, model) =>
      anthropic(baseUrl).messages.stream({ model, max_tokens: 9, messages: say }).finalText(),
    'a plain loop': async (baseUrl, model) => {
      let text = '';
      const events = await anthropic(baseUrl).messages.create({ model, max_tokens: 9, messages: say, stream: true });
      for await (const event of events) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
      }
      return text;
    },
    LangChain: (baseUrl, model) =>
      langChain(new ChatAnthropic({ anthropicApiUrl: baseUrl, apiKey: 'k', model, maxTokens: 9, maxRetries: 0 })),
  },
  chat: {
    'the SDK’s stream': async (baseUrl, model) =>
      (await openai(baseUrl).chat.completions.stream({ model, messages: say }).finalContent()) ?? '',
    'a plain loop': async (baseUrl, model) => {
      let text = '';
      const chunks = await openai(baseUrl).chat.completions.create({ model, messages: say, stream: true });
      for await (const { choices } of chunks) text += choices[0]?.delta.content ?? '';
      return text;
    },
    LangChain: (baseUrl, model) =>
      langChain(new ChatOpenAI({ configuration: { baseURL: `${baseUrl}/v1` }, apiKey: 'k', model, maxRetries: 0 })),
  },
  responses: {
    'the SDK’s stream': async (baseUrl, model) =>
      (await openai(baseUrl).responses.stream({ model, input: 'x' }).finalResponse()).output_text,
    'a plain loop': async (baseUrl, model) => {
      let text = '';
      for await (const event of await openai(baseUrl).responses.create({ model, input: 'x', stream: true })) {
        if (event.type === 'response.output_text.delta') text += event.delta;
      }
      return text;
    },
    LangChain: (baseUrl, model) =>
      langChain(
        new ChatOpenAI({
          configuration: { baseURL: `${baseUrl}/v1` },
          apiKey: 'k',
          model,
          maxRetries: 0,
          useResponsesApi: true,
        }),
      ),
  },
};

const wireOf = ({ url }: UpstreamRequest): Wire => {
  if (url.startsWith('/v1/messages')) return wires.messages;
  if (url.includes('/responses')) return wires.responses;
  return url.includes('/models/') ? wires.gemini : wires.chat;
};

/** How each vendor says that a prompt doesn't fit the model's window, by its provider's name. */
const overflows: Readonly<Record<string, object>> = {
  anthropic: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  },
  openai: {
    error: {
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
  responses: {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
  deepseek: {
    error: {
      message: "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_request_error',
    },
  },
  gemini: {
    error: {
      code: 400,
      message: 'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    },
  },
  openrouter: {
    error: {
      code: 400,
      message: "This endpoint's maximum context length is 200000 tokens. However, you requested about 210000 tokens.",
      metadata: { error_type: 'context_length_exceeded', provider_name: null },
    },
  },
  groq: {
    error: {
      message: 'Please reduce the length of the messages or completion.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream((asked) => {
    const model = modelOf(asked);
    const overflow = overflows[model];
    return overflow ? jsonAnswer(overflow, 400) : (places[model]?.play(wireOf(asked)) ?? 'reset');
  });
  const names = Object.keys(upstreams);
  gateway = await startGateway({
    RETRY: { attempts: 0 },
    BREAKER: { faults: 10_000 },
    LOG: false,
    Providers: names.map((name) => ({ name, baseUrl: upstream.url, apiKey: 'key-of-ours', models: [] })),
    transformers: Object.entries(upstreams).map(([provider, { format, options }]) => ({
      name: format,
      provider,
      ...(options && { options }),
    })),
  });
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await upstream?.close();
});

for (const [client, byName] of Object.entries(readers)) {
  for (const [provider, { wire }] of Object.entries(upstreams)) {
    test(`${client} → ${provider}: each client ends as the answer did`, async (t) => {
      const cells = Object.entries(places).flatMap(([place, { comesTo }]) =>
        Object.entries(byName).map(async ([reader, read]) => {
          const cell = `${reader}, broken ${place}`;
          const came = await read(gateway.baseUrl, `${provider},${place}`).then(
            (text) => ({ text }),
            (error: unknown) => ({ error: String(error) }),
          );
          if (comesTo(wire) === 'whole') t.deepEqual(came, { text: whole }, cell);
          else
            t.regex(
              'error' in came ? came.error : `no error: ${came.text}`,
              new RegExp(`provider ${provider}, model`),
              cell,
            );
        }),
      );
      await Promise.all(cells);
    });
  }
}

test('a complete answer is no fault, and its connection is let go', async (t) => {
  const place = 'after the terminal record';
  for (const [provider, { wire }] of Object.entries(upstreams)) {
    const before = upstream.requests.length;
    t.is(await readers.messages?.['a plain loop']?.(gateway.baseUrl, `${provider},${place}`), whole, wire);
    const asked = upstream.requests.slice(before).filter((request) => modelOf(request) === place);
    await Promise.all(asked.map(({ closed }) => closed));
  }
  const state = await (await fetch(`${gateway.baseUrl}/api/upstreams`)).text();
  t.false(state.includes(`"model":"${place}"`), 'a model that is no fault isn’t shown');
});

for (const provider of Object.keys(overflows)) {
  test(`a prompt that is too long for ${provider} is one in the words of each client`, async (t) => {
    const model = `${provider},${provider}`;
    const post = (path: string, body: object) =>
      fetch(`${gateway.baseUrl}${path}`, { method: 'POST', body: JSON.stringify({ model, ...body }) });
    const from = `${model};explicit`;

    const streamed = await post('/v1/responses', { input: 'x', stream: true });
    t.is(streamed.status, 200);
    t.is(streamed.headers.get('x-junctor-route'), from);
    t.regex(streamed.headers.get('content-type') ?? '', /^text\/event-stream/);
    const text = await streamed.text();
    const { stop, error } = readResponsesStream(text);
    t.is(stop, 'failed');
    t.true(error?.endsWith(`(provider ${provider}, model ${provider})`), error);
    const failed = JSON.parse(text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '');
    t.is(failed.response.error.code, 'context_length_exceeded');

    const plainResponse = await post('/v1/responses', { input: 'x' });
    t.is(plainResponse.status, 400);
    t.is(plainResponse.headers.get('x-junctor-route'), from);
    t.like(await plainResponse.json(), { error: { code: 'context_length_exceeded' } });

    for (const stream of [false, true]) {
      const chat = await post('/v1/chat/completions', { messages: say, stream });
      t.is(chat.status, 400);
      t.like(await chat.json(), { error: { code: 'context_length_exceeded' } });
      const messages = await post('/v1/messages', { messages: say, max_tokens: 9, stream });
      t.is(messages.status, 400);
      t.regex(await messages.text(), /"message":"prompt is too long: /);
    }
  });
}

test('a connection whose body ends with its answer serves again', async (t) => {
  const own = await startUpstream((asked) => sseAnswer([wireOf(asked).stream(texts).join('')]));
  t.teardown(() => own.close());
  const served = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: own.url, apiKey: 'k', models: [] }],
    transformers: [{ name: 'anthropic', provider: 'p' }],
  });
  t.teardown(() => served.stop());
  for (const client of ['messages', 'chat', 'messages']) {
    t.is(await readers[client]?.['a plain loop']?.(served.baseUrl, 'p,m'), whole);
  }
  t.is(own.totalSockets, 1);
});
