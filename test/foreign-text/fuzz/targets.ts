import { isDeepStrictEqual } from 'node:util';
import { createParser } from 'eventsource-parser';
import fc, { type Arbitrary, type IProperty } from 'fast-check';
import { editConfigText, printConfig } from '../../../engine/config/edit/edit.ts';
import { parseConfig } from '../../../engine/config/parse.ts';
import { mergePreset } from '../../../engine/config/presets/merge-preset.ts';
import { validateConfig } from '../../../engine/config/validate.ts';
import { originGuard } from '../../../engine/http/access/access.ts';
import { framingFault, safeHeaders } from '../../../engine/http/headers.ts';
import { createRouter } from '../../../engine/http/router.ts';
import { unzstd } from '../../../engine/http/zstd.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { FaultError } from '../../../engine/model/fault.ts';
import { sayViolation, type Violation } from '../../../engine/model/grammar.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import type { UpstreamProtocol } from '../../../engine/model/protocol.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { maskUrl, textMask } from '../../../engine/observe/log/mask-text.ts';
import { maskFields } from '../../../engine/observe/log/record-writer.ts';
import { normalizeEvents } from '../../../engine/operators/read-events.ts';
import { validateEntries } from '../../../engine/routing/plan/build-stages.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { defaultFormat, formats, stages } from '../../../transformers/index.ts';
import { chatBody } from '../../support/arbitraries/chat.ts';
import { messagesBody } from '../../support/arbitraries/messages.ts';
import { mutated, mutatedBytes, mutatedObject, oddJson, split } from '../../support/arbitraries/mutated.ts';
import { responsesBody } from '../../support/arbitraries/responses.ts';
import { anyText } from '../../support/arbitraries/text.ts';
import { plainRequest, replyContext } from '../../support/context.ts';
import { checkEvents, eventsOf, recordsOf } from '../../support/events.ts';
import { GrammarError } from '../../support/facts.ts';
import { readChatReply, readChatStream } from '../../support/readers/chat.ts';
import { violationsOf } from '../../support/readers/check.ts';
import { readMessagesReply, readMessagesStream } from '../../support/readers/messages.ts';
import { readResponsesReply, readResponsesStream } from '../../support/readers/responses.ts';
import { recordingsOf } from '../../support/upstreams/recordings.ts';

/** What is fuzzed: a law that holds for all inputs. A case throws, or takes longer than `slowMs`, when it doesn't. */
export interface Target {
  readonly name: string;
  readonly law: (around: (run: () => void) => void) => IProperty<[unknown]>;
}

/** How long one case may take, in milliseconds. */
export const slowMs = 1_000;

const target = <T>(name: string, input: Arbitrary<T>, check: (value: T) => void): Target => ({
  name,
  // The border to the library: a property of one arbitrary is run the same whatever it yields.
  law: (around) => fc.property(input, (value) => around(() => check(value))) as IProperty<[unknown]>,
});

const must = (condition: boolean, what: string): void => {
  if (!condition) throw new Error(what);
};

/** Runs what may only fail by a fault worded for users; gives what it yields. */
const faultsOnly = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
    must(error.fault.kind !== 'internal' && error.fault.message !== '', `a fault without words: ${error.fault.kind}`);
    return undefined;
  }
};

const unpolluted = (): void => must(!('polluted' in {}), 'a prototype was changed');

const upstreams = [...formats.values()].map((format) => ({
  name: format.name,
  upstream: format.protocol({
    baseUrl: new URL('https://model.example/v1'),
    options: {},
    model: 'm',
    relays: undefined,
  }),
}));

const clients = clientProtocols.map(({ protocol }) => protocol);
const bodies = { messages: messagesBody, chat: chatBody, responses: responsesBody };
const readers = {
  messages: { stream: readMessagesStream, reply: readMessagesReply },
  chat: { stream: readChatStream, reply: readChatReply },
  responses: { stream: readResponsesStream, reply: readResponsesReply },
};

const requestTargets = clients.map((client) =>
  target(
    `requests: ${client.wire}`,
    fc.oneof(
      { weight: 8, arbitrary: mutatedObject(bodies[client.wire]) },
      {
        weight: 1,
        arbitrary: oddJson.map((value) =>
          isJsonObject(value) ? value : { messages: value, input: value, model: 'm' },
        ),
      },
    ),
    (body: JsonObject) => {
      const request = faultsOnly(() => client.decodeRequest(body));
      unpolluted();
      if (request) for (const { upstream } of upstreams) encode(upstream, client, request);
    },
  ),
);

const encode = (
  upstream: (typeof upstreams)[number]['upstream'],
  { wire, forOtherWires }: (typeof clients)[number],
  decoded: ModelRequest,
): void => {
  const context = { names: new ToolNames(), losses: new Losses('fuzz'), replyIsRelayed: false };
  const body = faultsOnly(() => {
    const request = upstream.wire === wire ? undefined : forOtherWires?.(decoded, context.losses);
    return upstream.encodeRequest(request ?? decoded, context);
  });
  if (body) must(isJsonObject(parseJson(JSON.stringify(body))), 'a request that is no JSON object');
};

const asking = () => replyContext({ request: { ...plainRequest, streamUsage: true } });

/** A vendor's own entries of reasoning and citations go on as they came, whatever they say; the grammar knows those of today. */
const ownEntries: ReadonlySet<string | undefined> = new Set(['reasoning', 'citation']);

/** As `endOnFault` has it, whatever a decoder goes on to say. */
const untilError = (events: readonly ModelEvent[]): readonly ModelEvent[] => {
  const at = events.findIndex(({ type }) => type === 'error');
  return at < 0 ? events : events.slice(0, at + 1);
};

/** Whatever an upstream said, each client gets a stream and a reply that keep its protocol's rules. */
const checkAnswer = (decoded: readonly ModelEvent[]): void => {
  const events = untilError(normalizeEvents(untilError(decoded), new Map()));
  checkEvents(events);
  // Blocks that one wire format alone knows reach a client of that format as they came.
  const raw = new Set(
    events.flatMap((event) =>
      event.type === 'block-start' && event.block.type === 'opaque' ? [event.block.wire] : [],
    ),
  );
  // So do citations of a client's own format; in another, none runs backwards.
  const cited = new Set(
    events.flatMap((event) =>
      event.type === 'citation-delta' && event.citation.type === 'url' && event.citation.raw
        ? [event.citation.raw.wire]
        : [],
    ),
  );
  for (const client of clients.filter(({ wire }) => !raw.has(wire))) {
    try {
      readers[client.wire].stream(sseText(runWhole(client.encodeStream, asking(), events)));
      const reply = foldReply(events);
      if (!isFault(reply)) readers[client.wire].reply(client.encodeReply(reply, asking()));
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error;
      const runsBackwards = /end_index: expected \d+ or more/.test(error.message);
      if (!ownEntries.has(error.rule) || (runsBackwards && !cited.has(client.wire))) throw error;
    }
  }
};

const folders = [
  ['anthropic', 'anthropic'],
  ['openai', 'openai-chat'],
  ['deepseek', 'deepseek'],
  ['gemini', 'gemini'],
  ['groq', 'groq'],
  ['openrouter', 'openrouter'],
] as const;

const answerTargets = [
  ...folders.map(([name, folder]) => ({
    name,
    folder,
    upstream: upstreams.find((row) => row.name === name)?.upstream,
  })),
  {
    name: 'responses',
    folder: 'openai-responses' as const,
    upstream: formats.get(defaultFormat)?.protocol({
      baseUrl: new URL('https://model.example/v1'),
      options: { api: 'responses' },
      model: 'm',
      relays: undefined,
    }),
  },
].flatMap(({ name, folder, upstream }): Target[] => {
  if (!upstream) throw new Error(`no format ${name}`);
  const recordings = recordingsOf(folder);
  const streams = recordings.filter(({ streamed }) => streamed).map(({ bytes }) => bytes);
  const replies = recordings.flatMap(({ streamed, bytes }) => {
    const value = streamed ? undefined : parseJson(Buffer.from(bytes).toString());
    return isJsonObject(value) ? [value] : [];
  });
  const records = streams.map((bytes) => recordsOf(bytes));
  const cuts = fc.array(fc.nat(100_000), { maxLength: 6 });
  return [
    target(
      `streams: ${name}`,
      fc.tuple(fc.oneof(mutatedBytes(fc.constantFrom(...streams)), fc.uint8Array({ maxLength: 300 })), cuts),
      ([bytes, places]) => {
        const events = eventsOf(upstream.decodeStream, [bytes], asking());
        const pieces = eventsOf(upstream.decodeStream, split(bytes, places), asking());
        must(isDeepStrictEqual(pieces, events), 'other events when it comes in pieces');
        checkAnswer(events);
        judge(upstream, recordsOf(bytes));
        unpolluted();
      },
    ),
    target(
      `records: ${name}`,
      fc
        .constantFrom(...records)
        .chain((list) =>
          fc.array(mutatedRecord(fc.constantFrom(...list)), { maxLength: 8 }).map((odd) => [list, odd] as const),
        ),
      ([list, odd]) => {
        // The recording with odd records spread over it.
        const mixed = list.flatMap((record, index) => {
          const other = odd[index % (odd.length + 1)];
          return other && index % 3 === 1 ? [other] : [record];
        });
        checkAnswer(runWhole(upstream.decodeStream, asking(), mixed));
        judge(upstream, mixed);
        unpolluted();
      },
    ),
    target(`replies: ${name}`, mutatedObject(fc.constantFrom(...replies)), (body) => {
      checkAnswer(upstream.decodeReply(body, asking()));
      for (const violation of upstream.grammar.reply(body)) checkViolation(violation);
      unpolluted();
    }),
    target(
      `failures: ${name}`,
      fc.tuple(
        fc.constantFrom(400, 401, 403, 404, 408, 413, 418, 429, 500, 503, 529, 599),
        fc.oneof(
          mutated(
            fc.constantFrom<Json>(...replies, { error: { message: 'm', type: 't', code: 1 } }, [{ error: {} }]),
          ).map((value) => JSON.stringify(value)),
          anyText(),
        ),
        fc.dictionary(fc.constantFrom('retry-after', 'x-ratelimit-reset', 'content-type', '__proto__'), fc.string()),
      ),
      ([status, text, headers]) => {
        const fault = upstream.decodeFault(status, headers, text);
        must(fault.message !== '' && fault.message.length < 10_000, 'a fault without words');
        for (const client of clients) {
          const wire = client.encodeFault(fault, 'req_1');
          must(wire.status >= 400 && wire.status < 600, `status ${wire.status}`);
          JSON.stringify(wire.body);
        }
      },
    ),
  ];
});

/** Whatever a vendor sends, its grammar says what is wrong with it, in few words. */
function judge({ grammar }: UpstreamProtocol, records: readonly SseRecord[]): void {
  const found = violationsOf(grammar, records);
  must(found.length <= 50, `${found.length} violations`);
  for (const violation of found) checkViolation(violation);
}

function checkViolation(violation: Violation): void {
  must(violation.rule !== '' && violation.expected !== '', 'a violation without words');
  must(sayViolation(violation).length < 1_000, 'a violation of many words');
}

/** A record whose data is near that of a recorded one. */
function mutatedRecord(record: Arbitrary<SseRecord>): Arbitrary<SseRecord> {
  return record.chain(({ event, data }) => {
    const value = parseJson(data);
    const changed: Arbitrary<string> =
      value === undefined ? fc.string() : mutated(fc.constant(value)).map((next) => JSON.stringify(next));
    return fc.record({
      event: fc.oneof(
        { weight: 5, arbitrary: fc.constant(event) },
        fc.constantFrom('', 'error', 'ping', 'message_stop'),
      ),
      data: fc.oneof({ weight: 8, arbitrary: changed }, fc.string()),
    });
  });
}

const written: JsonObject = {
  HOST: '127.0.0.1',
  PORT: 3456,
  APIKEY: '$KEY',
  LOG: true,
  LOG_LEVEL: 'info',
  WORKERS: 2,
  ALLOWED_HOSTS: ['a.example'],
  LIMITS: { bodyBytes: 1000, ratio: 3 },
  TIMEOUTS: { idleMs: 5 },
  Providers: [
    { name: 'a', baseUrl: 'https://api.example/v1', apiKey: '$KEY', models: ['m', 'n/o:p'] },
    {
      name: 'b',
      api_base_url: 'http://127.0.0.1:1/v1',
      api_key: 'k',
      models: [],
      transformer: { use: ['tooluse', ['maxtoken', { max_tokens: 5 }]] },
    },
  ],
  Router: { default: 'a,m', think: 'b,x', longContextThreshold: 9, routes: { image: 'm', background: 'a,n/o:p' } },
  transformers: [
    'enhancetool',
    'cachepoints',
    { name: 'reasoning', provider: 'a', models: ['m'], options: { tag: 'think' } },
    { path: 'x.ts' },
  ],
};
const env = { KEY: 'the-secret', HOME: '/home/x' };
const nearConfig = mutatedObject(fc.constant(written));
const text = new TextDecoder();

const configTargets: readonly Target[] = [
  target('config', nearConfig, (value) => {
    const result = validateConfig(value, env);
    unpolluted();
    if ('faults' in result) {
      must(result.faults.length > 0, 'refused without a fault');
      for (const { path, message } of result.faults) {
        must(message !== '' && !message.includes('the-secret'), `a fault without words: ${path} ${message}`);
        must(path !== '' || /nested deeper/.test(message), 'a fault without a path');
      }
      return;
    }
    validateEntries(result.config, { formats, stages, defaultFormat, custom: new Map() });
  }),
  target('presets', fc.tuple(nearConfig, nearConfig), ([base, preset]) => {
    const merged = mergePreset(base, preset);
    validateConfig(merged.source, env);
    unpolluted();
  }),
  target(
    'config text',
    mutatedBytes(
      fc
        .constantFrom(printConfig(written), `// mine\n${printConfig(written).replaceAll('",\n', '", // why\n')}`)
        .map((source) => new TextEncoder().encode(source)),
    ),
    (bytes) => {
      const result = parseConfig(text.decode(bytes));
      unpolluted();
      if ('faults' in result)
        must(result.faults.length > 0 && result.faults.every(({ message }) => message !== ''), 'no word');
      else validateConfig(result.source, env);
    },
  ),
  target('config edits', fc.tuple(nearConfig, nearConfig, fc.boolean()), ([from, to, comments]) => {
    const plain = printConfig(from);
    const source = comments ? `/* top */\n${plain.replaceAll(/([\]}]),\n/g, '$1, // end\n')}` : plain;
    const edited = parseConfig(editConfigText(source, to));
    // Nothing that is nested too deep can be written.
    if ('faults' in edited && 'faults' in validateConfig(to, env)) return;
    must('source' in edited && isDeepStrictEqual(edited.source, JSON.parse(JSON.stringify(to))), 'says something else');
  }),
];

const lineText = fc.oneof(
  fc.constantFrom(
    '',
    'data',
    'data:',
    'data: a',
    'data:  b',
    'event: e',
    'event:',
    ': c',
    'id: 7',
    'retry: 1',
    ':',
    'x: y',
    ' data: z',
  ),
  anyText().map((words) => `data: ${words.replace(/[\r\n\ufeff\0\ud800-\udfff]/g, '')}`),
);

const sseTarget = target(
  'sse',
  fc.tuple(fc.array(fc.tuple(lineText, fc.constantFrom('\n', '\r\n', '\r'))), fc.array(fc.nat(500), { maxLength: 20 })),
  ([lines, cuts]) => {
    const all = `${lines.map((pair) => pair.join('')).join('')}\n\n`;
    const expected: SseRecord[] = [];
    const parser = createParser({ onEvent: ({ event, data }) => expected.push({ event: event ?? '', data }) });
    parser.feed(all);
    // A record without content is skipped: some vendors send them between others.
    expected.splice(0, expected.length, ...expected.filter(({ data }) => data.trim() !== ''));
    // Nor does the library tell of what stands outside the framing.
    const records = recordsOf(...split(new TextEncoder().encode(all), cuts));
    const seen = records.filter(({ outside }) => outside === undefined);
    must(isDeepStrictEqual(seen, expected), `${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`);
  },
);

const zstdSamples = [
  'KLUv/SQgjQAAWGhlbGxvIHpzdGQgAQD+ihcKAyKO',
  'KLUv/QRYjQAAWGhlbGxvIHpzdGQgAQD+ihcKAyKO',
  'KLUv/QRYVAAAEAAAAQD7/znAAgIAEAADnwQALSjeJg==',
].map((sample) => Buffer.from(sample, 'base64'));
const headerText = fc.oneof(
  fc.constantFrom(
    'localhost',
    'localhost:1',
    '[::1]',
    'evil.example',
    '127.0.0.1',
    'http://localhost',
    'null',
    'cross-site',
    'chunked',
    '3',
    '0x3',
    '',
  ),
  anyText(),
);
const endpoint = { open: false, formatFault: () => ({ status: 500, body: {} }), handle: () => fail() };
const fail = (): never => {
  throw new Error('not to be called');
};
const someSite = createRouter(
  ['/v1/messages', '/v1/models/:id', '/v1/models/*', '/preset/:preset/v1/messages', '/ui/*'].map((path) => ({
    method: 'GET',
    path,
    endpoint,
  })),
  endpoint.formatFault,
);
const local = originGuard({ host: '127.0.0.1', allowedHosts: ['a.example'] });
const mask = textMask(() => ['the-secret', 'an"other\\secret']);

const edgeTargets: readonly Target[] = [
  target('zstd bodies', mutatedBytes(fc.constantFrom<Uint8Array>(...zstdSamples)), (bytes) => {
    const maxBytes = 1 << 20;
    try {
      must(unzstd(bytes, maxBytes).length <= maxBytes, 'more than allowed');
    } catch (error) {
      if (!(error instanceof Error) || error.message === 'more than allowed') throw error;
    }
  }),
  target(
    'heads',
    fc.array(
      fc.tuple(fc.constantFrom('host', 'origin', 'sec-fetch-site', 'content-length', 'transfer-encoding'), headerText),
      { maxLength: 5 },
    ),
    (pairs) => {
      const headers = pairs.flat();
      framingFault(headers);
      if (local(headers) === undefined) {
        const hosts = pairs.filter(([name]) => name === 'host').map(([, value]) => value);
        must(
          hosts.length === 1 && /^(?:localhost|127\.|\[|a\.example)/i.test(hosts[0] ?? ''),
          `let in: ${hosts.join()}`,
        );
      }
    },
  ),
  target(
    'paths',
    fc.array(
      fc.oneof(
        fc.constantFrom('v1', 'models', 'ui', 'preset', '..', '.', '%2e%2e', '%2F', '%', '%00', '\\', ''),
        fc.string(),
      ),
      { maxLength: 6 },
    ),
    (segments) => {
      const found = someSite.find('GET', `/${segments.join('/')}`);
      if (!('endpoint' in found)) return;
      const rest = found.params['*'];
      must(
        rest === undefined || !rest.split('/').some((segment) => segment === '..' || /[\\\0]/.test(segment)),
        `leads out: ${rest}`,
      );
    },
  ),
  target(
    'reply headers',
    fc.dictionary(fc.oneof(fc.constantFrom('x-a', 'content-length', '__proto__'), fc.string()), anyText()),
    (headers) => {
      const list = safeHeaders(headers);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not go out.
      must(!list.some((text) => /[\x00-\x1f\x7f]/.test(text)), `unsafe: ${list.join()}`);
      must(!list.some((name, at) => at % 2 === 0 && !/^[!-~]+$/.test(name)), `unsafe: ${list.join()}`);
    },
  ),
  target(
    'masking',
    fc.tuple(
      fc.array(
        fc.oneof(
          fc.constantFrom(
            'the-secret',
            'an"other\\secret',
            'Bearer ',
            'api_key=',
            'eyJ',
            '://',
            '@',
            'sk-',
            'authorization: ',
            'cookie',
            '-'.repeat(300),
          ),
          anyText(),
        ),
      ),
      oddJson,
    ),
    ([pieces, value]) => {
      const masked = mask(pieces.join(''));
      must(!masked.includes('the-secret') && !masked.includes('an"other\\secret'), `shows: ${masked}`);
      const logged = JSON.stringify([
        maskUrl(`/x?${pieces.join('&')}`, mask),
        maskFields({ value, pieces, text: pieces.join('') }, mask),
      ]);
      must(!logged.includes('the-secret'), `shows: ${logged}`);
    },
  ),
];

/** All that is fuzzed. */
export const targets: readonly Target[] = [
  ...requestTargets,
  ...answerTargets,
  ...configTargets,
  sseTarget,
  ...edgeTargets,
];
