import test from 'ava';
import fc from 'fast-check';
import type { Block, FinishReason, ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import type { Citation } from '../../../engine/model/request.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { chatClient } from '../../../protocols/chat/index.ts';
import { anyText } from '../../support/arbitraries/text.ts';
import { plainRequest, replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';
import { readChatReply, readChatStream } from '../../support/readers/chat.ts';

const start: ModelEvent = { type: 'message-start', id: 'msg_1', model: 'up', usage: { input: 3 } };
const stop = (finish: FinishReason = 'end'): ModelEvent => ({
  type: 'message-stop',
  finish,
  usage: { output: 5, cacheRead: 2, cacheWrite: 1, reasoning: 4 },
});
const text = (words: string) => ({ type: 'text-delta', text: words }) as const;
const think = (words: string) => ({ type: 'thinking-delta', text: words }) as const;
const json = (piece: string) => ({ type: 'input-delta', json: piece }) as const;
const seal = (format: string, data: string) => ({ type: 'signature-delta', signature: { format, data } }) as const;
const cite = (citation: Citation) => ({ type: 'citation-delta', citation }) as const;
type Delta = ReturnType<typeof text | typeof think | typeof json | typeof seal | typeof cite>;

/** Blocks with their deltas → events. */
const answer = (blocks: readonly (readonly [Block, ...Delta[]])[], end: ModelEvent = stop()): ModelEvent[] => {
  const inner = blocks.flatMap(([block, ...deltas], index): ModelEvent[] => [
    { type: 'block-start', index, block },
    ...deltas.map((delta): ModelEvent => ({ ...delta, index })),
    { type: 'block-stop', index },
  ]);
  const events = [start, ...inner, end];
  checkEvents(events);
  return events;
};

const counted = () => replyContext({ request: { ...plainRequest, streamUsage: true } });
const write = (events: readonly ModelEvent[], context = counted()) =>
  sseText(runWhole(chatClient.encodeStream, context, events));

/** The stream's facts; a whole reply of the same events must say the same. */
const facts = (events: readonly ModelEvent[], context = counted()) => {
  const streamed = readChatStream(write(events, context));
  const reply = foldReply(events);
  if (isFault(reply)) throw new Error(reply.message);
  return { streamed, whole: readChatReply(chatClient.encodeReply(reply, context)), losses: context.losses.list };
};

const call = (id: string, name = 'f'): Block => ({ type: 'tool-call', id, name });

test('all kinds of blocks', (t) => {
  const { streamed, whole, losses } = facts(
    answer(
      [
        [{ type: 'thinking' }, think('x'), think('y'), seal('messages', 'Sig+/=')],
        [{ type: 'redacted-thinking', signature: { format: 'messages', data: 'red' } }],
        [{ type: 'text' }, text('a'), text('b\n"é💡')],
        [call('c'), json('{"a"'), json(':1}')],
        [call('d', 'g')],
        [{ type: 'text' }, text('c')],
      ],
      stop('tool-call'),
    ),
  );
  t.deepEqual(streamed, {
    text: 'ab\n"é💡c',
    reasoning: 'xy',
    refusal: '',
    toolCalls: [
      { id: 'c', name: 'f', input: { a: 1 } },
      { id: 'd', name: 'g', input: {} },
    ],
    stop: 'tool_calls',
    usage: { prompt: 6, cacheRead: 2, cacheWrite: 1, output: 5, reasoning: 4 },
    signatures: [
      packSignature({ format: 'messages', data: 'Sig+/=', text: 'xy' }),
      packSignature({ format: 'messages', data: 'red' }),
    ],
    model: 'up',
    id: 'chatcmpl-0123456789abcdef01234567',
    error: undefined,
  });
  t.deepEqual(whole, streamed);
  t.deepEqual(losses, []);
});

test('the bytes of a small stream', (t) => {
  const head =
    'data: {"id":"chatcmpl-0123456789abcdef01234567","object":"chat.completion.chunk","created":1700000000,"model":"up",';
  const chunk = (delta: string, finish = 'null') =>
    `${head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]}\n\n`;
  const events = answer([[{ type: 'text' }, text('a')]], { type: 'message-stop', finish: 'end', usage: {} });
  t.is(
    write(events, replyContext()),
    `${chunk('{"role":"assistant","content":""}')}${chunk('{"content":"a"}')}${chunk('{}', '"stop"')}data: [DONE]\n\n`,
  );
});

const wholes: readonly (readonly [title: string, blocks: Parameters<typeof answer>[0], message: JsonObject])[] = [
  ['text', [[{ type: 'text' }, text('a')]], { content: 'a', refusal: null }],
  ['nothing', [], { content: '', refusal: null }],
  ['a refusal', [[{ type: 'refusal' }, text('no')]], { content: null, refusal: 'no' }],
  [
    'a call',
    [[call('c')]],
    {
      content: null,
      refusal: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
  ],
  [
    'thinking',
    [[{ type: 'thinking' }, think('x'), seal('chat', '')]],
    { content: '', refusal: null, reasoning_content: 'x' },
  ],
];
for (const [title, blocks, message] of wholes) {
  test(`the members of a whole reply: ${title}`, (t) => {
    const reply = foldReply(answer(blocks, { type: 'message-stop', finish: 'end', usage: { serviceTier: 'flex' } }));
    if (isFault(reply)) return t.fail(reply.message);
    const written = chatClient.encodeReply({ ...reply, usage: { serviceTier: 'flex' } }, replyContext());
    t.deepEqual<unknown, unknown>(written, {
      id: 'chatcmpl-0123456789abcdef01234567',
      object: 'chat.completion',
      created: 1700000000,
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: 'stop' }],
      service_tier: 'flex',
    });
    t.false('service_tier' in chatClient.encodeReply({ ...reply, usage: {} }, replyContext()));
  });
}

test('a client with functions of the older form gets one call', (t) => {
  const context = replyContext({ clientBody: { functions: [{ name: 'f' }] } });
  const events = answer([[call('c'), json('{"a":1}')], [call('d')]], stop('tool-call'));
  const reply = foldReply(events);
  if (isFault(reply)) return t.fail(reply.message);
  t.like(chatClient.encodeReply(reply, context), {
    choices: [
      {
        message: { content: null, function_call: { name: 'f', arguments: '{"a":1}' }, tool_calls: undefined },
        finish_reason: 'function_call',
      },
    ],
  });
  const lost = ({ losses }: typeof context) => losses.list.map(({ path }) => path);
  t.deepEqual(lost(context), ['reply.tool_calls']);
  const streaming = replyContext({ clientBody: context.clientBody });
  const streamed = sseText(runWhole(chatClient.encodeStream, streaming, events));
  t.deepEqual(
    [...streamed.matchAll(/"delta":(\{.*?\}),"logprobs":null,"finish_reason":(null|"\w+")/g)].map(([, ...parts]) =>
      parts.join(' '),
    ),
    [
      '{"role":"assistant","content":""} null',
      '{"function_call":{"name":"f","arguments":""}} null',
      '{"function_call":{"arguments":"{\\"a\\":1}"}} null',
      '{} "function_call"',
    ],
  );
  t.deepEqual(lost(streaming), ['reply.tool_calls']);
});

test('the usage comes only when the client asked, and only when there is one', (t) => {
  const events = answer([[{ type: 'text' }, text('a')]]);
  t.false(write(events, replyContext()).includes('usage'));
  t.is(write(events).match(/"usage":null/g)?.length, 3);
  t.truthy(readChatStream(write(events)).usage);
  const none = [
    { ...start, usage: {} },
    { type: 'message-stop', finish: 'end', usage: {} },
  ] as const;
  t.is(readChatStream(write(none)).usage, undefined);
});

test('the service tier is reported', (t) => {
  const events = [start, { type: 'message-stop', finish: 'end', usage: { serviceTier: 'flex' } }] as const;
  t.true(write(events).includes('"service_tier":"flex"'));
  readChatStream(write(events));
});

const finishes: readonly (readonly [FinishReason, string, string?])[] = [
  ['end', 'stop'],
  ['stop-sequence', 'stop'],
  ['length', 'length'],
  ['context-full', 'length'],
  ['filtered', 'content_filter'],
  ['pause', 'stop', 'reply.finish_reason'],
  ['compaction', 'stop', 'reply.finish_reason'],
];

for (const [finish, word, loss] of finishes) {
  test(`finish ${finish} is ${word}`, (t) => {
    const { streamed, whole, losses } = facts(answer([[{ type: 'text' }, text('a')]], stop(finish)));
    t.deepEqual([streamed.stop, whole.stop], [word, word]);
    t.deepEqual(
      losses.map(({ path }) => path),
      loss === undefined ? [] : [loss],
    );
  });
}

test('a refusal as text is a regular end', (t) => {
  const { streamed, whole } = facts(answer([[{ type: 'refusal' }, text('no')]], stop('filtered')));
  t.like(streamed, { refusal: 'no', text: '', stop: 'stop' });
  t.deepEqual(whole, streamed);
});

test('an error ends the stream without [DONE]', (t) => {
  const events: ModelEvent[] = [
    start,
    { type: 'block-start', index: 0, block: { type: 'text' } },
    { type: 'text-delta', index: 0, text: 'a' },
    { type: 'error', fault: { kind: 'upstream-overloaded', message: 'full', status: 529 } },
  ];
  const stream = write(events);
  t.false(stream.includes('[DONE]'));
  t.like(readChatStream(stream), { text: 'a', error: 'full' });
});

test('an error before the first chunk stands alone', (t) => {
  const stream = write([{ type: 'error', fault: { kind: 'upstream-cut', message: 'cut' } }]);
  t.is(stream, 'data: {"error":{"message":"cut","type":"server_error","param":null,"code":"upstream_cut"}}\n\n');
});

test('sources of a text', (t) => {
  const own = { type: 'url_citation', url_citation: { url: 'v', title: 't', start_index: 0, end_index: 1 } };
  const events = answer([
    [{ type: 'text' }, text('abc')],
    [
      { type: 'text' },
      text('de'),
      cite({ type: 'url', url: 'u' }),
      cite({ type: 'url', url: 'v', raw: { wire: 'chat', value: own } }),
      cite({ type: 'opaque', wire: 'messages', value: {} }),
    ],
  ]);
  const { losses } = facts(events);
  t.deepEqual(
    losses.map(({ path }) => path),
    ['reply.citations'],
  );
  const stream = write(events);
  t.true(
    stream.includes('{"type":"url_citation","url_citation":{"url":"u","title":"","start_index":3,"end_index":5}}'),
  );
  t.true(stream.includes(JSON.stringify(own)));
});

test('foreign blocks and members are losses', (t) => {
  const { streamed, losses } = facts([
    start,
    { type: 'block-start', index: 0, block: { type: 'opaque', wire: 'messages', raw: { type: 'server_tool_use' } } },
    { type: 'input-delta', index: 0, json: '{}' },
    { type: 'block-stop', index: 0 },
    { type: 'message-stop', finish: 'end', usage: {}, extra: { wire: 'messages', fields: { container: 'x' } } },
  ]);
  t.deepEqual(streamed.toolCalls, []);
  t.deepEqual(
    losses.map(({ path }) => path),
    ['reply.server_tool_use', 'reply.container'],
  );
});

test("a call's own payload goes out beside it", (t) => {
  const signature = { format: 'gemini', data: 'g' };
  const { streamed } = facts(
    answer([[{ type: 'tool-call', id: 'c', name: 'f', signature }, json('{}')]], stop('tool-call')),
  );
  t.deepEqual(streamed.signatures, [packSignature(signature)]);
});

test("the upstream's id is kept where it is of this wire's kind, and its word for the model", (t) => {
  const kept = write([{ type: 'message-start', id: 'chatcmpl-up', model: '' }, stop()]);
  t.like(readChatStream(kept), { id: 'chatcmpl-up', model: 'm' });
});

test('any response gives a valid stream with the same content as the reply', (t) => {
  const seed = Date.now() % 1_000_000_000;
  t.log(`seed ${seed}`);
  const words = anyText({ minLength: 1 });
  const block = fc.oneof(
    fc.array(words, { maxLength: 4 }).map((all) => [{ type: 'text' }, ...all.map(text)] as const),
    fc
      .array(words, { maxLength: 4 })
      .map((all) => [{ type: 'thinking' }, ...all.map(think), seal('chat', '')] as const),
    fc
      .tuple(fc.array(words), words)
      .map(([all, data]) => [{ type: 'thinking' }, ...all.map(think), seal('messages', data)] as const),
    fc.array(words, { maxLength: 4 }).map((all) => [call('x'), ...all.map(json)] as const),
  );
  const law = fc.property(fc.array(block, { maxLength: 6 }), (blocks) => {
    const named = blocks.map(
      ([first, ...rest], index) => [first.type === 'tool-call' ? call(`c${index}`) : first, ...rest] as const,
    );
    const calls = named.some(([first]) => first.type === 'tool-call');
    const { streamed, whole } = facts(answer(named, stop(calls ? 'tool-call' : 'end')));
    return JSON.stringify(streamed) === JSON.stringify(whole);
  });
  t.notThrows(() => fc.assert(law, { seed, numRuns: 200 }));
});
