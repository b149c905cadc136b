import test from 'ava';
import { GrammarError } from '../../support/facts.ts';
import { readMessagesReply, readMessagesStream } from '../../support/readers/messages.ts';

type Data = Readonly<Record<string, unknown>>;

const usage = { input_tokens: 3, output_tokens: 1 };
const message: Data = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage,
};
const begin: Data = { type: 'message_start', message };
const start = (index: number, content_block: Data): Data => ({ type: 'content_block_start', index, content_block });
const piece = (index: number, delta: Data): Data => ({ type: 'content_block_delta', index, delta });
const say = (index: number, text = 'a'): Data => piece(index, { type: 'text_delta', text });
const stop = (index: number): Data => ({ type: 'content_block_stop', index });
const text: Data = { type: 'text', text: '' };
const thinking: Data = { type: 'thinking', thinking: '', signature: '' };
const sign = (index: number): Data => piece(index, { type: 'signature_delta', signature: 's' });
const delta: Data = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 1 },
};
const over: Data = { type: 'message_stop' };
const error: Data = { type: 'error', error: { type: 'api_error', message: 'x' } };
const sse = (records: readonly Data[]): string =>
  records.map((data) => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`).join('');

const good: readonly (readonly [title: string, records: readonly Data[]])[] = [
  ['text', [begin, start(0, text), say(0), stop(0), delta, over]],
  ['no content', [begin, { type: 'ping' }, delta, over]],
  ['thinking', [begin, start(0, thinking), sign(0), stop(0), start(1, text), say(1), stop(1), delta, over]],
  ['an error in a block', [begin, start(0, text), error]],
  ['an error alone', [error]],
];
for (const [title, records] of good)
  test(`passes: ${title}`, (t) => void t.notThrows(() => readMessagesStream(sse(records))));

const bad: readonly (readonly [title: string, records: readonly Data[]])[] = [
  ['nothing', []],
  ['no end', [begin, delta]],
  ['no start', [start(0, text)]],
  ['two starts', [begin, begin, delta, over]],
  ['a start without usage', [{ ...begin, message: { ...message, usage: undefined } }, delta, over]],
  ['a start with a foreign id', [{ ...begin, message: { ...message, id: 'chatcmpl-1' } }, delta, over]],
  ['two open blocks', [begin, start(0, text), say(0), start(1, text), say(1), stop(0), stop(1), delta, over]],
  ['a gap', [begin, start(1, text), say(1), stop(1), delta, over]],
  ['an index again', [begin, start(0, text), say(0), stop(0), start(0, text), say(0), stop(0), delta, over]],
  ['a delta outside a block', [begin, say(0), delta, over]],
  ['a delta of a closed block', [begin, start(0, text), say(0), stop(0), say(0), delta, over]],
  ['two stops', [begin, start(0, text), say(0), stop(0), stop(0), delta, over]],
  [
    'a delta that does not fit',
    [begin, start(0, text), say(0), piece(0, { type: 'input_json_delta', partial_json: '' }), stop(0), delta, over],
  ],
  ['an empty text block', [begin, start(0, text), stop(0), delta, over]],
  ['thinking without a signature', [begin, start(0, thinking), stop(0), delta, over]],
  ['two signatures', [begin, start(0, thinking), sign(0), sign(0), stop(0), delta, over]],
  ['a tool call without a name', [begin, start(0, { type: 'tool_use', id: 'i', input: {} }), stop(0), delta, over]],
  ['a tool call without input', [begin, start(0, { type: 'tool_use', id: 'i', name: 'n' }), stop(0), delta, over]],
  ['a block left open', [begin, start(0, text), say(0), delta, over]],
  ['a block after the reason', [begin, delta, start(0, text), say(0), stop(0), over]],
  ['no reason', [begin, over]],
  ['a null reason', [begin, { ...delta, delta: { stop_reason: null, stop_sequence: null } }, over]],
  ['no stop_sequence', [begin, { ...delta, delta: { stop_reason: 'end_turn' } }, over]],
  ['no output tokens', [begin, { ...delta, usage: {} }, over]],
  ['two ends', [begin, delta, over, over]],
  ['something after the end', [begin, delta, over, { type: 'ping' }]],
  ['something after an error', [begin, error, over]],
  ['an unknown event', [begin, { type: 'news' }, delta, over]],
];
for (const [title, records] of bad) {
  test(`refuses: ${title}`, (t) => void t.throws(() => readMessagesStream(sse(records)), { instanceOf: GrammarError }));
}

const framings = [
  ['no event line', 'data: {"type":"ping"}\n\n'],
  ['another event name', 'event: pong\ndata: {"type":"ping"}\n\n'],
  ['no empty line at the end', 'event: ping\ndata: {"type":"ping"}\n'],
  ['data that is no JSON', 'event: ping\ndata: {"type":\n\n'],
  ['a terminator of another protocol', 'data: [DONE]\n\n'],
] as const;
for (const [title, framing] of framings) {
  test(`refuses: ${title}`, (t) =>
    void t.throws(() => readMessagesStream(framing + sse([error])), { instanceOf: GrammarError }));
}

const reply: Data = { ...message, stop_reason: 'end_turn' };
const replies: readonly (readonly [title: string, body: Data])[] = [
  ['no stop reason', message],
  ['no content', { ...reply, content: undefined }],
  ['an empty text', { ...reply, content: [text] }],
  ['unsigned thinking', { ...reply, content: [thinking] }],
  ['input as text', { ...reply, content: [{ type: 'tool_use', id: 'i', name: 'n', input: '{}' }] }],
  ['no usage', { ...reply, usage: null }],
];
for (const [title, body] of replies) {
  test(`refuses the reply: ${title}`, (t) =>
    void t.throws(() => readMessagesReply(body), { instanceOf: GrammarError }));
}
