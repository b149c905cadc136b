import test from 'ava';
import type { FinishReason } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { decodeReply } from '../../../protocols/chat/decode-reply/decode-reply.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';

const read = (body: JsonObject) => {
  const events = decodeReply(body, replyContext());
  checkEvents(events);
  return foldReply(events);
};
const choose = (message: JsonObject | null, finish: string | null = 'stop', more: JsonObject = {}): JsonObject => ({
  id: 'i',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: finish }],
  ...more,
});
const call = (id: string | null, name = 'f'): JsonObject => ({
  ...(id !== null && { id }),
  type: 'function',
  function: { name, arguments: '{}' },
});

const cases: readonly (readonly [title: string, body: JsonObject, blocks: readonly object[], finish: FinishReason])[] =
  [
    ['text', choose({ content: 'a' }), [{ type: 'text', text: 'a' }], 'end'],
    ['no finish reason', choose({ content: 'a' }, null), [{ type: 'text', text: 'a' }], 'end'],
    ['no content', choose({ content: null }), [], 'end'],
    ['a filtered choice without a message', choose(null, 'content_filter'), [], 'filtered'],
    ['a refusal', choose({ content: null, refusal: 'no' }), [{ type: 'refusal', text: 'no' }], 'filtered'],
    [
      'calls with a wrong finish',
      choose({ content: null, tool_calls: [call('c'), call('d')] }),
      [
        { type: 'tool-call', id: 'c' },
        { type: 'tool-call', id: 'd' },
      ],
      'tool-call',
    ],
    [
      'calls without ids are told apart',
      choose({ content: null, tool_calls: [call(null), call(null)] }, 'tool_calls'),
      [{ id: 'call_0123456789abcdef012345670' }, { id: 'call_0123456789abcdef012345671' }],
      'tool-call',
    ],
    [
      'the old form of a call',
      choose({ content: null, function_call: { name: 'f', arguments: '{}' } }, 'function_call'),
      [{ type: 'tool-call', name: 'f', json: '{}' }],
      'tool-call',
    ],
    [
      'reasoning, with its payload, before the text',
      choose({
        content: 'a',
        reasoning: 'x',
        reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: 's' }],
      }),
      [
        {
          type: 'thinking',
          text: 'x',
          signature: { format: 'chat', data: '{"type":"reasoning.text","signature":"s"}' },
        },
        { type: 'text', text: 'a' },
      ],
      'end',
    ],
  ];

for (const [title, body, blocks, finish] of cases) {
  test(title, (t) => {
    const reply = read(body);
    if (isFault(reply)) return t.fail(reply.message);
    t.is(reply.finish, finish);
    t.is(reply.blocks.length, blocks.length);
    blocks.forEach((block, index) => {
      t.like(reply.blocks[index], block);
    });
  });
}

const faults: readonly (readonly [title: string, body: JsonObject, kind: string])[] = [
  ['an error in spite of its status', { error: { code: 429, message: 'slow' } }, 'upstream-rate-limit'],
  [
    'an error inside the choice',
    { choices: [{ message: { content: '' }, error: { code: 502, message: 'down' } }] },
    'upstream-error',
  ],
  ['finish reason error', choose({ content: '' }, 'error'), 'upstream-error'],
  ['no choices', { id: 'i', choices: [] }, 'upstream-garbled'],
  ['another object altogether', { hello: 'world' }, 'upstream-garbled'],
  ['neither message nor finish', choose(null, null), 'upstream-cut'],
];

for (const [title, body, kind] of faults) {
  test(`fault: ${title}`, (t) => {
    const reply = read(body);
    t.is(isFault(reply) ? reply.kind : 'none', kind);
  });
}

test('usage and tier', (t) => {
  const usage = { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } };
  t.like(read(choose({ content: 'a' }, 'stop', { usage, service_tier: 'flex' })), {
    usage: { input: 6, cacheRead: 4, output: 2, serviceTier: 'flex' },
  });
});
