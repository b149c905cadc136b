import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { decodeStream } from '../../../protocols/chat/decode-reply/decode-stream.ts';
import { ObjectEnd } from '../../../protocols/chat/decode-reply/object-end.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';

const record = (body: Json, event = ''): SseRecord => ({ event, data: JSON.stringify(body) });
const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): SseRecord =>
  record({ id: 'chatcmpl-1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more });
const text = (content: string) => chunk({ content });
const think = (reasoning_content: string) => chunk({ reasoning_content });
const call = (...calls: JsonObject[]) => chunk({ tool_calls: calls });
const begin = (index: number, id: string, name: string, args = '') =>
  call({ index, id, type: 'function', function: { name, arguments: args } });
const more = (index: number, args: string) => call({ index, function: { arguments: args } });
const finish = (word: string) => chunk({}, word);
const done: SseRecord = { event: '', data: '[DONE]' };

const feed = (...records: readonly SseRecord[]): ModelEvent[] => {
  const events = runWhole(decodeStream, replyContext(), records);
  checkEvents(events);
  return events;
};

/** Events in a few words. */
const brief = (events: readonly ModelEvent[]): string =>
  events
    .flatMap((event) => {
      switch (event.type) {
        case 'message-start':
        case 'signature-delta':
          return [];
        case 'block-start':
          return event.block.type === 'tool-call' ? `<${event.block.name}#${event.block.id}` : `<${event.block.type}`;
        case 'block-stop':
          return '>';
        case 'text-delta':
        case 'thinking-delta':
          return event.text;
        case 'input-delta':
          return event.json;
        case 'citation-delta':
          return event.citation.type === 'url' ? `[${event.citation.url}]` : '[]';
        case 'message-stop':
          return `=${event.finish}`;
        case 'error':
          return `!${event.fault.kind}`;
        default:
          return event.type;
      }
    })
    .join(' ');

const cases: readonly (readonly [title: string, records: readonly SseRecord[], expected: string])[] = [
  ['two pieces make one block', [text('a'), text('b'), finish('stop'), done], '<text a b > =end'],
  [
    'empty content and a lone role open no block',
    [chunk({ role: 'assistant', content: '' }), finish('stop'), done],
    '=end',
  ],
  ['without [DONE] a finish reason is enough', [text('a'), finish('stop')], '<text a > =end'],
  ['a stream that is cut off is an error', [text('a')], '<text a !upstream-cut'],
  ['[DONE] without a finish reason is an end', [text('a'), done], '<text a > =end'],
  ['[DONE] alone is a cut', [done], '!upstream-cut'],
  ['nothing at all is a cut', [], '!upstream-cut'],
  ['empty data is skipped', [{ event: '', data: '' }, text('a'), finish('stop')], '<text a > =end'],
  ['what follows [DONE] is ignored', [text('a'), finish('stop'), done, text('b'), done], '<text a > =end'],
  [
    'the finish may come twice; the first counts',
    [text('a'), finish('length'), finish('stop'), done],
    '<text a > =length',
  ],
  ['content in the finish chunk counts', [chunk({ content: 'a' }, 'stop'), done], '<text a > =end'],
  ['content behind the finish does not', [text('a'), finish('stop'), text('b'), done], '<text a > =end'],
  ['an empty finish reason is none', [chunk({ content: 'a' }, ''), finish('stop'), done], '<text a > =end'],
  ['content in parts is text', [chunk({ content: [{ type: 'text', text: 'a' }] }), finish('stop')], '<text a > =end'],
  ['reasoning, then text', [think('x'), think('y'), text('a'), finish('stop'), done], '<thinking x y > <text a > =end'],
  ['reasoning under its other name', [chunk({ reasoning: 'x' }), finish('stop')], '<thinking x > =end'],
  [
    'reasoning under both names counts once',
    [chunk({ reasoning: 'x', reasoning_content: 'x' }), finish('stop')],
    '<thinking x > =end',
  ],
  [
    'reasoning beside its entries counts once',
    [chunk({ reasoning: 'x', reasoning_details: [{ type: 'reasoning.text', text: 'x', index: 0 }] }), finish('stop')],
    '<thinking x > =end',
  ],
  [
    'a delta with all kinds comes apart in order',
    [
      chunk({
        reasoning: 'x',
        content: 'a',
        tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }],
      }),
      finish('stop'),
    ],
    '<thinking x > <text a > <f#c {} > =tool-call',
  ],
  [
    'plain reasoning between entries goes on with their block',
    [
      think('x'),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'y', index: 0 }] }),
      think('z'),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'w', index: 0 }] }),
      finish('stop'),
    ],
    '<thinking x y z w > =end',
  ],
  ['reasoning after text opens a block', [text('a'), think('x'), finish('stop')], '<text a > <thinking x > =end'],
  [
    'calls one after the other stream live',
    [
      begin(0, 'c', 'f'),
      more(0, '{"a"'),
      more(0, ':1}'),
      begin(1, 'd', 'g'),
      more(1, '{}'),
      finish('tool_calls'),
      done,
    ],
    '<f#c {"a" :1} > <g#d {} > =tool-call',
  ],
  [
    'interleaved calls come out whole, in order',
    [
      begin(0, 'c', 'f'),
      begin(1, 'd', 'g'),
      more(0, '{"a"'),
      more(1, '{"b"'),
      more(0, ':1}'),
      more(1, ':2}'),
      finish('tool_calls'),
      done,
    ],
    '<f#c {"a" :1} > <g#d {"b" :2} > =tool-call',
  ],
  [
    'three interleaved calls, the middle one complete first',
    [
      begin(0, 'c', 'f', '{"a"'),
      begin(1, 'd', 'g', '{}'),
      more(0, ':1}'),
      begin(2, 'e', 'h', '{'),
      more(2, '}'),
      finish('tool_calls'),
    ],
    '<f#c {"a" :1} > <g#d {} > <h#e { } > =tool-call',
  ],
  [
    'two calls in one delta',
    [
      call(
        { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } },
        { index: 1, id: 'd', function: { name: 'g' } },
      ),
      finish('tool_calls'),
    ],
    '<f#c {} > <g#d > =tool-call',
  ],
  [
    'two fragments of one call in one delta',
    [
      call({ index: 0, id: 'c', function: { name: 'f', arguments: '{' } }, { index: 0, function: { arguments: '}' } }),
      finish('tool_calls'),
    ],
    '<f#c { } > =tool-call',
  ],
  [
    'a name that comes late',
    [call({ index: 0, id: 'c' }), call({ index: 0, function: { name: 'f', arguments: '{}' } }), finish('tool_calls')],
    '<f#c {} > =tool-call',
  ],
  [
    'an id that comes late',
    [
      call({ index: 0, function: { name: 'f', arguments: '{' } }),
      call({ index: 0, id: 'c', function: { arguments: '}' } }),
      finish('stop'),
    ],
    '<f#c { } > =tool-call',
  ],
  [
    'an id that never comes is made',
    [call({ index: 0, function: { name: 'f', arguments: '{}' } }), finish('stop')],
    '<f#call_0123456789abcdef012345670 {} > =tool-call',
  ],
  [
    'a name that never comes is an error',
    [call({ index: 0, id: 'c', function: { arguments: '{}' } }), finish('tool_calls'), done],
    '!upstream-garbled',
  ],
  [
    'id and name repeated in each fragment',
    [begin(0, 'c', 'f', '{'), begin(0, 'c', 'f', '}'), finish('tool_calls')],
    '<f#c { } > =tool-call',
  ],
  [
    'two ids of one call without a name: the first counts',
    [begin(0, 'c', 'f', '{'), call({ index: 0, id: 'd', function: { arguments: '}' } }), finish('tool_calls')],
    '<f#c { } > =tool-call',
  ],
  [
    'fragments of an earlier id at one index',
    [
      begin(0, 'c', 'f', '{'),
      begin(0, 'd', 'g', '{'),
      call({ index: 0, id: 'c', function: { arguments: '}' } }),
      call({ index: 0, id: 'd', function: { arguments: '}' } }),
      finish('tool_calls'),
    ],
    '<f#c { } > <g#d { } > =tool-call',
  ],
  [
    'no index: ids repeated, interleaved',
    [
      call({ id: 'c', function: { name: 'f', arguments: '{' } }),
      call({ id: 'd', function: { name: 'g', arguments: '{' } }),
      call({ id: 'c', function: { arguments: '}' } }),
      call({ id: 'd', function: { arguments: '}' } }),
      finish('tool_calls'),
    ],
    '<f#c { } > <g#d { } > =tool-call',
  ],
  [
    'no index, no ids: a name behind a whole call is a new one, a repeated name is not',
    [
      call({ function: { name: 'f', arguments: '{' } }),
      call({ function: { name: 'f', arguments: '}' } }),
      call({ function: { name: 'f', arguments: '{}' } }),
      finish('tool_calls'),
    ],
    '<f#call_0123456789abcdef012345670 { } > <f#call_0123456789abcdef012345671 {} > =tool-call',
  ],
  [
    'an index that begins at 1',
    [begin(1, 'c', 'f', '{}'), begin(2, 'd', 'g', '{}'), finish('tool_calls')],
    '<f#c {} > <g#d {} > =tool-call',
  ],
  [
    'no index: a new id is a new call',
    [
      call({ id: 'c', function: { name: 'f', arguments: '{' } }),
      call({ function: { arguments: '}' } }),
      call({ id: 'd', function: { name: 'f', arguments: '{}' } }),
      finish('stop'),
    ],
    '<f#c { } > <f#d {} > =tool-call',
  ],
  [
    'no index: an id that comes late, without a name',
    [
      call({ function: { name: 'f', arguments: '{' } }),
      call({ id: 'c', function: { arguments: '}' } }),
      finish('stop'),
    ],
    '<f#c { } > =tool-call',
  ],
  [
    'all calls at index 0: a new id with a name is a new call',
    [begin(0, 'c', 'f', '{}'), begin(0, 'd', 'f', '{}'), finish('tool_calls')],
    '<f#c {} > <f#d {} > =tool-call',
  ],
  [
    'empty fragments are nothing',
    [begin(0, 'c', 'f'), more(0, ''), more(0, ''), finish('tool_calls')],
    '<f#c > =tool-call',
  ],
  [
    'arguments as an object',
    [call({ index: 0, id: 'c', function: { name: 'f', arguments: { a: 1 } } }), finish('tool_calls')],
    '<f#c {"a":1} > =tool-call',
  ],
  [
    'text after a call opens a block',
    [begin(0, 'c', 'f', '{}'), text('a'), finish('stop'), done],
    '<f#c {} > <text a > =tool-call',
  ],
  [
    'blank fragments of a call that is over are ignored',
    [begin(0, 'c', 'f', '{}'), text('a'), more(0, '\n'), finish('stop')],
    '<f#c {} > <text a > =tool-call',
  ],
  [
    'a call that goes on after text is an error',
    [begin(0, 'c', 'f', '{'), text('a'), more(0, '}'), finish('stop')],
    '<f#c { > <text a !upstream-garbled',
  ],
  [
    'a broken call beside an error and a broken call is one fault',
    [
      begin(0, 'c', 'f', '{'),
      text('a'),
      record({
        choices: [
          {
            delta: { tool_calls: [0, 0].map((index) => ({ index, function: { arguments: '}' } })) },
            error: { message: 'no' },
          },
        ],
      }),
    ],
    '<f#c { > <text a !upstream-garbled',
  ],
  ['a call cut at the limit stays cut', [begin(0, 'c', 'f', '{"a'), finish('length'), done], '<f#c {"a > =length'],
  ['a filter with calls is still a call', [begin(0, 'c', 'f', '{}'), finish('content_filter')], '<f#c {} > =tool-call'],
  ['tool_calls without any call is an end', [text('a'), finish('tool_calls')], '<text a > =end'],
  [
    'the old form of a call',
    [
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{}' } }),
      finish('function_call'),
    ],
    '<f#call_0123456789abcdef012345670 {} > =tool-call',
  ],
  [
    'a custom call becomes JSON',
    [
      call({ index: 0, id: 'c', type: 'custom', custom: { name: 'f', input: 'a"' } }),
      call({ index: 0, custom: { input: '\nb' } }),
      finish('tool_calls'),
    ],
    '<f#c {"input":" a\\" \\nb "} > =tool-call',
  ],
  ['a refusal is filtered', [chunk({ refusal: 'no' }), finish('stop')], '<refusal no > =filtered'],
  ['a filter is filtered', [text('a'), finish('content_filter')], '<text a > =filtered'],
  [
    'a source goes into the open text',
    [text('a'), chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'u' } }] }), finish('stop')],
    '<text a [u] > =end',
  ],
  [
    'a source before any text opens it',
    [
      chunk({ content: '', annotations: [{ type: 'url_citation', url_citation: { url: 'u' } }] }),
      text('a'),
      finish('stop'),
    ],
    '<text [u] a > =end',
  ],
  [
    'encrypted reasoning is a block of its own',
    [think('x'), chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }] }), text('a'), finish('stop')],
    '<thinking x > <redacted-thinking > <text a > =end',
  ],
  [
    'an error chunk ends it',
    [text('a'), record({ error: { message: 'no', type: 'server_error' } }), finish('stop'), done],
    '<text a !upstream-error',
  ],
  [
    'an error beside choices ends it',
    [text('a'), finish('length'), chunk({ content: '' }, null, { error: { code: 400, message: 'no' } }), done],
    '<text a !upstream-invalid',
  ],
  ['an error in words', [record({ error: 'no' })], '!upstream-error'],
  [
    'an error event',
    [text('a'), record({ error: { message: 'no', type: 'invalid_request_error', status_code: 400 } }, 'error')],
    '<text a !upstream-invalid',
  ],
  ['an error event that is no JSON', [{ event: 'error', data: 'no' }], '!upstream-error'],
  [
    'an error object without its wrapper',
    [record({ object: 'error', message: 'no', code: 503 })],
    '!upstream-overloaded',
  ],
  [
    'an error inside a choice',
    [record({ choices: [{ delta: {}, error: { code: 429, message: 'slow' } }] })],
    '!upstream-rate-limit',
  ],
  ['finish reason error', [text('a'), finish('error')], '<text a !upstream-error'],
  [
    'finish reason insufficient_system_resource',
    [text('a'), finish('insufficient_system_resource')],
    '<text a !upstream-overloaded',
  ],
  ['what is no JSON is an error', [text('a'), { event: '', data: '<html>' }], '<text a !upstream-garbled'],
  ['what is no chunk is an error', [record({ choices: 'x' })], '!upstream-garbled'],
  [
    'a record without choices is skipped',
    [record({ prompt_filter_results: [], choices: [] }), record({ id: 'x' }), text('a'), finish('stop')],
    '<text a > =end',
  ],
];

for (const [title, records, expected] of cases) test(title, (t) => t.is(brief(feed(...records)), expected));

const usages: readonly (readonly [title: string, records: readonly SseRecord[], usage: JsonObject])[] = [
  [
    'cached and written tokens are taken off the prompt',
    [
      finish('stop'),
      record({
        choices: [],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      }),
    ],
    { input: 10, cacheRead: 60, cacheWrite: 30, output: 7, reasoning: 3 },
  ],
  [
    'never below zero',
    [chunk({}, 'stop', { usage: { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 } } })],
    { input: 0, cacheRead: 9 },
  ],
  [
    'hit and miss',
    [
      chunk({}, 'stop', {
        usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 },
      }),
    ],
    { input: 4, cacheRead: 5, output: 1 },
  ],
  [
    'beside the finish',
    [chunk({}, 'stop', { usage: { prompt_tokens: 9, completion_tokens: 1 } })],
    { input: 9, output: 1 },
  ],
  [
    'below a member of the vendor',
    [chunk({}, 'stop', { x_vendor: { usage: { prompt_tokens: 9, completion_tokens: 1 } } })],
    { input: 9, output: 1 },
  ],
  [
    'searches and tier',
    [chunk({}, 'stop', { service_tier: 'flex', usage: { server_tool_use_details: { web_search_requests: 2 } } })],
    { webSearches: 2, serviceTier: 'flex' },
  ],
  [
    'cost',
    [chunk({}, 'stop', { usage: { cost: 0.5, cost_details: { upstream_inference_cost: 2 } } })],
    { costUsd: 0.5 },
  ],
  [
    "cost with the user's own key",
    [chunk({}, 'stop', { usage: { cost: 0.5, is_byok: true, cost_details: { upstream_inference_cost: 2 } } })],
    { costUsd: 2.5 },
  ],
  [
    "cost with the user's own key, without details",
    [chunk({}, 'stop', { usage: { cost: 0.5, is_byok: true } })],
    { costUsd: 0.5 },
  ],
  ['none', [finish('stop'), done], {}],
  ['null details', [chunk({}, 'stop', { usage: { prompt_tokens: 9, prompt_tokens_details: null } })], { input: 9 }],
];

for (const [title, records, usage] of usages) {
  test(`usage: ${title}`, (t) => {
    const last = feed(text('a'), ...records).at(-1);
    t.deepEqual(last?.type === 'message-stop' ? JSON.parse(JSON.stringify(last.usage)) : last, usage);
  });
}

test('what the model of a reply has no place for is a loss', (t) => {
  const context = replyContext();
  const delta = { content: 'a', images: [{}], audio: {}, annotations: [{ type: 'file_citation' }] };
  runWhole(decodeStream, context, [chunk(delta, 'stop')]);
  t.deepEqual(
    context.losses.list.map(({ path }) => path),
    ['reply.annotations', 'reply.images', 'reply.audio'],
  );
});

const pieces: readonly (readonly string[])[] = [
  ['{"a"', ':1', '}', ' \n\r\t', ' ', 'x', ' '],
  ['{}', '{}', ''],
  [' {"a":{"b":[1,{"c":[]}]}}', ' '],
  ['{"a":"}', '"}', ''],
  ['{"a":"\\"}', '"}', ''],
  ['{"a":"\\', '"}', '"}'],
  ['{"a":"\\\\"}'],
  ['{"a":}', ' ', '{}'],
  ['[{}]', ''],
  ['1', '{}'],
  ['', '{', '}'],
  [' ', '\n', '\r', '\t', '{}'],
  ['{"a":[1]', ',"b":{}', ',"c":[{}', ']', '}'],
  ['{"a":"[{', '"', ',"b":"]}"', '}'],
  ['{"a":[}', ']}'],
  ['{"a":1}2', ''],
];

test('a call is over exactly while its pieces are one JSON object', (t) => {
  for (const all of pieces) {
    const end = new ObjectEnd();
    const given = all.map((_, index) => all.slice(0, index + 1));
    t.deepEqual(
      given.map((some) => end.isWhole(some)),
      given.map((some) => isJsonObject(parseJson(some.join('')))),
      JSON.stringify(all),
    );
  }
});

test('the first chunk with a choice gives id and model', (t) => {
  const [first] = feed(record({ id: '', model: '', choices: [] }), text('a'), finish('stop'));
  t.like(first, { type: 'message-start', id: 'chatcmpl-1', model: 'm' });
});

test('a tool gets back the name that the client gave it', (t) => {
  const names = new ToolNames();
  names.wire('a.b', /^\w+$/, 64);
  const events = runWhole(decodeStream, replyContext({ names }), [begin(0, 'c', 'a_b', '{}'), finish('tool_calls')]);
  t.true(
    events.some(
      (event) => event.type === 'block-start' && event.block.type === 'tool-call' && event.block.name === 'a.b',
    ),
  );
});

test('a payload of reasoning is kept as its entry, without the text', (t) => {
  const entry = (more: JsonObject) =>
    chunk({ reasoning_details: [{ type: 'reasoning.text', format: 'f-v1', index: 0, ...more }] });
  const events = feed(
    entry({ text: '', signature: '' }),
    entry({ text: 'x' }),
    entry({ text: 'y' }),
    entry({ text: '', signature: 'Sig/+=' }),
    text('a'),
    finish('stop'),
  );
  t.is(brief(events), '<thinking x y > <text a > =end');
  const payload = events.find((event) => event.type === 'signature-delta');
  t.deepEqual(payload?.signature, {
    format: 'chat',
    data: '{"type":"reasoning.text","format":"f-v1","index":0,"signature":"Sig/+="}',
  });
});

test('reasoning without any payload is marked as such', (t) => {
  const payload = feed(think('x'), finish('stop')).find((event) => event.type === 'signature-delta');
  t.deepEqual(payload?.signature, { format: 'chat', data: '' });
});

test('summaries of another index are blocks of their own', (t) => {
  const entry = (index: number, summary: string) =>
    chunk({ reasoning_details: [{ type: 'reasoning.summary', summary, index }] });
  t.is(brief(feed(entry(0, 'x'), entry(0, 'y'), entry(1, 'z'), finish('stop'))), '<thinking x y > <thinking z > =end');
});

test('a call of a megabyte in many pieces costs linear time', (t) => {
  const pieces = Array.from({ length: 50_000 }, () => more(0, 'abcdefghijabcdefghij'));
  const started = cpuTimeMs();
  const events = feed(begin(0, 'c', 'f', '{"a":"'), ...pieces, more(0, '"}'), finish('tool_calls'));
  t.is(events.length, 50_000 + 6);
  t.true(cpuTimeMs() - started < 5000);
});
