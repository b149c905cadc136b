import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent, Usage } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { addUsage, plainEnd, readUsage } from '../../engine/operators/read-events.ts';
import { chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { messagesUpstream } from '../../protocols/messages/index.ts';
import { responsesUpstream } from '../../protocols/responses/index.ts';
import { replyContext } from '../support/context.ts';
import { recordingsOf } from '../support/upstreams/recordings.ts';

/*
 * The usage of a relayed reply is read without decoding the reply. That must find what the decoder finds, and must leave to the
 * decoder whatever has failed, or has reasoning to keep.
 */

const chat = chatUpstream({ ...plainDialect, reasoningTags: ['think', 'thinking', 'thought'] });

const decodedUsage = (events: readonly ModelEvent[]): Usage =>
  events.reduce<Usage>((usage, event) => readUsage(event, usage), {});

/** The usage that is found at a reply's end; `undefined` if the reply is left to the decoder. */
const endUsage = (protocol: UpstreamProtocol, bytes: Uint8Array, mayReason: boolean): Usage | undefined => {
  const end = protocol.plainReply && plainEnd(Buffer.from(bytes), protocol.plainReply, mayReason);
  return end && addUsage(protocol, end);
};

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
  [responsesUpstream, ['openai-responses']],
] as const satisfies readonly (readonly [UpstreamProtocol, readonly string[]])[]) {
  test(`${protocol.wire}: the usage of recorded replies is the decoder's, and none with reasoning passes for plain`, (t) => {
    const found = { plain: 0, reasoning: 0 };
    for (const { name, bytes, streamed, status } of folders.flatMap(recordingsOf)) {
      const body = streamed || status !== 200 ? undefined : parseJson(Buffer.from(bytes).toString());
      if (!isJsonObject(body)) continue;
      const events = protocol.decodeReply(body, replyContext());
      const plain = endUsage(protocol, bytes, false);
      if (plain) t.deepEqual(plain, decodedUsage(events), name);
      if (hasReasoning(events)) t.is(endUsage(protocol, bytes, true), undefined, name);
      found.plain += endUsage(protocol, bytes, true) ? 1 : 0;
      found.reasoning += hasReasoning(events) ? 1 : 0;
    }
    t.true(found.plain > 2 && found.reasoning > 0, JSON.stringify(found));
  });
}

/** Texts that look like a reply's end, and pieces of one. */
const hostile = fc
  .array(
    fc.constantFrom(
      ...[
        '"usage":',
        '{"prompt_tokens":1}',
        '"error"',
        '\\',
        '"',
        '}',
        ']',
        ',',
        '{',
        ':',
        'żółw',
        '\u0000',
        ' ',
        '<think>',
      ],
      ...['"stop_reason":"end_turn"', '"finish_reason":"stop"', '"service_tier":"flex"', 'usage', 'x'.repeat(400)],
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

const count = fc.oneof(fc.nat(), fc.constantFrom(null, -1, 1.5, '7', 1e300));
/** Members that replies don't have, or have elsewhere. */
const membersOf = (...names: readonly string[]) =>
  fc.dictionary(
    fc.constantFrom(
      'usage',
      'service_tier',
      'error',
      'object',
      'x',
      'x"usage',
      'base_resp',
      'stop_reason',
      'x_own',
      ...names,
    ),
    fc.oneof(hostile, fc.constant(null), fc.jsonValue({ maxDepth: 2 }), fc.constant({ usage: { prompt_tokens: 3 } })),
    { maxKeys: 2 },
  );
const more = membersOf('type');
const deeper = membersOf('reasoning', 'reasoning_text', 'thinking', 'content', 'text');

const chatReply = fc.record({
  finish: fc.constantFrom('stop', 'length', 'tool_calls', 'error', 'network_error', 'content_filter', null),
  usage: fc.record({ prompt_tokens: count, completion_tokens: count, more }, { requiredKeys: [] }),
  tier: fc.constantFrom(undefined, 'default', 'flex', null),
  text: hostile,
  more,
  deeper,
});
const chatBody = chatReply.map(({ finish, usage, tier, text, more: others, deeper: inner }) => ({
  id: text,
  choices: [{ index: 0, message: { role: 'assistant', content: text, ...inner }, finish_reason: finish }],
  ...(tier !== null && { usage }),
  ...(tier !== undefined && { service_tier: tier }),
  ...others,
}));

const messagesBody = chatReply.map(({ finish, usage, text, more: others, deeper: inner }) => ({
  id: text,
  type: 'message',
  content: [{ type: 'text', text, ...inner }],
  stop_reason: finish === 'stop' ? 'end_turn' : finish,
  usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, ...usage.more },
  ...others,
}));

const item = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    content: fc.tuple(fc.record({ type: fc.constant('output_text'), text: hostile })),
  }),
  fc.record(
    {
      type: fc.constantFrom('function_call', 'custom_tool_call'),
      name: fc.constantFrom('f', '', null, 7),
      arguments: fc.oneof(hostile, fc.constantFrom(null, 7)),
      call_id: fc.constantFrom('c', 3),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constantFrom('reasoning', 'compaction', 'web_search_call', 'image_generation_call'),
      encrypted_content: hostile,
      summary: fc.constant([{ type: 'summary_text', text: 'so' }]),
    },
    { requiredKeys: ['type'] },
  ),
  fc.constantFrom(null, 1, {}, { type: 2 }, 'message', []),
);
const responsesReply = fc.record(
  {
    id: hostile,
    status: fc.constantFrom('completed', 'completed', 'completed', 'incomplete', 'failed', 'in_progress', null, 7),
    error: fc.constantFrom(null, { code: 'server_error', message: 'no' }),
    output: fc.oneof({ weight: 5, arbitrary: fc.array(item, { maxLength: 3 }) }, fc.constantFrom(null, {}, 'x')),
    service_tier: fc.constantFrom('default', 'flex', null, 7),
    usage: fc.record({
      input_tokens: count,
      input_tokens_details: fc.constantFrom(null, { cached_tokens: 2 }, { cached_tokens: '1' }, 7),
      output_tokens: count,
      output_tokens_details: fc.constantFrom({ reasoning_tokens: 1 }, null),
    }),
    more,
    deeper,
  },
  { requiredKeys: ['status', 'output', 'usage', 'more', 'deeper'] },
);
const responsesBody = responsesReply.map(({ more: others, deeper: inner, output, ...reply }) => ({
  ...reply,
  output: Array.isArray(output)
    ? output.map((one: unknown) => (isJsonObject(one) ? { ...inner, ...one } : one))
    : output,
  ...others,
}));

/** The same members in another order, with or without spaces. */
const written = (body: fc.Arbitrary<object>): fc.Arbitrary<string> =>
  fc
    .tuple(body, fc.constantFrom(undefined, 1), fc.integer(), fc.boolean())
    .map(([value, space, seed, isSorted]) =>
      JSON.stringify(isSorted ? value : Object.fromEntries(shuffled(Object.entries(value), seed)), undefined, space),
    );

const shuffled = <T>(items: readonly T[], seed: number): readonly T[] =>
  items
    .map((item, index) => ({ item, place: Math.imul(seed ^ (index + 1), 0x9e3779b1) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

for (const [protocol, body] of [
  [chat, chatBody],
  [messagesUpstream, messagesBody],
  [responsesUpstream, responsesBody],
] as const satisfies readonly (readonly [UpstreamProtocol, fc.Arbitrary<object>])[]) {
  test(`${protocol.wire}: whatever a reply's texts and order, the usage at its end is the decoder's`, (t) => {
    let found = 0;
    fc.assert(
      fc.property(written(body), (json) => {
        const usage = endUsage(protocol, Buffer.from(json), false);
        if (!usage) return;
        found += 1;
        const events = protocol.decodeReply(objectOf(json), replyContext());
        t.deepEqual(usage, decodedUsage(events), json);
        t.not(events.at(-1)?.type, 'error', json);
        t.false(hasReasoning(events) && endUsage(protocol, Buffer.from(json), true) !== undefined, json);
      }),
      { numRuns: 5_000 },
    );
    t.true(found > 100, `${found}`);
  });
}

const objectOf = (json: string): JsonObject => {
  const body = parseJson(json);
  return isJsonObject(body) ? body : {};
};

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

const messages: readonly (readonly [isPlain: boolean, message: object])[] = [
  [true, { role: 'assistant', content: 'Hello <think>' }],
  [true, { role: 'assistant', content: 'Hello', tool_calls: [], reasoning: null, reasoning_content: '' }],
  [false, { role: 'assistant', content: ' \n<think>so</think>Hello' }],
  [false, { role: 'assistant', content: `\u3000${' '.repeat(200)}<think>so</think>Hello` }],
  [false, { role: 'assistant', content: ['<think>so</think>Hello'] }],
  [false, { role: 'assistant', content: [{ type: 'thinking', thinking: 'so' }] }],
  [false, { role: 'assistant', content: 'Hello', reasoning_content: 'so' }],
  [false, { role: 'assistant', content: 'Hello', reasoning_details: [{ type: 'reasoning.encrypted', data: 'so' }] }],
  [false, { role: 'assistant', content: null, tool_calls: [{ ...call, extra_content: { google: {} } }] }],
];

for (const [isPlain, message] of messages) {
  test(`chat: ${isPlain ? 'plain' : 'decoded'}: ${JSON.stringify(message).replace(/ {9,}/, ' … ')}`, (t) => {
    for (const space of [undefined, 1]) {
      const json = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }, undefined, space);
      const bytes = Buffer.from(json);
      t.is(hasReasoning(chat.decodeReply(objectOf(json), replyContext())), !isPlain);
      t.is(endUsage(chat, bytes, true) !== undefined, isPlain);
      t.truthy(endUsage(chat, bytes, false), 'without reasoning to keep, the usage is enough');
    }
  });
}
