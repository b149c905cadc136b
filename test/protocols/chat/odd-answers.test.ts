import test from 'ava';
import type { ModelEvent, Usage } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { foldReply, isFault, type Reply } from '../../../engine/model/reply.ts';
import { decodeReply } from '../../../protocols/chat/decode-reply/decode-reply.ts';
import { decodeStream } from '../../../protocols/chat/decode-reply/decode-stream.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';

type Outcome = Pick<Reply, 'finish' | 'usage'> & { readonly blocks: string; readonly losses: readonly string[] };

const outcome = (events: readonly ModelEvent[], losses: readonly string[]): Outcome | string => {
  checkEvents(events);
  const reply = foldReply(events);
  if (isFault(reply)) return `${reply.kind}: ${reply.message}`;
  const blocks = reply.blocks.map((block) => {
    if (block.type === 'tool-call') return `${block.name}#${block.id}${block.json}`;
    return 'text' in block ? `${block.type} ${block.text}` : block.type;
  });
  return { blocks: blocks.join(' | '), finish: reply.finish, usage: reply.usage, losses };
};

const streamed = (records: readonly (JsonObject | string)[]): Outcome | string => {
  const context = replyContext();
  const events = runWhole(
    decodeStream,
    context,
    records.map((record) => ({ event: '', data: typeof record === 'string' ? record : JSON.stringify(record) })),
  );
  return outcome(
    events,
    context.losses.list.map(({ path }) => path),
  );
};

const whole = (body: JsonObject): Outcome | string => {
  const context = replyContext();
  const events = decodeReply(body, context);
  return outcome(
    events,
    context.losses.list.map(({ path }) => path),
  );
};

const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const reply = (message: JsonObject, finish: string | null = 'stop', more: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, message, finish_reason: finish }],
  ...more,
});
const call = (members: JsonObject): JsonObject => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...members,
});

/** Messages of one answer, in the forms that servers send, and what they hold. */
const messages: readonly (readonly [title: string, message: JsonObject, blocks: string, losses?: readonly string[]])[] =
  [
    ['an empty role', { role: '', content: 'a' }, 'text a'],
    ['content as a list of texts', { content: [{ type: 'text', text: 'a' }, 'b'] }, 'text ab'],
    ['content as one part', { content: { type: 'text', text: 'a' } }, 'text a'],
    [
      'thinking parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 't' }], closed: true },
          { type: 'text', text: 'a' },
        ],
      },
      'thinking t | text a',
    ],
    ['a thinking part that is a text', { content: [{ type: 'thinking', thinking: 't' }] }, 'thinking t'],
    ['a refusal part', { content: [{ type: 'refusal', refusal: 'no' }] }, 'refusal no'],
    [
      'an unknown part',
      { content: [{ type: 'reference', reference_ids: [1] }, { text: 'a' }] },
      'text a',
      ['reply.content'],
    ],
    ['unknown content', { content: 5 }, '', ['reply.content']],
    ['reasoning_content', { reasoning_content: 't', content: 'a' }, 'thinking t | text a'],
    ['reasoning', { reasoning: 't', content: 'a' }, 'thinking t | text a'],
    ['reasoning_text', { reasoning_text: 't', content: 'a' }, 'thinking t | text a'],
    ['thinking', { thinking: 't', content: 'a' }, 'thinking t | text a'],
    ['reasoning as an object', { reasoning: { content: 't' }, content: 'a' }, 'thinking t | text a'],
    ['a call without an index', { tool_calls: [call({})] }, 'f#c{}'],
    ['an index in a text', { tool_calls: [call({ index: '0' })] }, 'f#c{}'],
    ['index 0 for all calls', { tool_calls: [call({ index: 0 }), call({ index: 0, id: 'd' })] }, 'f#c{} | f#d{}'],
    ['a numeric id', { tool_calls: [call({ id: 7 })] }, 'f#7{}'],
    ['arguments as an object', { tool_calls: [call({ function: { name: 'f', arguments: { a: 1 } } })] }, 'f#c{"a":1}'],
  ];

for (const [title, message, blocks, losses = []] of messages) {
  test(`an answer with ${title}`, (t) => {
    t.like(streamed([chunk(message), chunk({}, 'stop'), '[DONE]']), { blocks, losses }, 'streamed');
    t.like(whole(reply(message)), { blocks, losses }, 'whole');
  });
}

test('a call without an id gets one', (t) => {
  const message = { tool_calls: [call({ id: '' })] };
  for (const seen of [streamed([chunk(message), chunk({}, 'stop'), '[DONE]']), whole(reply(message))]) {
    t.regex(JSON.stringify(seen), /"f#call_\w+\{\}"/);
  }
});

const finishes: readonly (readonly [word: string, finish: string])[] = [
  ['stop', 'end'],
  ['end', 'end'],
  ['eos', 'end'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['abort', 'length'],
  ['content_filter', 'filtered'],
  ['model_context_window_exceeded', 'context-full'],
];

test('every word for an end', (t) => {
  for (const [word, finish] of finishes) {
    t.like(streamed([chunk({ content: 'a' }), chunk({}, word)]), { blocks: 'text a', finish }, `${word}, no [DONE]`);
    t.like(whole(reply({ content: 'a' }, word)), { blocks: 'text a', finish }, word);
  }
  t.like(streamed([chunk({ tool_calls: [call({})] }), chunk({}, 'stop'), '[DONE]']), { finish: 'tool-call' });
  t.regex(String(streamed([chunk({}, 'model_context_window_exceeded')])), /^upstream-context/);
});

const good: Usage = { input: 5, output: 7, cacheRead: 2 };
const counts = { prompt_tokens: 7, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 2 } };
const usages: readonly (readonly [title: string, more: JsonObject, choice: JsonObject, usage: Partial<Usage>])[] = [
  ['in its place', { usage: counts }, {}, good],
  ['in the choice', {}, { usage: counts }, good],
  ['in a member of the server', { x_server: { usage: counts } }, {}, good],
  ['with cached tokens beside', { usage: { prompt_tokens: 7, completion_tokens: 7, cached_tokens: 2 } }, {}, good],
  ['as texts', { usage: { prompt_tokens: '7', completion_tokens: '7', cached_tokens: '2' } }, {}, good],
  [
    'with reasoning beside the completion',
    {
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 9,
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    },
    {},
    { input: 3, output: 6, reasoning: 4 },
  ],
  [
    'with reasoning inside the completion',
    {
      usage: {
        prompt_tokens: 3,
        completion_tokens: 6,
        total_tokens: 9,
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    },
    {},
    { input: 3, output: 6, reasoning: 4 },
  ],
  [
    'with reasoning in the total alone',
    { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 9 } },
    {},
    { input: 3, output: 6, reasoning: 4 },
  ],
  ['as a list', { usage: [] }, {}, {}],
  ['as a text', { usage: 'none' }, {}, {}],
  ['with one count that is none', { usage: { prompt_tokens: {}, completion_tokens: 2 } }, {}, { output: 2 }],
];

test('usage, wherever it stands and however it counts', (t) => {
  for (const [title, more, choice, usage] of usages) {
    const last = { choices: [{ delta: {}, finish_reason: 'stop', ...choice }], ...more };
    const body = { choices: [{ message: { content: 'a' }, finish_reason: 'stop', ...choice }], ...more };
    for (const seen of [streamed([chunk({ content: 'a' }), last]), whole(body)]) {
      t.deepEqual(JSON.parse(JSON.stringify(typeof seen === 'string' ? seen : seen.usage)), usage, title);
    }
  }
});

test('records without content are skipped, wherever they stand', (t) => {
  for (const blank of [
    'null',
    '',
    '[]',
    '0',
    'true',
    '{}',
    '{"choices":[]}',
    '{"choices":null,"usage":null}',
    '{"message":"queued"}',
  ]) {
    const records = [blank, chunk({ content: 'a' }), blank, chunk({}, 'stop'), blank, '[DONE]'];
    t.like(streamed(records), { blocks: 'text a', finish: 'end' }, blank);
  }
});

/** Faults with a success status. */
const faults: readonly (readonly [body: JsonObject, expected: RegExp])[] = [
  [{ code: 1113, msg: 'Insufficient balance' }, /^upstream-billing: Insufficient balance$/],
  [{ code: '1302', message: 'slow' }, /^upstream-rate-limit: slow$/],
  [
    { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    /^upstream-billing: insuff/,
  ],
  [
    { choices: null, base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' } },
    /^upstream-context/,
  ],
  [{ error: { message: 'down' } }, /^upstream-error: down$/],
  [{ error: 'down' }, /^upstream-error: down$/],
  [{ object: 'error', message: 'down', code: 503 }, /^upstream-overloaded: down$/],
  [{ success: false, errors: [{ message: 'down' }] }, /^upstream-error: down$/],
  [{ detail: [{ loc: ['body'], msg: 'wrong' }] }, /^upstream-error: body: wrong$/],
  [{ code: 400, message: 'wrong', request_id: 'r' }, /^upstream-invalid: wrong$/],
];

test('a fault with a success status is one, whole or in a stream', (t) => {
  for (const [body, expected] of faults) {
    t.regex(String(whole(body)), expected);
    t.regex(String(streamed([body])), expected);
    t.regex(String(streamed([chunk({ content: 'a' }), body])), expected);
  }
  t.regex(String(whole({ Message: 'down' })), /^upstream-error: down$/);
  const ok = { base_resp: { status_code: 0, status_msg: 'success' }, code: 200 };
  t.like(whole(reply({ content: 'a' }, 'stop', ok)), { blocks: 'text a' });
  t.like(streamed([chunk({ content: 'a' }, null, ok), chunk({}, 'stop', ok)]), { blocks: 'text a' });
});
