import test, { type ExecutionContext } from 'ava';
import type { ClientWire } from '../../engine/model/wire/client-wires.ts';
import { formats } from '../../transformers/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  bareChatSdk,
  chatSdk,
  formerChatSdk,
  formerResponsesSdk,
  type Learnt,
  messagesSdk,
  responsesSdk,
  type SdkClient,
} from '../support/sdk-clients.ts';
import type { ScriptedUpstream } from '../support/upstreams/upstream.ts';
import { counts, hello, thought } from '../support/vendors/script.ts';
import { cloudWires, wires as vendorWires } from '../support/vendors/wires.ts';

/** A client protocol, and how it words what the cells ask for. */
interface Client {
  readonly sdk: SdkClient;
  readonly end: string;
  readonly tool: string;
}

/** The real SDKs through the running gateway to vendors as strict as the originals: every pair, streamed and not. */
const clients: Readonly<Record<ClientWire, Client>> = {
  messages: { sdk: messagesSdk, end: 'end_turn', tool: 'tool_use' },
  chat: { sdk: chatSdk, end: 'stop', tool: 'tool_calls' },
  responses: { sdk: responsesSdk, end: 'completed', tool: 'completed' },
};

const wires = { ...vendorWires, ...cloudWires };

test('every vendor is in the matrix', (t) => {
  const served = new Set(Object.values(wires).map(({ format }) => format));
  // Decision models answer no clients.
  t.deepEqual([...served, 'decision-models'].sort(), [...formats.keys()].sort());
});

/** Where a cell differs from the rule, and why. */
const known: Readonly<Record<string, string>> = {
  'chat → openai responses: hidden reasoning': 'an effort alone asks for no summary, and the vendor shows nothing else',
};

let gateway: TestGateway;
let vendors: Readonly<Record<string, ScriptedUpstream>> = {};
const keyOf = (name: string): string => `key-of-${name.replace(' ', '-')}`;

test.before(async () => {
  const served = Object.entries(wires).map(async ([name, { serve }]) => [name, await serve(keyOf(name))] as const);
  vendors = Object.fromEntries(await Promise.all(served));
  const rows = Object.entries(wires).map(([name, row]) => ({ name, url: vendors[name]?.url ?? '', ...row }));
  const config = {
    // What a vendor refuses is to be seen as it is, and at once.
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000 },
    LOG: false,
    Providers: [
      ...rows.map(({ name, url, base = '', model }) => ({
        name,
        baseUrl: `${url}${base}`,
        apiKey: keyOf(name),
        models: [model],
      })),
      ...rows.map(({ name, url, base = '' }) => ({
        name: `${name} locked`,
        baseUrl: `${url}${base}`,
        apiKey: 'wrong-key',
        models: [],
      })),
    ],
    transformers: rows.flatMap(({ name, format, options }) =>
      [name, `${name} locked`].map((provider) => ({ name: format, provider, ...(options && { options }) })),
    ),
  };
  // Behind a first keep-alive, a fault is no status anymore.
  gateway = await startGateway(config, {}, { keepAliveMs: 600_000 });
});

/** What each cell came to, for the grid. */
const cells = new Map<string, Map<string, string>>();

test.after('the upstreams got keys of their own and never the client’s', (t) => {
  for (const { requests } of Object.values(vendors)) {
    t.true(requests.length > 0);
    for (const { headers, text } of requests) {
      t.false(JSON.stringify(headers).includes('client-key') || text.includes('client-key'));
    }
  }
});

test.after.always('the grid', (t) => {
  const columns = Object.keys(clients).flatMap((client) => [`${client}`, `${client} stream`]);
  const width = Math.max(...columns.map(({ length }) => length)) + 2;
  const line = (first: string, rest: readonly string[]): string =>
    first.padEnd(20) + rest.map((text) => text.padEnd(width)).join('');
  t.log(line('', columns));
  for (const upstream of Object.keys(wires)) {
    const marks = columns.map((column) => [...(cells.get(`${column} → ${upstream}`)?.values() ?? [])].join(''));
    t.log(line(upstream, marks));
  }
  t.log('text, usage · tool · parallel tools · reasoning · tool loop with reasoning · image · 429 · 500 · 401');
  t.log('✔ as asked, ▢ refused by the gateway, since the provider could not serve it, ✘ failed');
  t.pass();
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
});

const usage = { prompt: counts.prompt, cached: counts.cached, output: counts.output, reasoning: counts.reasoning };
const calls: Learnt['calls'] = [
  { id: 'call_one', name: 'get_weather', input: { city: 'Łódź' } },
  { id: 'call_two', name: 'get_time', input: { city: 'São "Paulo"' } },
];
const tools = ['get_weather', 'get_time'];

for (const [client, { sdk, end, tool }] of Object.entries(clients)) {
  for (const [upstream, row] of Object.entries(wires)) {
    for (const stream of [false, true]) {
      const column = stream ? `${client} stream` : client;
      const pair = `${column} → ${upstream}`;
      const marks = new Map<string, string>();
      cells.set(pair, marks);
      const talk = (provider = upstream, model = row.model) => sdk(gateway.baseUrl, `${provider},${model}`);
      const given = (count: number) =>
        row.ownIds ? calls.slice(0, count).map(({ name, input }) => ({ name, input })) : calls.slice(0, count);
      const hidden = `${client} → ${upstream}: hidden reasoning` in known;
      const reasoning = hidden ? '' : thought;

      /** One cell: its mark is there from the start, in the order of the grid. */
      const cell = (title: string, check: (t: ExecutionContext) => Promise<string>): void => {
        marks.set(title, '✘');
        test(`${pair}: ${title}`, async (t) => {
          const mark = await check(t);
          if (t.passed) marks.set(title, mark);
        });
      };

      const likeCalls = (t: ExecutionContext, learnt: Learnt, count: number): void => {
        const plain = row.ownIds ? learnt.calls.map(({ name, input }) => ({ name, input })) : learnt.calls;
        t.deepEqual<unknown, unknown>(plain, given(count));
        t.is(new Set(learnt.calls.map(({ id }) => id)).size, count, 'each call has an id of its own');
      };

      cell('text and usage', async (t) => {
        const learnt = await talk().ask({ text: 'say hello', stream });
        t.like(learnt, { text: hello, reasoning: '', calls: [], stop: end, model: `${row.model}-0001`, usage });
        return '✔';
      });

      cell('one tool, and its result', async (t) => {
        const conversation = talk();
        const asked = await conversation.ask({ text: 'use the tool', stream, tools });
        t.like(asked, { text: 'Wait.', stop: tool });
        likeCalls(t, asked, 1);
        const told = await conversation.give(['sunny ☀'], { text: '', stream, tools });
        t.like(told, { text: 'The tools said: sunny ☀', calls: [], stop: end });
        return '✔';
      });

      cell('parallel tools, and their results', async (t) => {
        const conversation = talk();
        const asked = await conversation.ask({ text: 'use both tools', stream, tools });
        t.like(asked, { text: '', stop: tool });
        likeCalls(t, asked, 2);
        const told = await conversation.give(['sunny', 'noon'], { text: '', stream, tools });
        t.like(told, { text: 'The tools said: sunny | noon', stop: end });
        const again = await conversation.ask({ text: 'say hello', stream, tools });
        t.like(again, { text: hello, stop: end });
        return '✔';
      });

      cell('reasoning, and a second turn', async (t) => {
        const conversation = talk();
        const first = await conversation.ask({ text: 'think and say hello', stream, think: true });
        t.like(first, { text: hello, reasoning, stop: end });
        const second = await conversation.ask({ text: 'think again', stream, think: true });
        t.like(second, { text: hello, reasoning, stop: end });
        return '✔';
      });

      cell('a tool loop with reasoning', async (t) => {
        const conversation = talk();
        const mark = `loop of ${pair}`;
        const asked = await conversation.ask({ text: `think and use the tool, ${mark}`, stream, tools, think: true });
        t.like(asked, { text: 'Wait.', reasoning, stop: tool });
        likeCalls(t, asked, 1);
        const told = await conversation.give(['sunny'], { text: '', stream, tools, think: true });
        t.like(told, { text: 'The tools said: sunny', stop: end });
        const sent = vendors[upstream]?.requests.filter(({ text }) => text.includes(mark)) ?? [];
        t.is(sent.length, 2);
        t.true(sent[1]?.text.includes(JSON.stringify(row.payload)), 'the vendor got its own payload back');
        return '✔';
      });

      cell('an image', async (t) => {
        const question = { text: 'look', stream, image: true };
        if (row.eyes === 'none') {
          const { status, message } = await failure(talk().ask(question));
          t.is(status, 400);
          t.regex(message, /accepts no images/);
          return '▢';
        }
        const learnt = await talk(upstream, row.eyes ?? row.model).ask(question);
        t.like(learnt, { text: 'I see image/png.', stop: end });
        return '✔';
      });

      for (const wanted of [429, 500]) {
        cell(`status ${wanted}`, async (t) => {
          const { status, message, headers } = await failure(talk().ask({ text: `fail with ${wanted}`, stream }));
          t.is(status, wanted);
          t.regex(message, /as you asked/);
          if (wanted === 429) t.is(headers?.get('retry-after') ?? undefined, row.retryAfter);
          return '✔';
        });
      }

      cell('a wrong key of ours', async (t) => {
        const { status, message } = await failure(talk(`${upstream} locked`).ask({ text: 'say hello', stream }));
        t.is(status, 401);
        t.false(message.includes('wrong-key'));
        return '✔';
      });
    }
  }
}

/** Programs with the major version of the OpenAI SDK before today's. */
for (const [client, sdk, end] of [
  ['chat', formerChatSdk, 'stop'],
  ['responses', formerResponsesSdk, 'completed'],
] as const) {
  for (const [upstream, { model }] of Object.entries(wires)) {
    for (const stream of [false, true]) {
      test(`openai 6, ${stream ? `${client} stream` : client} → ${upstream}: a tool loop and an error`, async (t) => {
        const conversation = sdk(gateway.baseUrl, `${upstream},${model}`);
        t.is((await conversation.ask({ text: 'use both tools', stream, tools })).calls.length, 2);
        const told = await conversation.give(['sunny', 'noon'], { text: '', stream, tools });
        t.like(told, { text: 'The tools said: sunny | noon', stop: end });
        t.is((await failure(conversation.ask({ text: 'fail with 429', stream }))).status, 429);
      });
    }
  }
}

/** Payloads of foreign vendors survive clients that keep the last piece alone of what they don't know. */
for (const upstream of ['anthropic', 'openai responses', 'gemini']) {
  test(`bare chat stream → ${upstream}: a tool loop with reasoning`, async (t) => {
    const { model = '', payload = '' } = wires[upstream] ?? {};
    const conversation = bareChatSdk(gateway.baseUrl, `${upstream},${model}`);
    const mark = `bare loop to ${upstream}`;
    const question = { stream: true, tools, think: true };
    t.is((await conversation.ask({ ...question, text: `think and use the tool, ${mark}` })).calls.length, 1);
    t.is((await conversation.give(['sunny'], { ...question, text: '' })).text, 'The tools said: sunny');
    const sent = vendors[upstream]?.requests.findLast(({ text }) => text.includes(mark))?.text ?? '';
    t.true(sent.includes(JSON.stringify(payload)));
  });
}

/** An error of an SDK for a failed request: all SDKs name these members alike. */
interface SdkError extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
}

const isSdkError = (error: unknown): error is SdkError =>
  error instanceof Error && 'status' in error && 'headers' in error;

/** How the SDK words that a question failed. */
const failure = async (answer: Promise<Learnt>): Promise<SdkError> => {
  const error: unknown = await answer.then(
    () => new Error('there was an answer'),
    (reason: unknown) => reason,
  );
  if (isSdkError(error)) return error;
  throw error;
};
