import test from 'ava';
import type { DemoAnswer } from '../../../../engine/service/demo/answer.ts';
import { encodeChunks, encodeCompletion } from '../../../../engine/service/demo/encode-answer.ts';

const frame = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'echo' };
const usage = { prompt: 10, completion: 4, reasoning: 1 };
const words: DemoAnswer = { reasoning: '', text: 'Hi  there, 👋\n', calls: [], finish: 'stop', usage };
const calls: DemoAnswer = {
  reasoning: 'I think.',
  text: '',
  calls: [
    { name: 'a', arguments: '{"x":"one two"}' },
    { name: 'b', arguments: '{}' },
  ],
  finish: 'tool_calls',
  usage,
};
const wireUsage = {
  prompt_tokens: 10,
  completion_tokens: 4,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 1 },
};
const chunk = (delta: object, finish: string | null = null) => ({
  ...frame,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

test('words, streamed', (t) => {
  t.deepEqual<unknown, unknown>(encodeChunks(words, frame, false), [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hi' }),
    chunk({ content: '  there,' }),
    chunk({ content: ' 👋' }),
    chunk({ content: '\n' }),
    chunk({}, 'stop'),
  ]);
});

test('usage, when it is asked for', (t) => {
  const chunks = encodeChunks(words, frame, true);
  t.deepEqual<unknown, unknown>(chunks.at(-1), {
    ...frame,
    object: 'chat.completion.chunk',
    choices: [],
    usage: wireUsage,
  });
  t.true(chunks.slice(0, -1).every((one) => one.usage === null));
});

test('reasoning and calls, streamed', (t) => {
  t.deepEqual<unknown, unknown>(encodeChunks(calls, frame, false), [
    chunk({ role: 'assistant', content: null }),
    chunk({ reasoning_content: 'I' }),
    chunk({ reasoning_content: ' think.' }),
    chunk({ tool_calls: [{ index: 0, id: 'call_1_0', type: 'function', function: { name: 'a', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":"one' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ' two"}' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'call_1_1', type: 'function', function: { name: 'b', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }),
    chunk({}, 'tool_calls'),
  ]);
});

test('whole', (t) => {
  t.deepEqual<unknown, unknown>(encodeCompletion(words, frame), {
    ...frame,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hi  there, 👋\n', refusal: null }, finish_reason: 'stop' },
    ],
    usage: wireUsage,
  });
  t.deepEqual<unknown, unknown>(encodeCompletion(calls, frame).choices, [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        reasoning_content: 'I think.',
        tool_calls: [
          { id: 'call_1_0', type: 'function', function: { name: 'a', arguments: '{"x":"one two"}' } },
          { id: 'call_1_1', type: 'function', function: { name: 'b', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ]);
});
