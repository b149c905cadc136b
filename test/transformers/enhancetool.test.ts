import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';
import { chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { valueSpan } from '../../transformers/enhancetool/value-span.ts';
import { enhancetool } from '../../transformers/enhancetool.ts';
import { cpuMs } from '../foreign-text/cpu.ts';
import { replyContext } from '../support/context.ts';
import { decodeRecording, recordingsOf } from '../support/upstreams/recordings.ts';
import { answer, brief, type Call, notes, recut, requestWith, stageOf, through, tool } from './stage-rig.ts';

const stage = stageOf(enhancetool);
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
} as const;
const contextWith = (schema: JsonObject = parameters) =>
  replyContext({ request: requestWith({ tools: [tool('f', schema)] }) });

test('a call goes out once and whole, with its arguments as they came', (t) => {
  const json = '{"city" : "Łódź",\n"days":3}';
  const events = through(stage, recut(answer([['call', 'f', json]], 'tool-call'), [2]), contextWith());
  t.deepEqual(events, answer([['call', 'f', json]], 'tool-call'));
});

test('text and thinking stream on', (t) => {
  const events = answer([
    ['thinking', 'a', 'b'],
    ['text', 'c', 'd'],
    ['call', 'f', '{"city"', ':"x"}'],
    ['text', 'e'],
  ]);
  const kept = (list: readonly ModelEvent[]) => list.filter(({ type }) => type !== 'input-delta');
  t.deepEqual(kept(through(stage, events, contextWith())), kept(events));
});

test('a call is emitted as soon as it is complete', (t) => {
  const out: ModelEvent[] = [];
  const running = stage.events?.start(contextWith());
  for (const event of answer([['call', 'f', '{"city":', '"x"}']]).slice(0, -1)) running?.step(event, out);
  t.is(out.length, 4);
});

const calls: readonly (readonly [string, string, string, string[]])[] = [
  [
    'no arguments',
    '',
    '',
    ["reply.tool_calls[0].arguments: don't fit the tool's schema: must have required properties city"],
  ],
  [
    'single quotes, a comma too many',
    "{'city': 'x',}",
    '{"city": "x"}',
    ['reply.tool_calls[0].arguments: malformed JSON was repaired'],
  ],
  [
    'a fence',
    '```json\n{"city":"x"}\n```',
    '{"city":"x"}',
    ['reply.tool_calls[0].arguments: malformed JSON was repaired'],
  ],
  [
    'an end that is missing',
    '{"city":"x"',
    '{"city":"x"}',
    ['reply.tool_calls[0].arguments: malformed JSON was repaired'],
  ],
  [
    'a path with bare backslashes',
    '{"city":"C:\\dir",}',
    '{"city":"C:\\\\dir"}',
    ['reply.tool_calls[0].arguments: malformed JSON was repaired'],
  ],
  [
    'another language’s words',
    '{"city":"x","ok":True}',
    '{"city":"x","ok":true}',
    ['reply.tool_calls[0].arguments: malformed JSON was repaired'],
  ],
  [
    'a number in a string',
    '{"city":"x", "days":"5"}',
    '{"city":"x", "days":5}',
    ["reply.tool_calls[0].arguments: types were made to fit the tool's schema"],
  ],
  [
    'a string that is a number',
    '{"city":90210}',
    '{"city":"90210"}',
    ["reply.tool_calls[0].arguments: types were made to fit the tool's schema"],
  ],
  [
    'the whole in a string',
    '"{\\"city\\":\\"x\\"}"',
    '{"city":"x"}',
    ["reply.tool_calls[0].arguments: types were made to fit the tool's schema"],
  ],
  [
    'both at once',
    "{'city': 'x', 'days': '5'}",
    '{"city": "x", "days": 5}',
    ["reply.tool_calls[0].arguments: malformed JSON was repaired; types were made to fit the tool's schema"],
  ],
  [
    'a number with digits that a float would lose',
    '{"city":"x","id":12345678901234567890,"days":"98765432109876543210"}',
    '{"city":"x","id":12345678901234567890,"days":98765432109876543210}',
    ["reply.tool_calls[0].arguments: types were made to fit the tool's schema"],
  ],
  [
    'what doesn’t fit stays',
    '{"city":["x"], "days":"5"}',
    '{"city":["x"], "days":"5"}',
    ["reply.tool_calls[0].arguments: don't fit the tool's schema: /city must be string"],
  ],
  [
    'repaired, but it doesn’t fit',
    "{'days': 5}",
    '{"days": 5}',
    [
      "reply.tool_calls[0].arguments: malformed JSON was repaired; don't fit the tool's schema: must have required properties city",
    ],
  ],
  ['no object', 'hello', 'hello', ['reply.tool_calls[0].arguments: not a JSON object: left unchanged']],
  ['a list', '[1]', '[1]', ['reply.tool_calls[0].arguments: not a JSON object: left unchanged']],
  [
    'two objects',
    '{"city":"x"}{"city":"y"}',
    '{"city":"x"}{"city":"y"}',
    ['reply.tool_calls[0].arguments: not a JSON object: left unchanged'],
  ],
];
for (const [title, json, expected, lost] of calls) {
  test(`arguments: ${title}`, (t) => {
    for (const length of [10_000, 1, 3]) {
      const context = contextWith();
      const events = through(stage, recut(answer([['call', 'f', json]], 'tool-call'), [length]), context);
      t.is(brief(events), `call f(${expected}) tool-call`);
      t.deepEqual(notes(context.losses), lost);
    }
  });
}

const coercions: readonly (readonly [JsonObject, string, string | undefined])[] = [
  [{ type: 'number' }, '"1.5e3"', '1.5e3'],
  [{ type: 'number' }, '"1,5"', undefined],
  [{ type: 'integer' }, '"5.5"', undefined],
  [{ type: 'integer' }, '"05"', undefined],
  [{ type: 'integer' }, '""', undefined],
  [{ type: 'boolean' }, '"True"', 'true'],
  [{ type: 'boolean' }, '"yes"', undefined],
  [{ type: 'boolean' }, '1', undefined],
  [{ type: 'string' }, 'true', '"true"'],
  [{ type: 'string' }, 'null', undefined],
  [{ type: 'string' }, '{"a":1}', undefined],
  [{ type: ['integer', 'null'] }, '"null"', 'null'],
  [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, '"7"', '7'],
  [{ type: 'array', items: { type: 'integer' } }, '"[1, \\"2\\"]"', '[1, 2]'],
  [{ type: 'array', items: { type: 'string' } }, '"one"', undefined],
  [{ type: 'object', properties: { b: { type: 'boolean' } } }, '"{\\"b\\":\\"false\\"}"', '{"b":false}'],
  [
    { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
    '[{"n":"1"},{"n":2},{"n":"3"}]',
    '[{"n":1},{"n":2},{"n":3}]',
  ],
  [
    { type: 'array', items: { type: 'integer' } },
    `[${Array.from({ length: 30 }, () => '"1"').join()}]`,
    `[${Array.from({ length: 30 }, () => '1').join()}]`,
  ],
  [{ type: 'integer', minimum: 3 }, '"2"', undefined],
];
for (const [schema, given, expected] of coercions) {
  test(`where ${JSON.stringify(schema)} is due, ${given} becomes ${expected ?? 'nothing else'}`, (t) => {
    const context = contextWith({ type: 'object', properties: { a: schema } });
    const events = through(stage, answer([['call', 'f', `{"b":"]}","a": ${given} }`]], 'tool-call'), context);
    t.is(brief(events), `call f({"b":"]}","a": ${expected ?? given} }) tool-call`);
    t.is(context.losses.size, 1);
  });
}

test('members with odd names and twins are found', (t) => {
  const schema = { type: 'object', properties: { 'a/b~c': { type: 'integer' }, 'q"': { type: 'integer' } } };
  const json = '{ "a/b~c" : "1" , "q\\"" : "2" , "a/b~c" : "3" }';
  const events = through(stage, answer([['call', 'f', json]]), contextWith(schema));
  t.is(brief(events), 'call f({ "a/b~c" : "1" , "q\\"" : 2 , "a/b~c" : 3 }) end');
});

const oddSchemas: readonly JsonObject[] = [
  {},
  { type: 'nonsense' },
  { type: 5 },
  { type: null },
  { type: [] },
  { properties: null },
  { properties: { a: null, b: 'x', c: true } },
  { $ref: '#' },
  { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  { $ref: 'https://example.com/schema.json' },
  { pattern: '(' },
  { properties: { a: { type: 'string', pattern: '(' } } },
  { patternProperties: { '(': {} }, additionalProperties: false },
  { propertyNames: { pattern: '(' } },
  { allOf: 'x', anyOf: 5, oneOf: null, not: null, if: 1 },
  { required: 'a', enum: 'x', items: 'y', minimum: 'z', multipleOf: 0 },
  { const: { pattern: '(' } },
];
for (const schema of oddSchemas) {
  test(`an odd schema breaks nothing: ${JSON.stringify(schema)}`, (t) => {
    const json = '{"a":"x","b":1}';
    t.is(brief(through(stage, answer([['call', 'f', json]]), contextWith(schema))), `call f(${json}) end`);
  });
}

test('a regular expression of a client never runs', (t) => {
  const context = contextWith({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } });
  const json = `{"a":"${'a'.repeat(40)}!"}`;
  t.is(brief(through(stage, answer([['call', 'f', json]]), context)), `call f(${json}) end`);
  t.deepEqual(notes(context.losses), []);
});

test('a member that is called like a keyword is checked as any other', (t) => {
  const context = contextWith({
    type: 'object',
    properties: { pattern: { type: 'string' }, format: { type: 'integer' } },
  });
  const events = through(stage, answer([['call', 'f', '{"pattern":"(","format":"5"}']]), context);
  t.is(brief(events), 'call f({"pattern":"(","format":5}) end');
});

test('a schema that is called like a keyword is checked as any other', (t) => {
  for (const [word, parameters] of [
    ['$defs', { properties: { a: { $ref: '#/$defs/pattern' } }, $defs: { pattern: { type: 'integer' } } }],
    [
      'definitions',
      { properties: { a: { $ref: '#/definitions/format' } }, definitions: { format: { type: 'integer' } } },
    ],
    ['dependentSchemas', { dependentSchemas: { format: { properties: { a: { type: 'integer' } } } } }],
  ] as const) {
    const events = through(stage, answer([['call', 'f', '{"format":1,"a":"5"}']]), contextWith(parameters));
    t.is(brief(events), 'call f({"format":1,"a":5}) end', word);
  }
});

/** JSON text with white space of all kinds between its tokens. */
const spaced = (value: Json | undefined, space: () => string): string => {
  const around = (text = 'null'): string => `${space()}${text}${space()}`;
  if (Array.isArray(value)) return around(`[${value.map((one) => spaced(one, space)).join(',') || space()}]`);
  if (!isJsonObject(value)) return around(JSON.stringify(value));
  const members = Object.entries(value).map(([name, one]) => `${around(JSON.stringify(name))}:${spaced(one, space)}`);
  return around(`{${members.join(',') || space()}}`);
};

/** Every value inside, with its path. */
const valuesIn = (value: Json, path: readonly string[] = []): readonly (readonly [readonly string[], Json])[] => [
  [path, value],
  ...(typeof value === 'object' && value !== null ? Object.entries<Json | undefined>(value) : []).flatMap(
    ([name, one]) => valuesIn(one ?? null, [...path, name]),
  ),
];

test('the range of each value, in any spacing, is its text alone', (t) => {
  const name = fc.constantFrom('a', 'b"', '\\', ',}', ' ', '');
  const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, true, -1.5e30, 0, '', '"', '\\', '\\"', '}],', ' x '),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(anyValue, fc.array(fc.constantFrom('', ' ', '\n', '\r', '\t', '\n  ')), (value, spaces) => {
      let at = 0;
      const text = spaced(value, () => spaces[at++ % (spaces.length || 1)] ?? '');
      for (const [path, inner] of valuesIn(value)) {
        const { start, end } = valueSpan(text, path) ?? { start: 0, end: 0 };
        const written = text.slice(start, end);
        t.is(written, written.trim());
        t.deepEqual<unknown, unknown>(JSON.parse(written), inner);
        if (!Array.isArray(inner)) t.is(valueSpan(text, [...path, 'none']), undefined);
      }
    }),
  );
  const { start, end } = valueSpan('{"a":1,"b":2,"a":3}', ['a']) ?? {};
  t.deepEqual([start, end], [17, 18], 'of two members with one name, the last counts');
});

for (const finish of ['length', 'context-full', 'filtered'] as const) {
  test(`a call that was cut (${finish}) stays cut`, (t) => {
    const context = contextWith();
    const events = answer(
      [
        ['call', 'f', "{'city':'a'}"],
        ['text', 'b'],
        ['call', 'f', '{"city":"b"}'],
        ['call', 'f', '{"city":"c'],
      ],
      finish,
    );
    t.is(
      brief(through(stage, events, context)),
      `call f({"city":"a"}) text(b) call f({"city":"b"}) call f({"city":"c) ${finish}`,
    );
    t.deepEqual(notes(context.losses), [
      'reply.tool_calls[0].arguments: malformed JSON was repaired',
      'reply.tool_calls[2].arguments: cut off: left unchanged',
    ]);
  });
}

test('calls keep their order when the first one has to wait', (t) => {
  const events = answer(
    [
      ['call', 'f', "{'city':'a'}"],
      ['call', 'f', '{"city":"b"}'],
      ['call', 'g', '{}'],
    ],
    'tool-call',
  );
  t.is(brief(through(stage, events, contextWith())), 'call f({"city":"a"}) call f({"city":"b"}) call g({}) tool-call');
});

test('an error in the middle: calls as far as they came', (t) => {
  const fault = { kind: 'upstream-cut', message: 'x' } as const;
  const all = answer([
    ['call', 'f', "{'city':'a'}"],
    ['call', 'f', '{"city":', '"b"}'],
  ]);
  const events: ModelEvent[] = [...all.slice(0, 6), { type: 'error', fault }];
  t.deepEqual(through(stage, events, contextWith()), events);
});

test('data in a schema is not treated as a schema', (t) => {
  const context = contextWith({ type: 'object', properties: { a: { enum: [{ format: 'x', pattern: '(' }] } } });
  const json = '{"a":{"format":"x","pattern":"("}}';
  t.is(brief(through(stage, answer([['call', 'f', json]]), context)), `call f(${json}) end`);
  t.deepEqual(notes(context.losses), []);
});

test('arguments are an object even without a schema', (t) => {
  const events = answer([['call', 'unknown', '"{\\"a\\":1}"']]);
  t.is(brief(through(stage, events)), 'call unknown({"a":1}) end');
});

test('a custom tool’s call is held to its own form', (t) => {
  const context = replyContext({ request: requestWith({ tools: [{ type: 'custom', name: 'patch' }] }) });
  const events = through(
    stage,
    answer([
      ['call', 'patch', '{"input":5}'],
      ['call', 'unknown', "{'a':1}"],
    ]),
    context,
  );
  t.is(brief(events), 'call patch({"input":"5"}) call unknown({"a":1}) end');
});

test('very long malformed arguments aren’t repaired: that could take minutes', (t) => {
  const json = `{"city":"${'x"y '.repeat(200_000)}`;
  const context = contextWith();
  t.is(brief(through(stage, answer([['call', 'f', json]]), context)), `call f(${json}) end`);
  t.deepEqual(notes(context.losses), ['reply.tool_calls[0].arguments: not a JSON object: left unchanged']);
});

test('any arguments: valid ones are unchanged, others end in order, for any chunking', (t) => {
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  const broken = fc.array(fc.constantFrom('{', '}', '"', "'", ':', ',', '[', ']', 'a', '1', '\\', ' ', 'true', '```'), {
    maxLength: 14,
  });
  const inputs = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    broken.map((list) => list.join('')),
  );
  fc.assert(
    fc.property(inputs, lengths, (json, sizes) => {
      const call: Call = json === '' ? ['call', 'g'] : ['call', 'g', json];
      const events = answer([call], 'tool-call');
      const context = contextWith();
      const whole = through(stage, events, context);
      t.deepEqual(through(stage, recut(events, sizes), contextWith()), whole);
      if (context.losses.size === 0) t.deepEqual(whole, events);
    }),
    { numRuns: 300 },
  );
});

test('recorded calls come out with the same arguments', (t) => {
  for (const recording of recordingsOf('openai-chat').filter(({ status }) => status === 200)) {
    const context = replyContext();
    const events = decodeRecording(recording, chatUpstream(plainDialect), context);
    const out = through(stage, events, context);
    t.is(brief(out), brief(events), recording.name);
    t.deepEqual(notes(context.losses), [], recording.name);
    const pieces = out.filter(({ type }) => type === 'input-delta').length;
    t.true(pieces <= recording.expected.tool_calls.length + (recording.expected.function_call ? 1 : 0), recording.name);
  }
});

/** A schema whose references double at each level, all of them for the same value. */
const doubling: JsonObject = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/d0' }, b: { type: 'integer' } },
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `d${index}`,
        { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    ),
    d60: { type: 'integer' },
  },
};

test('a schema that would be checked for ages is given up, for all calls of the answer: they go out as they came', (t) => {
  const context = contextWith(doubling);
  const blocks: Call[] = [
    ['call', 'f', '{"b":"1"}'],
    ['call', 'f', '{"a":"1","b":"2"}'],
    ['call', 'f', '{"b":"3"}'],
  ];
  const events = through(stage, answer(blocks, 'tool-call'), context);
  t.is(brief(events), 'call f({"b":1}) call f({"a":"1","b":"2"}) call f({"b":"3"}) tool-call');
  t.deepEqual(notes(context.losses), [
    "reply.tool_calls[0].arguments: types were made to fit the tool's schema",
    'reply.tool_calls[1].arguments: unchecked and unchanged: repairing this answer takes too long',
    'reply.tool_calls[2].arguments: unchecked and unchanged: repairing this answer takes too long',
  ]);
});

test('an answer has only so many long calls repaired; the others go out as they came', (t) => {
  const context = contextWith();
  const broken = `{"city": "${'\'\\" '.repeat(6000)}",}`;
  const blocks = Array.from({ length: 40 }, (): Call => ['call', 'f', broken]);
  const events = through(stage, answer(blocks, 'tool-call'), context);
  const texts = events.flatMap((event) => (event.type === 'input-delta' ? [event.json] : []));
  const repaired = texts.filter((text) => text !== broken).length;
  t.true(repaired > 0 && repaired <= 10, `${repaired}`);
  t.is(texts.length, blocks.length);
  t.is(
    notes(context.losses).filter((note) => note.endsWith('repairing this answer takes too long')).length,
    40 - repaired,
  );
});

test('many whole calls behind a broken one take linear time', (t) => {
  const broken = `{"city":"${'x'.repeat(2_000_000)}`;
  const rest = Array.from({ length: 2000 }, (): Call => ['call', 'f', '{"city":"x"}']);
  const events = answer([['call', 'f', broken], ...rest], 'tool-call');
  const ms = cpuMs(
    () => contextWith(),
    (context) => through(stage, events, context),
    300,
  );
  t.true(ms < 300, `${ms} ms`);
});
