import test from 'ava';
import type { ReplyContext } from '../../../engine/model/context.ts';
import type { Block, FinishReason, ModelEvent, Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents, recordsOf } from '../../support/events.ts';
import type { Facts } from '../../support/facts.ts';
import { readMessagesReply, readMessagesStream } from '../../support/readers/messages.ts';

type Delta = (index: number) => ModelEvent;

/** A whole answer of these blocks, each with its deltas. */
const answer = (
  blocks: readonly (readonly [block: Block, ...deltas: Delta[]])[],
  finish: FinishReason = 'end',
  usage: Usage = { input: 3, output: 4 },
): ModelEvent[] => [
  { type: 'message-start', id: 'gen-1', model: 'up' },
  ...blocks.flatMap(([block, ...deltas], index): ModelEvent[] => [
    { type: 'block-start', index, block },
    ...deltas.map((delta) => delta(index)),
    { type: 'block-stop', index },
  ]),
  { type: 'message-stop', finish, usage },
];

const written = (events: readonly ModelEvent[], context: ReplyContext = replyContext()): string => {
  checkEvents(events);
  return sseText(runWhole(messagesClient.encodeStream, context, events));
};

const whole = (events: readonly ModelEvent[], context: ReplyContext = replyContext()): JsonObject => {
  const reply = foldReply(events);
  if (isFault(reply)) throw new Error(reply.message);
  return JSON.parse(JSON.stringify(messagesClient.encodeReply(reply, context)));
};

const say =
  (text: string): Delta =>
  (index) => ({ index, type: 'text-delta', text });
const think =
  (text: string): Delta =>
  (index) => ({ index, type: 'thinking-delta', text });
const sign =
  (format: string, data: string): Delta =>
  (index) => ({ index, type: 'signature-delta', signature: { format, data } });
const json =
  (piece: string): Delta =>
  (index) => ({ index, type: 'input-delta', json: piece });
const call = (id: string, name: string): Block => ({ type: 'tool-call', id, name });
const cite =
  (url: string): Delta =>
  (index) => ({ index, type: 'citation-delta', citation: { type: 'url', url } });

const cases: readonly (readonly [
  title: string,
  events: ModelEvent[],
  facts: Partial<Facts>,
  losses?: readonly string[],
])[] = [
  [
    'text',
    answer([[{ type: 'text' }, say('a'), say('"\n\u2028')]]),
    { text: 'a"\n\u2028', stop: 'end_turn', model: 'up', id: `msg_${replyContext().id}` },
  ],
  ['nothing', answer([]), { text: '', stop: 'end_turn' }],
  ['an empty text block is none', answer([[{ type: 'text' }], [{ type: 'text' }, say('a')]]), { text: 'a' }],
  ['a citation without text', answer([[{ type: 'text' }, cite('u')]]), { text: '' }, ['content[0].citations']],
  ['a web citation', answer([[{ type: 'text' }, cite('u'), say('a')]]), { text: 'a' }, ['content[0].citations']],
  ['refusal', answer([[{ type: 'refusal' }, say('no')]]), { text: 'no', stop: 'refusal' }],
  ['filtered', answer([], 'filtered'), { stop: 'refusal' }],
  [
    'own signature',
    answer([[{ type: 'thinking' }, think('hm'), sign('messages', 's')]]),
    { reasoning: 'hm', signatures: ['s'] },
  ],
  [
    'foreign signature',
    answer([[{ type: 'thinking' }, think('hm'), sign('gemini', 's')]]),
    { reasoning: 'hm', signatures: [packSignature({ format: 'gemini', data: 's' })] },
  ],
  [
    'no signature',
    answer([[{ type: 'thinking' }, think('hm')]]),
    { reasoning: 'hm', signatures: [packSignature({ format: 'none', data: '' })] },
  ],
  [
    'an empty signature',
    answer([[{ type: 'thinking' }, think('hm'), sign('chat', '')]]),
    { reasoning: 'hm', signatures: [packSignature({ format: 'chat', data: '' })] },
  ],
  [
    'thinking that isn’t shown',
    answer([[{ type: 'thinking' }, sign('messages', 's')]]),
    { reasoning: '', signatures: ['s'] },
  ],
  [
    'thinking of nothing is no block',
    answer([[{ type: 'thinking' }], [{ type: 'text' }, say('a')]]),
    { text: 'a', signatures: [] },
  ],
  [
    'redacted',
    answer([[{ type: 'redacted-thinking', signature: { format: 'messages', data: 'd' } }]]),
    { signatures: ['d'] },
  ],
  [
    'redacted by another vendor',
    answer([[{ type: 'redacted-thinking', signature: { format: 'responses', data: 'd' } }]]),
    { signatures: [packSignature({ format: 'responses', data: 'd' })] },
  ],
  [
    'parallel calls',
    answer([[call('a', 'f'), json('{"x"'), json(':1}')], [call('b', 'g')]], 'tool-call'),
    {
      toolCalls: [
        { id: 'a', name: 'f', input: { x: 1 } },
        { id: 'b', name: 'g', input: {} },
      ],
      stop: 'tool_use',
    },
  ],
  [
    'a call without an id',
    answer([[call('', 'f')]], 'tool-call'),
    { toolCalls: [{ id: `toolu_${replyContext().id}_0`, name: 'f', input: {} }] },
  ],
  [
    'a call with a payload',
    answer([[{ type: 'tool-call', id: 'a', name: 'f', signature: { format: 'gemini', data: 's' } }]], 'tool-call'),
    { stop: 'tool_use' },
    ['content[0].signature'],
  ],
  [
    'a block of another wire leaves no gap',
    answer([
      [{ type: 'text' }, say('a')],
      [
        { type: 'opaque', wire: 'responses', raw: { type: 'mcp_call' } },
        (index) => ({ index, type: 'opaque-delta', raw: { type: 'x' } }),
      ],
      [{ type: 'text' }, say('b')],
    ]),
    { text: 'ab' },
    ['content[1]'],
  ],
  [
    'a hosted call whole',
    answer([
      [{ type: 'opaque', wire: 'messages', raw: { type: 'server_tool_use', id: 's', name: 'w', input: { q: 1 } } }],
    ]),
    { text: '' },
  ],
  [
    'usage',
    answer([], 'end', { input: 1, cacheRead: 2, cacheWrite: 4, cacheWrite1h: 3, output: 8, reasoning: 5 }),
    { usage: { prompt: 7, cacheRead: 2, cacheWrite: 4, output: 8, reasoning: 5 } },
  ],
];
for (const [title, events, facts, losses = []] of cases) {
  test(`stream: ${title}`, (t) => {
    const context = replyContext({ losses: new Losses('test') });
    t.like(readMessagesStream(written(events, context)), facts);
    t.deepEqual(
      context.losses.list.map(({ path }) => path),
      losses,
    );
  });
  test(`reply: ${title}`, (t) => {
    const context = replyContext({ losses: new Losses('test') });
    t.like(readMessagesReply(whole(events, context)), facts);
    t.deepEqual(
      context.losses.list.map(({ path }) => path),
      losses,
    );
  });
}

test('a truncated input is kept in a stream, and is {} and a loss in a reply', (t) => {
  const events = answer([[call('a', 'f'), json('{"x":')]], 'length');
  const context = replyContext({ losses: new Losses('test') });
  t.like(readMessagesStream(written(events)), { toolCalls: [{ input: '{"x":' }], stop: 'max_tokens' });
  t.like(readMessagesReply(whole(events, context)), { toolCalls: [{ input: {} }], stop: 'max_tokens' });
  t.like(context.losses.list[0], { path: 'content[0].input', outcome: 'approximated' });
});

const finishes: readonly (readonly [FinishReason, string])[] = [
  ['end', 'end_turn'],
  ['stop-sequence', 'stop_sequence'],
  ['length', 'max_tokens'],
  ['context-full', 'model_context_window_exceeded'],
  ['tool-call', 'tool_use'],
  ['filtered', 'refusal'],
  ['pause', 'pause_turn'],
  ['compaction', 'compaction'],
];
for (const [finish, word] of finishes) {
  test(`${finish} is ${word}`, (t) => t.is(readMessagesStream(written(answer([], finish))).stop, word));
}

/** The data of all records of a type. */
const dataOf = (text: string, type: string): JsonObject[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)))
    .filter(isJsonObject)
    .filter((data) => data.type === type);

test('an input that the upstream has not counted yet is estimated, and corrected at the end', (t) => {
  const text = written(answer([], 'end', { input: 2, cacheRead: 5, output: 4 }), replyContext({ inputEstimate: 11 }));
  t.like(dataOf(text, 'message_start')[0], { message: { usage: { input_tokens: 11, output_tokens: 0 } } });
  t.like(dataOf(text, 'message_delta')[0], {
    usage: { input_tokens: 2, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 4 },
  });
});

test('an input that is never counted stays the estimate', (t) => {
  const events = answer([], 'end', {});
  t.is(readMessagesStream(written(events, replyContext({ inputEstimate: 11 }))).usage?.prompt, 11);
  t.is(readMessagesReply(whole(events, replyContext({ inputEstimate: 11 }))).usage?.prompt, 11);
});

test('members of the end that only this format has are in their place', (t) => {
  const stop: ModelEvent = {
    type: 'message-stop',
    finish: 'stop-sequence',
    stopSequence: '##',
    usage: { output: 1 },
    extra: {
      wire: 'messages',
      fields: { container: { id: 'c' }, context_management: { applied_edits: [] }, usage: { speed: 'fast' } },
    },
  };
  const events: ModelEvent[] = [{ type: 'message-start', id: 'msg_9', model: 'm' }, stop];
  const [data] = dataOf(written(events), 'message_delta');
  t.deepEqual(data?.delta, { stop_reason: 'stop_sequence', stop_sequence: '##', container: { id: 'c' } });
  t.deepEqual(data?.context_management, { applied_edits: [] });
  t.like(data, { usage: { speed: 'fast', output_tokens: 1 } });
  t.like(whole(events), {
    id: 'msg_9',
    stop_sequence: '##',
    container: { id: 'c' },
    context_management: { applied_edits: [] },
    usage: { speed: 'fast' },
  });
});

test('sources of a text that has not begun come with its first words, once', (t) => {
  const block = (index: number, ...inside: readonly string[]): readonly ModelEvent[] => [
    { type: 'block-start', index, block: { type: 'text' } },
    ...inside.map(
      (url): ModelEvent =>
        url === ''
          ? { type: 'text-delta', index, text: 'a' }
          : { type: 'citation-delta', index, citation: { type: 'url', url } },
    ),
    { type: 'block-stop', index },
  ];
  const text = written([
    { type: 'message-start', id: '', model: 'm' },
    ...block(0, 'early', '', 'late'),
    ...block(1, ''),
    ...block(2, 'of nothing'),
    { type: 'message-stop', finish: 'end', usage: {} },
  ]);
  const told = dataOf(text, 'content_block_delta').flatMap(({ index, delta }) =>
    isJsonObject(delta) && isJsonObject(delta.citation) ? [`${index} ${delta.citation.url}`] : [],
  );
  t.deepEqual(told, ['0 early', '0 late']);
});

test('an error ends the stream, with nothing after it', (t) => {
  const text = written([
    { type: 'message-start', id: '', model: 'm' },
    { type: 'block-start', index: 0, block: { type: 'text' } },
    { type: 'text-delta', index: 0, text: 'a' },
    { type: 'error', fault: { kind: 'upstream-overloaded', message: 'busy' } },
  ]);
  t.is(readMessagesStream(text).error, 'busy');
  t.like(dataOf(text, 'error')[0], { error: { type: 'overloaded_error' } });
  t.deepEqual(dataOf(text, 'content_block_stop'), []);
});

test('events that never end are cut off', (t) => {
  const records = runWhole(messagesClient.encodeStream, replyContext(), [{ type: 'message-start', id: '', model: '' }]);
  t.truthy(readMessagesStream(sseText(records)).error);
});

test('the terminal error of a broken relay', (t) => {
  const text = sseText(messagesClient.encodeBreak({ kind: 'upstream-cut', message: 'cut' }, 'req_1'));
  t.is(readMessagesStream(text).error, 'cut');
  t.like(dataOf(text, 'error')[0], { request_id: 'req_1' });
});

test('the keep-alive is a ping', (t) => {
  const text = messagesClient.keepAlive + written(answer([]));
  t.is(readMessagesStream(text).stop, 'end_turn');
});

for (const [title, events] of [
  ['a regular end', answer([])],
  ['an error', [{ type: 'error', fault: { kind: 'internal', message: 'x' } }]],
] satisfies readonly (readonly [string, readonly ModelEvent[]])[]) {
  test(`${title} ends the stream in its last record`, (t) => {
    const records = recordsOf(Buffer.from(written(events)));
    t.is(records.map(messagesClient.ends.read).indexOf('end'), records.length - 1);
  });
}
