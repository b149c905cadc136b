import test from 'ava';
import { type ModelEvent, mergeUsage, type Usage } from '../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { messagesUpstream } from '../../protocols/messages/index.ts';
import { replyContext } from '../support/context.ts';
import { recordingsOf } from '../support/upstreams/recordings.ts';

/*
 * The usage of a relayed reply is read without decoding the reply. That must find what the decoder finds, and must leave to the
 * decoder whatever has reasoning.
 */

const chat = chatUpstream({ ...plainDialect, reasoningTags: ['think', 'thinking', 'thought'] });

const usageIn = (events: readonly ModelEvent[]): Usage =>
  events.reduce<Usage>((sum, event) => ('usage' in event && event.usage ? mergeUsage(sum, event.usage) : sum), {});

const hasReasoning = (events: readonly ModelEvent[]): boolean =>
  events.some(
    (event) =>
      event.type === 'thinking-delta' ||
      event.type === 'signature-delta' ||
      (event.type === 'block-start' && (event.block.type === 'thinking' || 'signature' in event.block)),
  );

for (const [protocol, folders] of [
  [chat, ['openai-chat', 'deepseek', 'groq', 'openrouter']],
  [messagesUpstream, ['anthropic']],
] as const satisfies readonly (readonly [UpstreamProtocol, readonly string[]])[]) {
  test(`${protocol.wire}: the usage of recorded replies is the decoder's, and none with reasoning passes for plain`, (t) => {
    const found = { plain: 0, reasoning: 0 };
    for (const { name, bytes, streamed, status } of folders.flatMap(recordingsOf)) {
      const body = streamed || status !== 200 ? undefined : parseJson(Buffer.from(bytes).toString());
      if (!isJsonObject(body)) continue;
      const events = protocol.decodeReply(body, replyContext());
      const plain = protocol.plainUsage?.(body, true);
      if (hasReasoning(events)) {
        t.is(plain, undefined, name);
        found.reasoning += 1;
      } else if (plain) {
        t.deepEqual(mergeUsage({}, plain), usageIn(events), name);
        found.plain += 1;
      }
    }
    t.true(found.plain > 3 && found.reasoning > 0, JSON.stringify(found));
  });
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

const messages: readonly (readonly [isPlain: boolean, message: object])[] = [
  [true, { role: 'assistant', content: 'Hello <think>' }],
  [true, { role: 'assistant', content: null, tool_calls: [call], reasoning: null, reasoning_content: '' }],
  [false, { role: 'assistant', content: ' \n<think>so</think>Hello' }],
  [false, { role: 'assistant', content: `${' '.repeat(200)}<think>so</think>Hello` }],
  [false, { role: 'assistant', content: [{ type: 'thinking', thinking: 'so' }] }],
  [false, { role: 'assistant', content: 'Hello', reasoning_content: 'so' }],
  [false, { role: 'assistant', content: 'Hello', thoughts_of_next_year: 'so' }],
  [false, { role: 'assistant', content: null, tool_calls: [{ ...call, extra_content: { google: {} } }] }],
];

for (const [isPlain, message] of messages) {
  test(`chat: ${isPlain ? 'plain' : 'decoded'}: ${JSON.stringify(message).replace(/ {9,}/, ' … ')}`, (t) => {
    const body = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
    const parsed = parseJson(JSON.stringify(body));
    if (!isJsonObject(parsed)) return t.fail();
    t.is(chat.plainUsage?.(parsed, true) !== undefined, isPlain);
    t.truthy(chat.plainUsage?.(parsed, false), 'without reasoning to keep, the usage is enough');
  });
}
