import test from 'ava';
import fc from 'fast-check';
import { isJsonObject } from '../../ui/src/api/json.ts';
import { type Protocol, protocols } from '../../ui/src/api/protocols.ts';
import { sseReader } from '../../ui/src/api/requests/sse-records.ts';
import { textListReader } from '../../ui/src/api/text-list-reader.ts';
import { LogBook } from '../../ui/src/pages/logs/log-book.ts';
import { filterRecords } from '../../ui/src/pages/logs/log-filter.ts';
import { briefOf, levelName, readRecord } from '../../ui/src/pages/logs/log-record.ts';
import { composeBody } from '../../ui/src/pages/playground/compose-body.ts';
import { firstDraft, isDraft, isSentList, withoutPictures } from '../../ui/src/pages/playground/draft.ts';
import { withResult } from '../../ui/src/pages/playground/prompt.ts';
import type { Answer } from '../../ui/src/stream/answer.ts';
import { answerReader } from '../../ui/src/stream/answer-reader.ts';
import type { Turn } from '../../ui/src/stream/conversation.ts';
import { convertBody } from '../../ui/src/stream/convert-body.ts';
import { parseCutJson } from '../../ui/src/stream/parse-cut-json.ts';
import { readConversation } from '../../ui/src/stream/read-conversation.ts';
import { cpuTimeMs } from '../support/processes/cpu-time.ts';
import { type Recording, recordingsOf } from '../support/upstreams/recordings.ts';

/** The answer in a recording, as the interface reads it. */
const read = (protocol: Protocol, { streamed, bytes }: Pick<Recording, 'streamed' | 'bytes'>): Answer => {
  const reader = answerReader(protocol);
  const text = Buffer.from(bytes).toString();
  if (streamed) for (const record of sseReader()(text)) reader.record(record);
  else reader.whole(text);
  return reader.answer();
};

const joined = ({ parts }: Answer, type: 'text' | 'thinking'): string =>
  parts.map((part) => (part.type === type ? part.text : '')).join('');

const formats: readonly (readonly [format: string, protocol: Protocol])[] = [
  ['anthropic', 'messages'],
  ['openai-chat', 'chat'],
  ['deepseek', 'chat'],
  ['groq', 'chat'],
  ['openrouter', 'chat'],
  ['openai-responses', 'responses'],
];

for (const [format, protocol] of formats) {
  test(`recorded responses of ${format} are read: text, calls, end`, (t) => {
    const recordings = recordingsOf(format).filter(({ status }) => status === 200);
    t.true(recordings.length > 3);
    for (const recording of recordings) {
      const { expected, name, streamed } = recording;
      const answer = read(protocol, recording);
      if (expected.error_event || expected.error) {
        t.truthy(answer.fault, name);
        continue;
      }
      t.is(answer.fault, undefined, name);
      t.true(answer.ended, name);
      const refusal = expected.refusal ?? '';
      t.is(joined(answer, 'text'), expected.text + (expected.text.endsWith(refusal) ? '' : refusal), name);
      const calls = answer.parts.flatMap((part) => (part.type === 'tool' && part.name !== '' ? [part] : []));
      for (const { name: tool, id } of expected.tool_calls) {
        t.true(
          calls.some((call) => call.name === tool && (id === null || call.id === id)),
          `${name}: ${tool}`,
        );
      }
      for (const call of calls) if (call.input !== '' && !streamed) t.notThrows(() => JSON.parse(call.input), name);
      if (expected.reasoning !== '') t.not(joined(answer, 'thinking'), '', name);
    }
  });
}

test('an error inside a stream keeps its message, in each protocol', (t) => {
  const cases: readonly (readonly [Protocol, string])[] = [
    ['messages', 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"gone"}}\n\n'],
    ['chat', 'data: {"error":{"message":"gone"}}\n\n'],
    [
      'responses',
      'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"message":"gone"}}}\n\n',
    ],
    ['responses', 'event: error\ndata: {"type":"error","message":"gone"}\n\n'],
  ];
  for (const [protocol, text] of cases) {
    t.is(read(protocol, { streamed: true, bytes: Buffer.from(text) }).fault, 'gone', protocol);
  }
});

test('records that are not of the protocol are skipped', (t) => {
  for (const protocol of protocols) {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (values) => {
        const reader = answerReader(protocol);
        for (const value of values) reader.record({ event: '', data: JSON.stringify(value) });
        reader.record({ event: '', data: 'not JSON' });
        reader.whole('<html>');
        return reader.answer().parts.length === 0;
      }),
      { numRuns: 50 },
    );
  }
  t.pass();
});

test('of JSON that is cut at any place, the beginning is read', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      const read = parseCutJson(text.slice(0, 1 + (cut % text.length)));
      t.deepEqual(beginningOf(JSON.parse(text), read), read);
    }),
    { numRuns: 500 },
  );
  t.deepEqual(parseCutJson('{"a":{"b":["one","tw\\u00'), { a: { b: ['one', 'tw'] } });
  t.deepEqual(parseCutJson('{"a":[1,2'), { a: [1] });
  t.is(parseCutJson(''), undefined);
  const startedMs = cpuTimeMs();
  parseCutJson(`{"a":"${'\\"'.repeat(200_000)}`);
  parseCutJson('['.repeat(200_000));
  t.true(cpuTimeMs() - startedMs < 5_000, 'linear');
});

/** What is left of a value if only the members and elements of `part` are taken, and texts are as long as there. */
const beginningOf = (value: unknown, part: unknown): unknown => {
  if (typeof value === 'string' && typeof part === 'string') return value.slice(0, part.length);
  if (Array.isArray(value) && Array.isArray(part)) return part.map((one, at) => beginningOf(value[at], one));
  if (!isJsonObject(value) || !isJsonObject(part)) return value;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, beginningOf(value[name], one)]));
};

test('a result belongs to the last call of its id; one without a call stands by itself', (t) => {
  const use = (id: string, n: number) => ({ type: 'tool_use', id, name: 'add', input: { n } });
  const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content });
  const { turns } = readConversation('messages', {
    messages: [
      { role: 'user', content: [result('gone', 'zero')] },
      { role: 'assistant', content: [use('a', 1)] },
      { role: 'user', content: [result('a', 'one')] },
      { role: 'assistant', content: [use('a', 2)] },
      { role: 'user', content: [result('a', 'two'), { type: 'text', text: 'Go on.' }] },
    ],
  });
  const told = (text: string) => ({ failed: false, parts: [{ type: 'text', text }] });
  const called = (n: number, text: string) => ({
    role: 'assistant',
    parts: [{ type: 'tool', name: 'add', id: 'a', input: JSON.stringify({ n }), result: told(text) }],
  });
  t.deepEqual<unknown, unknown>(turns, [
    { role: 'user', parts: [{ type: 'result', id: 'gone', result: told('zero') }] },
    called(1, 'one'),
    called(2, 'two'),
    { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] },
  ]);
});

test('a body keeps its conversation and its tools in another protocol', (t) => {
  const url = 'data:image/png;base64,AAAA';
  const body = {
    model: 'm',
    stream: true,
    max_completion_tokens: 7,
    tools: [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } } }],
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Add.' },
          { type: 'image_url', image_url: { url } },
        ],
      },
      {
        role: 'assistant',
        content: 'Now.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'add', arguments: '{"n":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'user', content: 'Thanks.' },
    ],
  };
  const { turns, tools } = readConversation('chat', body);
  t.is(turns.length, 4);
  for (const to of ['messages', 'chat', 'responses'] as const) {
    for (const back of ['messages', 'chat', 'responses'] as const) {
      const converted = convertBody(convertBody(body, 'chat', to), to, back);
      const read = readConversation(back, converted);
      t.deepEqual(read.turns, turns, `${to}, ${back}`);
      t.deepEqual(read.tools, tools, `${to}, ${back}`);
      t.like(read.parameters, { model: 'm', stream: true });
      t.true(JSON.stringify(read.parameters).includes(':7'), 'the longest output');
    }
  }
});

test('any JSON is read as a conversation', (t) => {
  for (const protocol of protocols) {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (list, value) => {
        for (const content of [list, value]) {
          const each = [
            { role: 'user', content },
            { role: 'assistant', content },
            { type: 'function_call_output', output: content },
          ];
          const body = { system: content, messages: each, input: [...list, ...each], tools: list };
          for (const to of ['messages', 'chat', 'responses'] as const) convertBody(body, protocol, to);
        }
      }),
      { numRuns: 50 },
    );
  }
  t.pass();
});

test('a list of texts does not depend on its chunks', (t) => {
  const line = fc.oneof(fc.string(), fc.constantFrom('","', '\\', '"]', '["', ',', '\\"', '{"a":"b\\",\\"c"}'));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, cuts) => {
      const text = JSON.stringify(lines);
      const next = textListReader();
      const found: string[] = [];
      let at = 0;
      for (const length of cuts) {
        found.push(...next(text.slice(at, at + length)));
        at = Math.min(text.length, at + length);
      }
      found.push(...next(text.slice(at)));
      t.deepEqual(found, lines);
    }),
    { numRuns: 300 },
  );
  t.pass();
});

const started =
  '{"level":30,"time":1,"pid":7,"req":{"id":3,"method":"GET","url":"/api/logs?file=a"},"msg":"incoming request"}';
const completed =
  '{"level":30,"time":2,"pid":7,"reqId":3,"res":{"statusCode":200,"responseTime":4},"msg":"request completed"}';
const routed = '{"level":40,"time":3,"pid":7,"requestId":"req_1","asked":"x","msg":"routed to Demo,echo"}';

test('a log line has a level, a request and fields; any other line is text', (t) => {
  const own = new Set<string>();
  const [first, second, third, fourth] = [started, completed, routed, 'plain text'].map((line, n) =>
    readRecord(line, n, own),
  );
  t.like(first, { level: 30, request: '7#3', own: true });
  t.like(second, { request: '7#3', own: true });
  t.like(third, { level: 40, request: 'req_1', own: false });
  t.like(fourth, { level: 0, request: '', own: false });
  t.is(briefOf(JSON.parse(started)), 'GET /api/logs?file=a');
  t.is(briefOf(JSON.parse(completed)), '200 in 4 ms');
  t.is(briefOf(JSON.parse(routed)), 'asked: x');
  t.deepEqual([0, 10, 35, 60, 99].map(levelName), ['text', 'trace', 'info', 'fatal', 'fatal']);
});

test('a log is filtered by level, text, request, and without the interface’s own calls', async (t) => {
  const all = { level: 0, text: '', request: '', minutes: 0, withoutOwn: false };
  const book = new LogBook(filterRecords(all));
  await book.add([started, completed, routed, 'plain (text)']);
  const numbers = (change: Partial<typeof all>): readonly number[] => {
    book.filter(filterRecords({ ...all, ...change }));
    return book.view.get().shown.map(({ n }) => n);
  };
  t.deepEqual(numbers({}), [0, 1, 2, 3]);
  t.deepEqual(numbers({ level: 40 }), [2]);
  t.deepEqual(numbers({ text: 'DEMO' }), [2]);
  t.deepEqual(numbers({ text: '(text)' }), [3]);
  t.deepEqual(numbers({ request: '7#3' }), [0, 1]);
  t.deepEqual(numbers({ withoutOwn: true }), [2, 3]);
  book.clear();
  t.like(book.view.get(), { length: 0, total: 0 });
});

test('a log book keeps the newest records, and counts the discarded ones that were shown', async (t) => {
  const book = new LogBook(filterRecords({ level: 40, text: '', request: '', minutes: 0, withoutOwn: false }));
  const lines = Array.from({ length: 211_000 }, (_, at) => (at % 2 === 0 ? '{"level":30}' : '{"level":50}'));
  await book.add(lines.slice(0, 100_000));
  await book.add(lines.slice(100_000));
  while (book.view.get().busy) await new Promise((resolve) => setTimeout(resolve, 5));
  const { total, dropped, shown, shownDropped } = book.view.get();
  t.like(
    { total, dropped, shown: shown.length, first: shown[0]?.n },
    { total: 200_000, dropped: 11_000, shown: 100_000, first: 11_001 },
  );
  t.true(shownDropped <= 5_500);
});

const textTurn = (role: 'user' | 'assistant', text: string): Turn => ({ role, parts: [{ type: 'text', text }] });

test('one prompt becomes the body of each protocol', (t) => {
  const prompt = { model: 'm', system: 's', text: 'x', stream: true, maxTokens: 9, withTool: true, thinking: true };
  const picture = { name: 'p', mediaType: 'image/png', base64: 'AA==', size: 1 };
  t.like(composeBody('messages', prompt, picture), {
    max_tokens: 1_033,
    system: 's',
    stream: true,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
  });
  t.regex(JSON.stringify(composeBody('messages', prompt, picture)), /"media_type":"image\/png","data":"AA=="/);
  t.like(composeBody('chat', prompt, picture), { max_completion_tokens: 9, stream_options: { include_usage: true } });
  t.regex(JSON.stringify(composeBody('chat', prompt, picture)), /"url":"data:image\/png;base64,AA=="/);
  t.like(composeBody('responses', prompt, picture), { max_output_tokens: 9, instructions: 's', store: false });
  const turns = [textTurn('user', 'a'), textTurn('assistant', 'b')];
  const later = { ...prompt, turns, temperature: 0.5, effort: 'high', thinking: false };
  const said = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'x' },
  ];
  t.like(composeBody('messages', later, undefined), {
    messages: said,
    temperature: 0.5,
    output_config: { effort: 'high' },
  });
  const messages = [{ role: 'system', content: 's' }, ...said];
  t.like(composeBody('chat', later, undefined), { messages, temperature: 0.5, reasoning_effort: 'high' });
  t.like(composeBody('responses', later, undefined), { input: said, temperature: 0.5, reasoning: { effort: 'high' } });
  const plain = { ...prompt, system: '', stream: false, maxTokens: undefined, withTool: false, thinking: false };
  t.deepEqual(composeBody('responses', plain, undefined), {
    model: 'm',
    input: [{ role: 'user', content: 'x' }],
    store: false,
  });
  t.deepEqual(composeBody('chat', plain, undefined), { model: 'm', messages: [{ role: 'user', content: 'x' }] });
});

test('a conversation goes on after pictures and tool calls; a call without a result is left out', (t) => {
  const call = { type: 'tool', name: 'get_weather', id: 'c1', input: '{"city":"Paris"}' } as const;
  const prompt = { ...firstDraft.prompt, model: 'm', stream: false, text: '' };
  const turns: readonly Turn[] = [
    {
      role: 'user',
      parts: [
        { type: 'picture', url: 'data:image/png;base64,AA==' },
        { type: 'text', text: 'Here?' },
      ],
    },
    { role: 'assistant', parts: [{ ...call, id: 'c0' }, withResult(call, 'rain')] },
  ];
  const bodyIn = (protocol: Protocol) => composeBody(protocol, { ...prompt, turns }, undefined);
  const picture = { type: 'base64', media_type: 'image/png', data: 'AA==' };
  t.deepEqual(bodyIn('messages').messages, [
    {
      role: 'user',
      content: [
        { type: 'image', source: picture },
        { type: 'text', text: 'Here?' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Paris' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'rain' }] },
  ]);
  t.like(bodyIn('messages'), { tools: [{ name: 'get_weather' }] });
  t.deepEqual(bodyIn('chat').messages, [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        { type: 'text', text: 'Here?' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'rain' },
  ]);
  t.deepEqual(bodyIn('responses').input, [
    {
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
        { type: 'input_text', text: 'Here?' },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{"city":"Paris"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'rain' },
  ]);
  const unanswered = {
    ...prompt,
    text: 'Never mind.',
    turns: [textTurn('user', 'a'), { role: 'assistant' as const, parts: [call] }],
  };
  t.deepEqual(composeBody('chat', unanswered, undefined).messages, [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'Never mind.' },
  ]);
});

test('a kept prompt is restored only if it has the shape of one', (t) => {
  const kept = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  const sent = { at: 1, target: 'all', prompt: { ...firstDraft.prompt, model: 'p,m' } };
  t.true(isDraft(kept(firstDraft)));
  const talk = { turns: [textTurn('user', 'a')], temperature: 0.5, effort: 'high' };
  t.true(isDraft(kept({ ...firstDraft, prompt: { ...firstDraft.prompt, ...talk } })));
  const turnsOf = (...turns: readonly unknown[]) => kept({ ...firstDraft, prompt: { ...firstDraft.prompt, turns } });
  const call = { type: 'tool', name: 'f', id: '1', input: '{}' } as const;
  const picture = { type: 'picture', url: 'data:image/png;base64,AA==' };
  t.true(isDraft(turnsOf({ role: 'user', parts: [picture] }, { role: 'assistant', parts: [withResult(call, 'r')] })));
  for (const part of [{ type: 'tool' }, { type: 'text' }, { ...call, result: 'r' }, { type: 'gone', text: 'a' }, 1])
    t.false(isDraft(turnsOf({ role: 'user', parts: [part] })), JSON.stringify(part));
  t.false(isDraft(turnsOf({ role: 'tool', parts: [] })));
  t.false(isDraft(turnsOf({ role: 'user', text: 'of an earlier version' })));
  t.deepEqual(
    withoutPictures({ ...firstDraft.prompt, turns: [{ role: 'user', parts: [{ type: 'picture', url: picture.url }] }] })
      .turns,
    [{ role: 'user', parts: [{ type: 'file', name: 'image' }] }],
  );
  t.true(isDraft(kept({ ...firstDraft, model: 'p,m', bodies: { chat: '{' } })));
  t.true(isSentList(kept([sent])));
  const drafts = [undefined, null, [], {}, { ...firstDraft, target: 'gone' }, { ...firstDraft, bodies: { chat: 1 } }];
  for (const draft of [...drafts, { ...firstDraft, model: 1 }, { ...firstDraft, prompt: { text: 'Hello!' } }]) {
    t.false(isDraft(draft), JSON.stringify(draft));
  }
  for (const list of [undefined, {}, [firstDraft], [{ ...sent, prompt: firstDraft.prompt }], [{ ...sent, at: '1' }]]) {
    t.false(isSentList(list), JSON.stringify(list));
  }
});
