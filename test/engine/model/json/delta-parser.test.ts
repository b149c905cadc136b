import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../../../engine/model/event.ts';
import { DeltaParser } from '../../../../engine/model/json/delta-parser.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../../engine/model/json/json.ts';
import { runWhole } from '../../../../engine/model/machine.ts';
import type { UpstreamProtocol } from '../../../../engine/model/protocol.ts';
import type { SseRecord } from '../../../../engine/model/wire/sse-record.ts';
import { formats } from '../../../../transformers/index.ts';
import { anyText } from '../../../support/arbitraries/text.ts';
import { replyContext } from '../../../support/context.ts';
import { recordsOf } from '../../../support/events.ts';
import { recordingsOf } from '../../../support/upstreams/recordings.ts';

/** Reads the records in a row, learning from all that aren't recognised; which ones were. */
const recognised = (texts: readonly string[], check: (data: string, value: JsonObject) => void): boolean[] => {
  const records = new DeltaParser<JsonObject>();
  return texts.map((data) => {
    const known = records.read(data);
    const value = parseJson(data);
    if (known) check(data, known);
    else if (isJsonObject(value)) records.learn(data, value);
    return known !== undefined;
  });
};

const chunk = (content: string, more = '', id = '"c1"'): string =>
  `{"id":${id},"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]${more}}`;

const cases: readonly (readonly [title: string, records: readonly string[], known: string])[] = [
  ['two show what differs', [chunk('"a"'), chunk('"b"'), chunk('"c"')], '--+'],
  ['the same one twice shows nothing', [chunk('"a"'), chunk('"a"'), chunk('"b"'), chunk('"c"')], '---+'],
  ['escapes', [chunk('"a"'), chunk('"b"'), chunk('"\\n\\"\\\\"'), chunk('"\\\\"'), chunk('"\\u00e9\\ud83d"')], '--+++'],
  ['an empty text', [chunk('"a"'), chunk('"b"'), chunk('""')], '--+'],
  ['a longer text', [chunk('"a"'), chunk('"b"'), chunk(`"${'long '.repeat(99)}"`)], '--+'],
  ['letters beyond Latin', [chunk('"a"'), chunk('"b"'), chunk('"żółw 🐢"'), chunk('"日本"')], '--++'],
  ['a broken escape', [chunk('"a"'), chunk('"b"'), chunk('"\\x"'), chunk('"\\u12"')], '----'],
  ['a line feed inside a text', [chunk('"a"'), chunk('"b"'), chunk('"\n"')], '---'],
  ['another type', [chunk('"a"'), chunk('"b"'), chunk('null'), chunk('1'), chunk('["c"]')], '-----'],
  ['one member more', [chunk('"a"'), chunk('"b"'), chunk('"c","role":"x"'), chunk('"c"', ',"usage":{}')], '----'],
  ['another fixed member', [chunk('"a"'), chunk('"b"'), chunk('"c"', '', '"c2"'), chunk('"c"')], '---+'],
  ['padding', [chunk('"a"', '  '), chunk('"b"', ' '), chunk('"c"', '     '), chunk('"c"', '\t')], '--+-'],
  ['counts', ['{"n":1,"t":"a"}', '{"n":2,"t":"b"}', '{"n":10,"t":"c"}', '{"n":0,"t":"c"}'], '--++'],
  [
    'what is no count',
    ['{"n":1}', '{"n":2}', ...['-3', '3.5', '03', '3e2', '1234567890123456'].map((n) => `{"n":${n}}`)],
    '-------',
  ],
  ['numbers that are no counts are not learned', ['{"n":1.5}', '{"n":2.5}', '{"n":3.5}'], '---'],
  ['a name is not learned', ['{"a":1}', '{"b":1}', '{"c":1}'], '---'],
  ['a text in an array is not learned', ['{"a":["x"]}', '{"a":["y"]}', '{"a":["z"]}'], '---'],
  ['a member that is there twice', ['{"a":"x","a":"y"}', '{"a":"x","a":"z"}', '{"a":"x","a":"w"}'], '---'],
  ['members out of their order', ['{"b":"1","1":"b"}', '{"b":"2","1":"b"}', '{"b":"3","1":"b"}'], '---'],
  ['a prototype', ['{"__proto__":"a"}', '{"__proto__":"b"}', '{"__proto__":"c"}'], '---'],
  ['what stands behind the brace', ['{"a":"x"}', '{"a":"y"}', '{"a":"z"} ', '{"a":"z"}}', '{"a":"z"'], '-----'],
  [
    'two kinds that take turns',
    ['{"a":"1"}', '{"a":"2"}', '{"b":"1"}', '{"b":"2"}', '{"a":"3"}', '{"b":"3"}', '{"a":"4"}'],
    '----+++',
  ],
];

for (const [title, texts, expected] of cases) {
  test(title, (t) => {
    const known = recognised(texts, (data, value) => t.deepEqual<unknown, unknown>(value, JSON.parse(data)));
    t.is(known.map((one) => (one ? '+' : '-')).join(''), expected);
  });
}

test('a stream whose records have nothing in common is not searched on and on', (t) => {
  const records = Array.from({ length: 100 }, (_, n) => `{"a${n}":"x"}`);
  const alike = [1, 2, 3].map((n) => `{"a":"${n}"}`);
  t.false(recognised([...records, ...alike], () => {}).includes(true));
});

test('a long record is not learned', (t) => {
  const deep = (text: string): string => `{"a":${'['.repeat(9000)}${']'.repeat(9000)},"b":"${text}"}`;
  t.deepEqual(
    recognised([deep('1'), deep('2'), deep('3')], () => {}),
    [false, false, false],
  );
});

/** A record whose parts come from few choices, so that many are alike, and some almost. */
const text = anyText({ maxLength: 20 }).map((value) => JSON.stringify(value));
const oddities = [
  'null',
  'true',
  '-1',
  '1.5',
  '"\\u0041"',
  '"\\/"',
  '01',
  '"x',
  'x"',
  '"a","b"',
  '{}',
  '["a"]',
  ' "a" ',
];
const odd = fc.constantFrom(...oddities);
const record = fc
  .tuple(
    fc.oneof({ weight: 15, arbitrary: text }, odd),
    fc.oneof({ weight: 15, arbitrary: fc.nat(3000).map(String) }, odd),
    fc.oneof({ weight: 9, arbitrary: fc.constant('a') }, fc.constant('b')),
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom('', ' ', '   ') }, fc.constantFrom('}', '\n')),
  )
  .map(([one, other, name, end]) => `{"${name}":{"t":${one}},"n":1,"m":${other}${end}}`);

test('recognized values equal those of JSON.parse', (t) => {
  let known = 0;
  fc.assert(
    fc.property(fc.array(record, { minLength: 5, maxLength: 40 }), (records) => {
      const hits = recognised(records, (data, value) => t.deepEqual<unknown, unknown>(value, JSON.parse(data)));
      known += hits.filter((hit) => hit).length;
    }),
    { numRuns: 1000 },
  );
  t.true(known > 5000, `${known} recognised`);
});

const vendor = (name: string, options: JsonObject = {}): UpstreamProtocol => {
  const format = formats.get(name);
  if (!format) throw new Error(`no format ${name}`);
  return format.protocol({ baseUrl: new URL('http://localhost'), options, model: 'm', relays: undefined });
};

const upstreams = [
  ['openai-chat', vendor('openai')],
  ['deepseek', vendor('deepseek')],
  ['groq', vendor('groq')],
  ['openrouter', vendor('openrouter')],
  ['anthropic', vendor('anthropic')],
  ['openai-responses', vendor('openai', { api: 'responses' })],
  ['gemini', vendor('gemini')],
] as const;

const streams = upstreams.flatMap(([folder, upstream]) =>
  recordingsOf(folder)
    .filter(({ streamed, status }) => streamed && status === 200)
    .map(({ name, bytes }) => ({ name: `${folder}/${name}`, upstream, records: recordsOf(bytes) })),
);

/** The events of these records, and how many were recognised; `parsed`: every record is parsed in full. */
const decode = (
  upstream: UpstreamProtocol,
  records: readonly SseRecord[],
  parsed: boolean,
): { readonly events: readonly ModelEvent[]; readonly hits: number } => {
  const read = DeltaParser.prototype.read;
  let hits = 0;
  DeltaParser.prototype.read = function (this: DeltaParser<JsonObject>, data: string) {
    const known = parsed ? undefined : read.call(this, data);
    if (known) hits += 1;
    return known;
  };
  try {
    return { events: runWhole(upstream.decodeStream, replyContext(), records), hits };
  } finally {
    DeltaParser.prototype.read = read;
  }
};

test('recorded streams give the same events as when every record is parsed in full', (t) => {
  let hits = 0;
  let records = 0;
  for (const stream of streams) {
    const quick = decode(stream.upstream, stream.records, false);
    t.deepEqual(quick.events, decode(stream.upstream, stream.records, true).events, stream.name);
    hits += quick.hits;
    records += stream.records.length;
  }
  t.true(hits > 0.8 * records, `${hits} of ${records} recognised`);
});

/** Changes to a stream: where, and what. */
const edit = fc.record({
  at: fc.nat(1_000_000),
  place: fc.nat(1_000_000),
  how: fc.constantFrom('drop', 'repeat', 'swap', 'cut', 'type', 'digit', 'other'),
  typed: fc.oneof(fc.constantFrom('"', '\\', '}', ',', '1', ' ', '\\n', '\\u00e9', 'é', '","x":"'), fc.string()),
});

test('streams with errors in them do as well', (t) => {
  const stream = fc.integer({ min: 0, max: streams.length - 1 });
  fc.assert(
    fc.property(stream, stream, fc.array(edit, { minLength: 1, maxLength: 6 }), (index, otherIndex, edits) => {
      const { upstream, records = [], name = '' } = streams[index] ?? {};
      if (!upstream) return;
      const changed = records.slice(0, 60);
      for (const { at, place, how, typed } of edits) {
        const chosen = at % changed.length;
        const { data = '', event = '' } = changed[chosen] ?? {};
        const spot = place % (data.length + 1);
        const put = (text: string): void => void changed.splice(chosen, 1, { event, data: text });
        if (how === 'drop' && changed.length > 1) changed.splice(chosen, 1);
        else if (how === 'repeat') changed.splice(place % changed.length, 0, { event, data });
        else if (how === 'swap') changed.push(...changed.splice(chosen, 1));
        else if (how === 'cut') put(data.slice(0, spot) + data.slice(spot + 1));
        else if (how === 'type') put(data.slice(0, spot) + typed + data.slice(spot));
        else if (how === 'digit') put(data.replace(/\d/g, (digit, from) => (from < spot ? digit : '7')));
        else changed.splice(chosen, 0, ...(streams[otherIndex]?.records.slice(0, 3) ?? []));
      }
      t.deepEqual(decode(upstream, changed, false).events, decode(upstream, changed, true).events, name);
    }),
    { numRuns: 200 },
  );
});
