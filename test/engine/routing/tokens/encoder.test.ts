import test from 'ava';
import type { ModelRequest, Part, Tool } from '../../../../engine/model/request.ts';
import { createTokenCounter } from '../../../../engine/routing/tokens/encoder.ts';
import { plainRequest } from '../../../support/context.ts';
import { cpuTimeMs } from '../../../support/processes/cpu-time.ts';

const real = createTokenCounter();

/** Counts one token a character, and notes what was asked. */
const counting = () => {
  const asked: string[] = [];
  let loads = 0;
  const counter = createTokenCounter(() => {
    loads += 1;
    return (text) => {
      asked.push(text);
      return text.length;
    };
  });
  return { counter, asked, loads: () => loads };
};

const withParts = (...parts: readonly Part[]): ModelRequest => ({ ...plainRequest, turns: [{ role: 'user', parts }] });
const withTool = (tool: Tool): ModelRequest => ({ ...plainRequest, tools: [tool] });

/** What a request costs beside an empty turn, at one token a character. */
const cost = (...parts: readonly Part[]): number =>
  counting().counter.count(withParts(...parts)) - counting().counter.count(withParts());

test('figures of a vendor: plain texts come out as counted there', (t) => {
  const ask = (text: string) => real.count(withParts({ type: 'text', text }));
  // Recorded: 14 input tokens for this message, of two vendors.
  t.is(ask('What is the capital of France?'), 14);
  // Recorded: 1,114 input tokens for a hundred times this sentence.
  const long = ask('Please explain what Python is and its main use cases. '.repeat(100));
  t.true(Math.abs(long / 1114 - 1) < 0.05, `${long}`);
});

const signature = { format: 'messages', data: 'x'.repeat(500) };
const text = (words: string): Part => ({ type: 'text', text: words });
const parts: readonly (readonly [string, Part, number])[] = [
  ['text', text('12345'), 5],
  ['a refusal', { type: 'refusal', text: '12345' }, 5],
  ['thinking, without its seal', { type: 'thinking', text: '12345', signature }, 5],
  ['thinking that is unreadable', { type: 'redacted-thinking', signature }, 100],
  ['a call with an object', { type: 'tool-call', id: 'id', name: 'abc', input: { a: 1 } }, 3 + 7 + 7],
  ['a call with text', { type: 'tool-call', id: 'id', name: 'abc', input: '{"a": 1}' }, 3 + 8 + 7],
  ['a call without arguments', { type: 'tool-call', id: 'id', name: 'abc', input: '' }, 3 + 2 + 7],
  ['a result', { type: 'tool-result', id: 'id', content: [text('1234'), text('5')] }, 5 + 7],
  [
    'a search result',
    { type: 'search-result', source: 'ab', title: 'cd', content: [{ type: 'text', text: '123' }] },
    7,
  ],
  ['a document of text', { type: 'document', title: 'ab', context: 'cde', source: { kind: 'text', text: '1234' } }, 9],
  ['a document of parts', { type: 'document', source: { kind: 'content', parts: [text('12')] } }, 2],
  ['a document elsewhere', { type: 'document', source: { kind: 'file', id: 'f' } }, 2_250],
  ['a block of one vendor', { type: 'opaque', wire: 'messages', raw: { a: 1 } }, 7],
  ['an image elsewhere', { type: 'image', source: { kind: 'url', url: 'http://h.example/i' } }, 1_600],
  ['an image in low detail', { type: 'image', detail: 'low', source: { kind: 'url', url: 'u' } }, 85],
  [
    'an image of no known kind',
    { type: 'image', source: { kind: 'base64', mediaType: 'image/x', data: 'AAAA' } },
    1_600,
  ],
  ['a recording', { type: 'audio', format: 'mp3', data: 'A'.repeat(16_000) }, 8],
];
for (const [title, part, tokens] of parts) test(`tokens of ${title}`, (t) => t.is(cost(part), tokens));

const gif = (width: number, height: number): string => {
  const head = Buffer.alloc(60);
  head.write('GIF89a', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return head.toString('base64');
};
const images = [
  [750, 10, 10],
  [200, 200, 54],
  [1000, 1000, 1334],
  [1568, 784, 1600],
  [3136, 100, 105],
  [60_000, 60_000, 1600],
] as const;
for (const [width, height, tokens] of images) {
  test(`tokens of an image of ${width} × ${height}`, (t) => {
    const data = gif(width, height);
    t.is(cost({ type: 'image', source: { kind: 'base64', mediaType: 'image/gif', data } }), tokens);
    t.is(cost({ type: 'image', source: { kind: 'url', url: `data:image/gif;base64,${data}` } }), tokens);
  });
}

const pdf = (body: string): Part => ({
  type: 'document',
  source: { kind: 'base64', mediaType: 'application/pdf', data: Buffer.from(body).toString('base64') },
});
test('tokens of a PDF: by its pages, or else by its length', (t) => {
  const pages = '<</Type /Pages /Count 3>> <</Type /Page>> <</Type/Page>> <</Type /Page /X 1>>';
  t.is(cost(pdf(pages)), 3 * 2_250);
  t.is(cost(pdf('x'.repeat(120_000))), 3 * 2_250);
  t.is(cost({ type: 'document', source: { kind: 'base64', mediaType: 'text/plain', data: 'AAAA'.repeat(100) } }), 75);
});

const tools: readonly (readonly [string, Tool, number])[] = [
  ['a function', { type: 'function', name: 'abc', description: 'de', parameters: { a: 1 } }, 3 + 2 + 7],
  ['a function without arguments', { type: 'function', name: 'abc' }, 3 + 2],
  ['a custom tool', { type: 'custom', name: 'abc', description: 'de', format: { a: 1 } }, 3 + 2 + 7],
  ['a web search', { type: 'web-search', raw: { wire: 'messages', value: { a: 1 } } }, 7],
  ['a hosted tool', { type: 'hosted', wire: 'responses', kind: 'k', raw: { a: 1 } }, 7],
];
for (const [title, tool, tokens] of tools) {
  test(`tokens of ${title}`, (t) => {
    const { counter } = counting();
    t.is(counter.count(withTool(tool)) - counter.count(plainRequest), tokens + 7);
  });
}

test('system prompt, names and the schema of the answer count', (t) => {
  const { counter } = counting();
  const base = counter.count(plainRequest);
  t.is(counter.count({ ...plainRequest, system: [{ type: 'text', text: '12345' }] }) - base, 5 + 4);
  t.is(counter.count({ ...plainRequest, turns: [{ role: 'user', name: 'bob', parts: [] }] }) - base, 3 + 4);
  t.is(counter.count({ ...plainRequest, output: { type: 'json-schema', name: 'n', schema: { a: 1 } } }) - base, 8);
});

test('the encoding is loaded once, and not for nothing', (t) => {
  const { counter, loads } = counting();
  counter.count(withParts(text('')));
  t.is(loads(), 0);
  counter.count(withParts(text('a')));
  counter.count(withParts(text('b')));
  t.is(loads(), 1);
});

test('marks of the encoding are plain text', (t) => {
  t.is(real.countText('<|endoftext|><|endofprompt|>') > 2, true);
});

const hard = [
  ['one letter', 'a'],
  ['spaces', ' '],
  ['line ends', '\n'],
  ['signs', '-+'],
  ['signs of both kinds', '-—'],
  ['another alphabet', '字'],
  ['emoji', '😀'],
  ['half a pair', '\ud83d'],
  ['zero-width joiners', '\u200d'],
] as const;
for (const [title, unit] of hard) {
  test(`100,000 times ${title}: linear time`, (t) => {
    real.countText('warm');
    const startedAt = cpuTimeMs();
    const counted = real.countText(unit.repeat(100_000));
    // Uncut, their time grows with the square: 8,000 letters took 63 ms, so these would take 10 s and more.
    t.true(cpuTimeMs() - startedAt < 8_000, `${cpuTimeMs() - startedAt} ms`);
    t.true(counted > 0);
  });
}
