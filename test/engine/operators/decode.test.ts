import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import fc, { type Arbitrary } from 'fast-check';
import { lastValueFrom, of, toArray } from 'rxjs';
import { Exchange } from '../../../engine/exchange.ts';
import { bodyText } from '../../../engine/model/call-body.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { writeJson } from '../../../engine/model/json/json.ts';
import type { Outline } from '../../../engine/model/json/outline.ts';
import { replaceMember } from '../../../engine/model/json/replace-member.ts';
import { Losses } from '../../../engine/model/loss.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../../engine/model/protocol.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import type { ModelRequest, Part } from '../../../engine/model/request.ts';
import { parseBody, parseOutline } from '../../../engine/operators/decode.ts';
import { reconcileSignatures } from '../../../engine/operators/signatures.ts';
import { createPipeline, prepare } from '../../../engine/pipeline.ts';
import type { Gateway } from '../../../engine/routing/gateway.ts';
import { createSignatureCache } from '../../../engine/routing/reasoning/signature-cache.ts';
import { resolveRoute } from '../../../engine/routing/resolve.ts';
import { promptOf } from '../../../engine/routing/tokens/prompt.ts';
import { chatClient, chatUpstream, plainDialect } from '../../../protocols/chat/index.ts';
import { messagesClient, messagesUpstream } from '../../../protocols/messages/index.ts';
import { responsesClient, responsesUpstream } from '../../../protocols/responses/index.ts';
import { chatBody } from '../../support/arbitraries/chat.ts';
import { messagesBody } from '../../support/arbitraries/messages.ts';
import { mutatedObject } from '../../support/arbitraries/mutated.ts';
import { responsesBody } from '../../support/arbitraries/responses.ts';
import { incomingOf } from '../../support/context.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';

const provider = (name: string) => ({ name, baseUrl: `http://127.0.0.1:1/${name}`, apiKey: 'k', models: ['m'] });
const config = configOf({
  Providers: ['chat', 'other', 'messages', 'responses'].map(provider),
  Router: { routes: {}, fallback: { default: ['messages,m', 'other,m'] } },
  RETRY: { attempts: 0 },
  transformers: [
    { name: 'openai', provider: 'chat' },
    { name: 'openai', provider: 'other' },
    { name: 'anthropic', provider: 'messages' },
    { name: 'openai', options: { api: 'responses' }, provider: 'responses' },
  ],
});

/** An upstream's answer. */
interface Scripted {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

const gatewayFor = (t: ExecutionContext, client: ClientProtocol, answers: readonly Scripted[]) => {
  const router = { ...config.router, default: `${client.wire},m` };
  const sent: object[] = [];
  const gateway: Gateway = {
    ...gatewayOf(t, { ...config, router }),
    upstreams: {
      call({ url, headers, body }) {
        const { status, type = 'application/json', body: text } = answers[sent.length] ?? { status: 500, body: '' };
        sent.push({ url: url.href, headers, body: bodyText(body) });
        return of({ status, headers: { 'content-type': type }, body: of(Buffer.from(text)), drain() {} });
      },
      adjust: () => undefined,
      closeIdleSockets: () => undefined,
      poolStats: gatewayOf(t, config).upstreams.poolStats,
      close: async () => {},
    },
  };
  return { gateway, sent };
};

const exchangeOf = (client: ClientProtocol, body: JsonObject) => new Exchange({ incoming: incomingOf(body), client });

/** What the upstreams and the client get. */
const serve = async (t: ExecutionContext, { client, body, answers }: Case, outlines: boolean) => {
  const { gateway, sent } = gatewayFor(t, client, answers);
  const used = outlines ? gateway : { ...gateway, likelyRelays: () => false };
  const parts = await lastValueFrom(createPipeline(used)(exchangeOf(client, body)).pipe(toArray()));
  const text = JSON.stringify(parts, (_, value) => (value?.type === 'Buffer' ? Buffer.from(value).toString() : value));
  return { sent, got: text.replace(/(_at\\?":)\d+/g, '$10') };
};

interface Case {
  readonly client: ClientProtocol;
  readonly body: JsonObject;
  readonly answers: readonly Scripted[];
}

const long = (word: string): string => `${word} "quoted"\n`.repeat(900);
const turns = [
  { role: 'user', content: long('one') },
  { role: 'assistant', content: long('two') },
  { role: 'user', content: long('three') },
];
const chat = { model: 'any', messages: [{ role: 'system', content: long('rules') }, ...turns] };
const messages = { model: 'any', max_tokens: 9, system: long('rules'), messages: turns };
const responses = { model: 'any', instructions: long('rules'), input: turns, metadata: { text: long('note') } };
const chatReply = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
});
const messagesReply = JSON.stringify({
  id: 'c',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
});
const tooLong = { error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } };
const packed = packSignature({ format: 'messages', issuer: 'messages', data: 'payload' });

const cases: Readonly<Record<string, Case>> = {
  'a chat body that passes through': { client: chatClient, body: chat, answers: [{ status: 200, body: chatReply }] },
  'a messages body that passes through': {
    client: messagesClient,
    body: messages,
    answers: [{ status: 200, body: messagesReply }],
  },
  'a destination of another format': {
    client: chatClient,
    body: { ...chat, model: 'messages,m' },
    answers: [{ status: 200, body: messagesReply }],
  },
  'a fallback of another format': {
    client: chatClient,
    body: chat,
    answers: [
      { status: 503, body: '{}' },
      { status: 200, body: messagesReply },
    ],
  },
  'a fallback of the same format after one of another': {
    client: chatClient,
    body: chat,
    answers: [
      { status: 503, body: '{}' },
      { status: 503, body: '{}' },
      { status: 200, body: chatReply },
    ],
  },
  'a tag in the instructions': {
    client: messagesClient,
    body: { ...messages, system: `${long('rules')}<JUNCTOR-MODEL>messages,m</JUNCTOR-MODEL>` },
    answers: [{ status: 200, body: messagesReply }],
  },
  'a packed signature': {
    client: responsesClient,
    body: {
      ...responses,
      input: [...turns, { type: 'reasoning', summary: [], encrypted_content: packed }, ...turns.slice(2)],
    },
    answers: [{ status: 400, body: '{}' }],
  },
  'a whole answer where a stream was asked for': {
    client: responsesClient,
    body: { ...responses, stream: true },
    answers: [
      {
        status: 200,
        body: JSON.stringify({ id: 'r', object: 'response', status: 'completed', model: 'm', output: [] }),
      },
    ],
  },
  'a fault that opens a stream': {
    client: responsesClient,
    body: { ...responses, stream: true },
    answers: [{ status: 400, body: JSON.stringify(tooLong) }],
  },
};

for (const [title, example] of Object.entries(cases)) {
  test(`an outline changes nothing: ${title}`, async (t) => {
    const whole = await serve(t, example, false);
    t.deepEqual(await serve(t, example, true), whole);
    t.is(whole.sent.length, example.answers.length);
  });
}

test('a large body that is relayed is decoded by its outline, any other in full', async (t) => {
  const outlined = async (client: ClientProtocol, body: JsonObject) => {
    const { gateway } = gatewayFor(t, client, []);
    const ready = await lastValueFrom(of(exchangeOf(client, body)).pipe(prepare(gateway)));
    return ready.outline !== undefined;
  };
  t.true(await outlined(chatClient, chat));
  t.true(await outlined(messagesClient, messages));
  t.true(await outlined(responsesClient, responses));
  t.false(await outlined(chatClient, { ...chat, messages: turns.slice(0, 1) }), 'small');
  t.false(await outlined(chatClient, { ...chat, model: 'messages,m' }), 'converted');
});

/** More bodies, and other ones, show more: `SCAN_RUNS=1000000 SCAN_SEED=7`. */
const numRuns = Number(process.env.SCAN_RUNS ?? 300);
const seed = process.env.SCAN_SEED === undefined ? {} : { seed: Number(process.env.SCAN_SEED) };

const scanConfig = configOf({
  Providers: [
    { name: 'p', baseUrl: 'http://127.0.0.1:1', apiKey: 'k', models: ['m', 'image', 'web', 'think', 'small'] },
  ],
  Router: { default: 'p,m', routes: { image: 'p,image', webSearch: 'p,web', think: 'p,think', background: 'p,small' } },
  CHAT_STRICT: false,
  LIMITS: { jsonDepth: 40 },
});

const signed = { field: 'reasoning_details', on: 'all', required: false, signed: true } as const;
const protocols: readonly (readonly [ClientProtocol, Arbitrary<JsonObject>, readonly UpstreamProtocol[]])[] = [
  [
    chatClient,
    chatBody,
    [
      chatUpstream({
        ...plainDialect,
        callIds: { fits: /^.{0,6}$/, length: 6, prefix: '', strict: true },
        relays: 'without-web-search',
        reasoningHistory: signed,
      }),
    ],
  ],
  [messagesClient, messagesBody, [messagesUpstream]],
  [responsesClient, responsesBody, [responsesUpstream]],
];

/** Remembers a call, so that each request's own calls are looked up. */
const cache = createSignatureCache();
cache.storeCall('a call', { provider: 'p', thinking: [], signature: undefined });

/** Every string in the value changed by `change`; prototypes that only mark numbers are left out. */
const mapStrings = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapStrings(member, change)]));
};

const same = (outlined: unknown, whole: unknown, { restore }: Outline): boolean =>
  isDeepStrictEqual(mapStrings(outlined, restore), mapStrings(whole, String));

const caught = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return String(error);
  }
};

/** What the steps between decoding and the upstream call make of a request. */
const factsOf = (
  client: ClientProtocol,
  upstreams: readonly UpstreamProtocol[],
  asked: JsonObject,
  request: ModelRequest,
) => ({
  route: caught(() => {
    const { request: _, ...resolution } = resolveRoute(request, scanConfig);
    return resolution;
  }),
  repairs: client.needsRepair?.(asked),
  rewrites: client.rewritesReply?.(asked),
  own: client.ownWireField?.(asked),
  upstreams: upstreams.map((upstream) => ({
    accepts: upstream.acceptsRelay?.(request, asked),
    reasons: upstream.mayReason?.(asked),
    relayable: reconcileSignatures(request, { provider: 'p', wire: client.wire }, cache, new Losses('test')).relayable,
  })),
});

/** The texts that identify a conversation: its instructions and its first user turn. */
const startOf = ({ system, turns }: ModelRequest) =>
  [system, turns.find(({ role }) => role === 'user')?.parts ?? []].map((parts: readonly Part[]) =>
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );

/** Whether the body has an outline. If so, it must agree with the full parse. */
const agrees = ([client, , upstreams]: (typeof protocols)[number], body: Uint8Array): boolean => {
  const exchange = new Exchange({ incoming: incomingOf(body), client });
  const outlined = parseOutline(exchange, scanConfig);
  if (!outlined) return false;
  const { outline, clientBody: asked, request } = outlined;
  const whole = parseBody(exchange, scanConfig);
  const is = (agree: boolean, what: string): void => {
    if (!agree) throw new Error(`${what}: ${Buffer.from(body).toString()}`);
  };
  is(same(asked, whole.clientBody, outline), 'body');
  is(outline.restore(writeJson(asked)) === writeJson(whole.clientBody), 'numbers');
  is(same(request, whole.request, outline), 'request');
  is(isDeepStrictEqual(startOf(request), startOf(whole.request)), 'start');
  is(same(promptOf(request), promptOf(whole.request), outline), 'prompt');
  const facts = factsOf(client, upstreams, asked, request);
  is(isDeepStrictEqual(facts, factsOf(client, upstreams, whole.clientBody, whole.request)), 'facts');
  const [from, to] = outline.model;
  const spliced = Buffer.concat([body.subarray(0, from), Buffer.from('"n"'), body.subarray(to)]).toString();
  is(spliced === replaceMember(whole.text, 'model', '"n"'), 'model');
  return true;
};

/** Makes the texts long enough to be cut. */
const lengthened = (body: JsonObject, { texts }: ClientProtocol): JsonObject =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      typeof value === 'string' && value !== '' && texts?.has(name)
        ? value.repeat(Math.ceil(90 / value.length))
        : value,
    ),
  );

/** JSON in different spellings: with spaces, with escapes. */
const spellings = [
  (body: JsonObject) => JSON.stringify(body),
  (body: JsonObject) => JSON.stringify(body, null, 1),
  (body: JsonObject) => JSON.stringify(body).replaceAll('/', '\\/'),
  (body: JsonObject) =>
    JSON.stringify(body).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
] as const;

const bodiesOf = (client: ClientProtocol, base: Arbitrary<JsonObject>): Arbitrary<Uint8Array> =>
  fc
    .tuple(base, fc.constantFrom(...spellings), fc.boolean())
    .map(([body, spell, isLong]) => Buffer.from(spell(isLong ? lengthened(body, client) : body)));

/** What often breaks a reader of JSON. */
const pieces = [
  ...[
    '"',
    '\\',
    '\\"',
    '\\u12',
    '\\ud800',
    '\\x',
    '\0',
    '\n',
    '\x1f',
    '\x7f',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\ufeff',
  ],
  ...[
    '0',
    '-',
    '01',
    '1e',
    '1e999',
    '12345678901234567890',
    'true',
    'nul',
    'NaN',
    '""',
    '{}',
    '[]',
    '//',
    '[['.repeat(30),
  ],
  ...[
    '"model":"x",',
    '"mod\\u0065l":"x",',
    '"model":1,',
    '"stream":true,',
    '"stream":0,',
    '"content":1,',
    '"role":"tool",',
  ],
  ...['"content":"<JUNCTOR-MODEL>p,think</JUNCTOR-MODEL>",', '"text":"', '"signature":"sy1.",', '"type":"web_search",'],
  ...[
    '"__proto__":{},',
    '"toJSON":1,',
    '"thinking":{"type":"enabled","budget_tokens":9},',
    '"reasoning_effort":"high",',
  ],
].map((text) => Buffer.from(text));
const invalid = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xe2, 0x82]].map((bytes) => Buffer.from(bytes));

/** Bytes flipped, inserted, deleted, cut off. */
const broken = (base: Arbitrary<Uint8Array>): Arbitrary<Uint8Array> =>
  fc
    .tuple(
      base,
      fc.array(
        fc.record({
          at: fc.nat(),
          drop: fc.oneof(fc.constant(0), fc.constant(1), fc.nat(40), fc.constant(1e9)),
          put: fc.oneof(
            fc.constantFrom(...pieces, ...invalid),
            fc.uint8Array({ maxLength: 2 }),
            fc.constant(Buffer.alloc(0)),
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([body, changes]) =>
      changes.reduce<Uint8Array>((bytes, { at, drop, put }) => {
        const from = at % (bytes.length + 1);
        return Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(from + drop)]);
      }, body),
    );

for (const protocol of protocols) {
  const [client, body] = protocol;
  test(`${client.wire}: the outline of a valid body agrees with its full parse`, (t) => {
    fc.assert(
      fc.property(bodiesOf(client, body), (bytes) => t.true(agrees(protocol, bytes))),
      { numRuns: Math.ceil(numRuns / 3), ...seed },
    );
  });

  test(`${client.wire}: the outline of a changed body agrees with its full parse, or there is none`, (t) => {
    const property = fc.property(bodiesOf(client, mutatedObject(body)), (bytes) => {
      agrees(protocol, bytes);
    });
    t.notThrows(() => fc.assert(property, { numRuns: Math.ceil(numRuns / 3), ...seed }));
  });

  test(`${client.wire}: the outline of broken bytes agrees with their full parse, or there is none`, (t) => {
    const property = fc.property(broken(bodiesOf(client, body)), (bytes) => {
      agrees(protocol, bytes);
    });
    t.notThrows(() => fc.assert(property, { numRuns, ...seed }));
  });
}
