import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { decodeReply } from '../../../protocols/messages/decode-reply/decode-reply.ts';
import { decodeStream } from '../../../protocols/messages/decode-reply/decode-stream.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';

const begin: JsonObject = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const block = (content_block: JsonObject, index = 0): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (piece: JsonObject, index = 0): JsonObject => ({ type: 'content_block_delta', index, delta: piece });
const stop: JsonObject = { type: 'content_block_stop', index: 0 };
const end = (stop_reason: string | null, more: JsonObject = {}): JsonObject => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...more },
  usage: { output_tokens: 9 },
});
const over: JsonObject = { type: 'message_stop' };
const text = block({ type: 'text', text: '' });
const say = (piece: string): JsonObject => delta({ type: 'text_delta', text: piece });
const call = block({ type: 'tool_use', id: 'i', name: 'n', input: {} });
const json = (partial_json: string): JsonObject => delta({ type: 'input_json_delta', partial_json });

const run = (records: readonly (JsonObject | string)[], context = replyContext()): ModelEvent[] =>
  runWhole(
    decodeStream,
    context,
    records.map((data) => ({ event: '', data: typeof data === 'string' ? data : JSON.stringify(data) })),
  );

/** One word per event: what it is and what it holds. */
const brief = (events: readonly ModelEvent[]): string =>
  events
    .map((event) => {
      if (event.type === 'block-start') return `[${event.block.type}`;
      if (event.type === 'block-stop') return ']';
      if (event.type === 'text-delta' || event.type === 'thinking-delta') return event.text;
      if (event.type === 'input-delta') return event.json;
      if (event.type === 'signature-delta') return `${event.signature.format}:${event.signature.data}`;
      if (event.type === 'opaque-delta') return `~${String(event.raw.type)}`;
      if (event.type === 'citation-delta') return event.citation.type;
      if (event.type === 'message-stop') return event.finish;
      if (event.type === 'error') return `!${event.fault.kind}`;
      return 'start';
    })
    .join(' ');

const think = block({ type: 'thinking', thinking: '', signature: '' });
const cases: readonly (readonly [title: string, records: readonly (JsonObject | string)[], events: string])[] = [
  ['text', [begin, text, say('a'), say(''), say('b'), stop, end('end_turn'), over], 'start [text a b ] end'],
  ['no content', [begin, end('end_turn'), over], 'start end'],
  ['pings and unknown events', [begin, { type: 'ping' }, { type: 'news' }, end('end_turn'), over], 'start end'],
  [
    'an unknown delta',
    [begin, text, delta({ type: 'glow_delta' }), say('a'), stop, end('end_turn'), over],
    'start [text a ] end',
  ],
  ['a second start', [begin, begin, end('end_turn'), over], 'start end'],
  ['after the end', [begin, end('end_turn'), over, text, '{', end('refusal')], 'start end'],
  [
    'thinking',
    [
      begin,
      think,
      delta({ type: 'thinking_delta', thinking: 'hm' }),
      delta({ type: 'signature_delta', signature: 's' }),
      stop,
      end('end_turn'),
      over,
    ],
    'start [thinking hm messages:s ] end',
  ],
  [
    'thinking that isn’t shown',
    [begin, think, delta({ type: 'signature_delta', signature: 's' }), stop, end('end_turn'), over],
    'start [thinking messages:s ] end',
  ],
  [
    'redacted thinking',
    [begin, block({ type: 'redacted_thinking', data: 'd' }), stop, end('end_turn'), over],
    'start [redacted-thinking ] end',
  ],
  [
    'a call in pieces',
    [begin, call, json(''), json('{"a"'), json(':1}'), stop, end('tool_use'), over],
    'start [tool-call {"a" :1} ] tool-call',
  ],
  ['a call without arguments', [begin, call, json(''), stop, end('tool_use'), over], 'start [tool-call ] tool-call'],
  [
    'a call whose start holds its arguments',
    [begin, block({ type: 'tool_use', id: 'i', name: 'n', input: { a: 1 } }), stop, end('tool_use'), over],
    'start [tool-call {"a":1} ] tool-call',
  ],
  [
    'deltas win over what the start holds',
    [
      begin,
      block({ type: 'tool_use', id: 'i', name: 'n', input: { a: 1 } }),
      json('{"b":2}'),
      stop,
      end('tool_use'),
      over,
    ],
    'start [tool-call {"b":2} ] tool-call',
  ],
  ['a call is a call whatever the reason', [begin, call, stop, end('end_turn'), over], 'start [tool-call ] tool-call'],
  [
    'but for the token limit',
    [begin, call, json('{"a'), stop, end('max_tokens'), over],
    'start [tool-call {"a ] length',
  ],
  ['and a refusal', [begin, call, stop, end('refusal'), over], 'start [tool-call ] filtered'],
  [
    'a hosted call',
    [
      begin,
      block({ type: 'server_tool_use', id: 's', name: 'w', input: {} }),
      json('{}'),
      stop,
      end('pause_turn'),
      over,
    ],
    'start [opaque ~input_json_delta ] pause',
  ],
  [
    'a block without its stop',
    [begin, text, say('a'), block({ type: 'text', text: 'b' }, 1), end('end_turn'), over],
    'start [text a ] [text b ] end',
  ],
  [
    'thinking inside a text block',
    [begin, text, delta({ type: 'thinking_delta', thinking: 'hm' }), say('a'), stop, end('end_turn'), over],
    'start [text ] [thinking hm ] [text a ] end',
  ],
  ['text without a block', [begin, say('a'), end('end_turn'), over], 'start [text a ] end'],
  [
    'arguments for a call that isn’t open',
    [begin, call, block({ type: 'tool_use', id: 'j', name: 'n', input: {} }, 1), json('{}'), stop],
    'start [tool-call ] [tool-call !upstream-garbled',
  ],
  [
    'citations',
    [
      begin,
      text,
      delta({ type: 'citations_delta', citation: { type: 'page_location' } }),
      say('a'),
      stop,
      end('end_turn'),
      over,
    ],
    'start [text opaque a ] end',
  ],
  ['cut in a block', [begin, text, say('a')], 'start [text a !upstream-cut'],
  ['cut before its last event', [begin, text, say('a'), stop, end('end_turn')], 'start [text a ] !upstream-cut'],
  ['no reason to stop', [begin, text, say('a'), stop, over], 'start [text a ] !upstream-cut'],
  ['nothing at all', [], '!upstream-cut'],
  ['not JSON', [begin, text, say('a'), '{"type":'], 'start [text a !upstream-garbled'],
  [
    'an error',
    [begin, text, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, say('a')],
    'start [text !upstream-overloaded',
  ],
  ['an error without its type', [{ error: { message: 'no' } }], '!upstream-error'],
];
for (const [title, records, events] of cases) {
  test(title, (t) => {
    const got = run(records);
    t.is(brief(got), events);
    checkEvents(got);
  });
}

const reasons = [
  ['end_turn', 'end'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['pause_turn', 'pause'],
  ['refusal', 'filtered'],
  ['model_context_window_exceeded', 'context-full'],
  ['compaction', 'compaction'],
  ['tool_use', 'tool-call'],
  ['something_new', 'end'],
] as const;
for (const [word, finish] of reasons) {
  test(`${word} is ${finish}`, (t) => t.is(brief(run([begin, end(word), over])), `start ${finish}`));
}

test('usage: the final values win, null does not', (t) => {
  const first = {
    ...begin,
    message: { id: 'msg_1', model: 'm', usage: { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 1 } },
  };
  const last = {
    ...end('end_turn', { container: { id: 'c' }, stop_details: null }),
    usage: {
      input_tokens: 7,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: 4,
      cache_creation: { ephemeral_1h_input_tokens: 2 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 6 },
      server_tool_use: { web_search_requests: 1 },
      service_tier: 'standard',
      speed: 'fast',
      inference_geo: 'us',
    },
    context_management: { applied_edits: [] },
  };
  t.deepEqual(run([first, last, over]).at(-1), {
    type: 'message-stop',
    finish: 'end',
    stopSequence: undefined,
    usage: {
      input: 7,
      cacheRead: 5,
      cacheWrite: 4,
      cacheWrite1h: 2,
      output: 9,
      reasoning: 6,
      webSearches: 1,
      serviceTier: 'standard',
      speed: 'fast',
      geography: 'us',
    },
    extra: {
      wire: 'messages',
      fields: {
        container: { id: 'c' },
        context_management: { applied_edits: [] },
        usage: { speed: 'fast', inference_geo: 'us' },
      },
    },
  });
});

test('an end without members of its own has none', (t) => {
  const last = run([begin, end('end_turn'), over]).at(-1);
  t.is(last?.type === 'message-stop' ? last.extra : last, undefined);
});

test('runs of hosted tools other than searches are kept as they are', (t) => {
  const runs = { web_search_requests: 1, web_fetch_requests: 2, odd: 0, none: null };
  const last = { ...end('end_turn'), usage: { output_tokens: 1, server_tool_use: runs } };
  t.like(run([begin, last, over]).at(-1), {
    usage: { webSearches: 1 },
    extra: { fields: { usage: { server_tool_use: { web_fetch_requests: 2 } } } },
  });
});

test('the stop sequence comes along', (t) => {
  const [, last] = run([begin, end('stop_sequence', { stop_sequence: '###' }), over]);
  t.like(last, { finish: 'stop-sequence', stopSequence: '###' });
});

test('a tool gets its own name back', (t) => {
  const names = new ToolNames();
  const wire = names.wire('my tool', /^\w+$/, 64);
  const events = run([begin, block({ type: 'tool_use', id: 'i', name: wire, input: {} })], replyContext({ names }));
  t.like(events[1], { block: { name: 'my tool' } });
});

test('a caller that the model has no place for is a loss', (t) => {
  const losses = new Losses('test');
  const sandboxed = block({
    type: 'tool_use',
    id: 'i',
    name: 'n',
    input: {},
    caller: { type: 'code_execution_20260120' },
  });
  run([begin, sandboxed], replyContext({ losses }));
  t.deepEqual(
    losses.list.map(({ path }) => path),
    ['content[0].caller'],
  );
});

const replies: readonly (readonly [title: string, body: JsonObject, events: string])[] = [
  ['an error body', { type: 'error', error: { type: 'api_error', message: 'no' } }, '!upstream-error'],
  ['an error without its type', { error: { message: 'no' } }, '!upstream-error'],
  ['no message', { id: 'msg_1' }, '!upstream-garbled'],
  ['no reason to stop', { id: 'msg_1', model: 'm', content: [], stop_reason: null }, 'start !upstream-cut'],
  [
    'no arguments',
    { content: [{ type: 'tool_use', id: 'i', name: 'n', input: {} }], stop_reason: 'tool_use' },
    'start [tool-call ] tool-call',
  ],
  [
    'all kinds',
    {
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'a', citations: null },
        { type: 'server_tool_use', id: 's', name: 'w', input: { q: 1 } },
        { type: 'tool_use', id: 'i', name: 'n', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
    },
    'start [thinking hm messages:s ] [text a ] [opaque ] [tool-call {"a":1} ] tool-call',
  ],
];
for (const [title, body, events] of replies) {
  test(`reply: ${title}`, (t) => {
    const got = decodeReply(body, replyContext());
    t.is(brief(got), events);
    checkEvents(got);
  });
}
