import test from 'ava';
import fc from 'fast-check';
import type { Json } from '../../../../engine/model/json/json.ts';
import { standIn, standInText } from '../../../../engine/observe/log/stand-ins.ts';

const redact = (text: string): string => standIn(Buffer.from(text)).toString();

/** The shape of a value: names, types and the lengths of lists, with the members that stay. */
const shape = (value: Json): unknown => {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member ?? null)]));
  return typeof value;
};

test('any JSON stays JSON of the same shape and size', (t) => {
  const property = fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 2 }), (value, indent) => {
    const text = JSON.stringify({ messages: value }, null, indent);
    const redacted = redact(text);
    t.is(Buffer.byteLength(redacted), Buffer.byteLength(text));
    t.deepEqual(shape(JSON.parse(redacted)), shape(JSON.parse(text)));
  });
  t.notThrows(() => fc.assert(property, { numRuns: 300 }));
});

test("a user's words go, the protocol's stay", (t) => {
  const cases: readonly (readonly [given: string, expected: string])[] = [
    [
      '{"role":"user","content":"Hi Łódź 7 \\"q\\" \\u0041\\n"}',
      '{"role":"user","content":"Xx ééxé 0 \\"x\\" \\u0078\\n"}',
    ],
    ['{"type":"text","text":"🙂 日"}', '{"type":"text","text":"😀 中"}'],
    // What a tool is given is the user's own, whatever the members are called.
    ['{"input":{"type":"secret","n":42,"ok":true}}', '{"input":{"type":"xxxxxx","n":11,"ok":true}}'],
    [
      '{"safeguards":[{"type":"dangerous_tool_use","classifier_context":{"v":1,"primary":{"path":"/home/ann"}}}]}',
      '{"safeguards":[{"type":"dangerous_tool_use","classifier_context":{"v":1,"primary":{"path":"/xxxx/xxx"}}}]}',
    ],
    [
      '{"input":[{"type":"message","id":"msg_1","text":"Hi"}]}',
      '{"input":[{"type":"message","id":"msg_1","text":"Xx"}]}',
    ],
    [
      '{"properties":{"city":{"type":"string","enum":["Rome"],"description":"A city"}},"required":["city"]}',
      '{"properties":{"city":{"type":"string","enum":["Xxxx"],"description":"X xxxx"}},"required":["city"]}',
    ],
    [
      '{"arguments":"{\\"a\\":true,\\"b\\":[12,\\"c\\\\n\\"]}"}',
      '{"arguments":"{\\"a\\":true,\\"b\\":[11,\\"x\\\\n\\"]}"}',
    ],
    [
      'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      'data: {"choices":[{"delta":{"content":"Xx"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    ],
    ['event: message_stop\ndata: {}\n\n: keep-alive\n\n', 'event: message_stop\ndata: {}\n\n: keep-alive\n\n'],
    ['<html>Bad gateway 502</html>', '<xxxx>Xxx xxxxxxx 000</xxxx>'],
    [
      '{"error":{"type":"overloaded_error","message":"Key of Bob"',
      '{"error":{"type":"overloaded_error","message":"Xxx xx Xxx"',
    ],
    ['', ''],
  ];
  for (const [given, expected] of cases) t.is(redact(given), expected);
  t.is(standInText('Bob, 42'), 'Xxx, 00');
});

test('arguments in pieces are JSON again when they are put together, of several calls at a time', (t) => {
  const value = { city: 'São "Paulo" \\ 9', list: [1, null, { deep: 'x\n' }], flag: false };
  const text = JSON.stringify(value);
  const joined = (records: string, index: number, read: (record: never) => string): string =>
    redact(records)
      .split('\n\n')
      .flatMap((record) =>
        record.includes(`"index":${index},`) ? [read(JSON.parse(record.slice('data: '.length)) as never)] : [],
      )
      .join('');
  for (let cut = 0; cut <= text.length; cut += 1) {
    const pieces = [text.slice(0, cut), text.slice(cut)];
    const chat = pieces
      .flatMap((piece) => [0, 1].map((index) => `data: ${JSON.stringify({ index, function: { arguments: piece } })}`))
      .join('\n\n');
    const messages = pieces
      .map((piece) => `data: ${JSON.stringify({ index: 2, delta: { type: 'input_json_delta', partial_json: piece } })}`)
      .join('\n\n');
    const given = [
      joined(chat, 0, ({ function: { arguments: piece } }: { function: { arguments: string } }) => piece),
      joined(chat, 1, ({ function: { arguments: piece } }: { function: { arguments: string } }) => piece),
      joined(messages, 2, ({ delta }: { delta: { partial_json: string } }) => delta.partial_json),
    ];
    for (const redacted of given) {
      const read = JSON.parse(redacted);
      t.deepEqual(
        Object.values(read).map((member) => typeof member),
        ['string', 'object', 'boolean'],
        `cut at ${cut}`,
      );
      t.deepEqual(Object.keys(read), ['city', 'list', 'flag'], `cut at ${cut}`);
      t.notRegex(redacted, /Paulo|9/);
    }
  }
});
