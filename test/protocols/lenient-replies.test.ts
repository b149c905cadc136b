import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../engine/model/json/json.ts';
import { runWhole } from '../../engine/model/machine.ts';
import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { geminiUpstream } from '../../protocols/gemini/index.ts';
import { messagesUpstream } from '../../protocols/messages/index.ts';
import { responsesUpstream } from '../../protocols/responses/index.ts';
import { replyContext } from '../support/context.ts';

/** A protocol's whole reply and stream, with the paths of what is only counted or copied. */
interface Sample {
  readonly protocol: UpstreamProtocol;
  readonly body: JsonObject;
  readonly bodyPaths: readonly string[];
  readonly records: readonly JsonObject[];
  /** By the index of their record. */
  readonly recordPaths: readonly (readonly [record: number, path: string])[];
}

const chatUsage = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 1 },
};
const chatUsagePaths = [
  'usage',
  'usage.prompt_tokens',
  'usage.completion_tokens',
  'usage.total_tokens',
  'usage.prompt_tokens_details',
  'usage.prompt_tokens_details.cached_tokens',
  'usage.completion_tokens_details',
  'usage.completion_tokens_details.reasoning_tokens',
];
const responsesUsage = {
  input_tokens: 3,
  output_tokens: 2,
  input_tokens_details: { cached_tokens: 1 },
  output_tokens_details: { reasoning_tokens: 1 },
};
const responsesUsagePaths = [
  'usage',
  'usage.input_tokens',
  'usage.output_tokens',
  'usage.input_tokens_details',
  'usage.input_tokens_details.cached_tokens',
  'usage.output_tokens_details',
];
const messageItem = { type: 'message', id: 'i', content: [{ type: 'output_text', text: 'hello', annotations: [] }] };
const geminiBody = {
  candidates: [
    { content: { parts: [{ text: 'hello' }] }, finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['q'] } },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
  modelVersion: 'm',
  responseId: 'r',
};
const geminiPaths = [
  'candidates.0.groundingMetadata',
  'candidates.0.groundingMetadata.webSearchQueries',
  'candidates.0.finishMessage',
  'usageMetadata',
  'usageMetadata.promptTokenCount',
  'usageMetadata.candidatesTokenCount',
  'usageMetadata.thoughtsTokenCount',
  'modelVersion',
  'responseId',
];

const samples: Readonly<Record<string, Sample>> = {
  chat: {
    protocol: chatUpstream(plainDialect),
    body: {
      id: 'c',
      model: 'm',
      created: 1,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hello', annotations: [] },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: chatUsage,
      service_tier: 'default',
    },
    bodyPaths: [
      'id',
      'model',
      'created',
      'service_tier',
      'choices.0.index',
      'choices.0.logprobs',
      'choices.0.usage',
      'choices.0.message.annotations',
      'choices.0.message.role',
      ...chatUsagePaths,
    ],
    records: [
      { id: 'c', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'hel' } }], usage: null },
      { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'lo' } }], usage: null },
      {
        id: 'c',
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: chatUsage,
        service_tier: 'default',
      },
    ],
    recordPaths: [
      [0, 'id'],
      [0, 'model'],
      [0, 'usage'],
      [0, 'choices.0.index'],
      [0, 'choices.0.delta.role'],
      [1, 'id'],
      [1, 'usage'],
      [2, 'service_tier'],
      ...chatUsagePaths.map((path) => [2, path] as const),
    ],
  },
  messages: {
    protocol: messagesUpstream,
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2, cache_creation: { ephemeral_1h_input_tokens: 1 } },
    },
    bodyPaths: [
      'id',
      'role',
      'model',
      'content.0.citations',
      'stop_sequence',
      'usage',
      'usage.input_tokens',
      'usage.output_tokens',
      'usage.cache_creation',
      'usage.cache_creation.ephemeral_1h_input_tokens',
    ],
    records: [
      { type: 'message_start', message: { id: 'msg_1', model: 'm', content: [], usage: { input_tokens: 3 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
    recordPaths: [
      [0, 'message.id'],
      [0, 'message.model'],
      [0, 'message.content'],
      [0, 'message.usage'],
      [0, 'message.usage.input_tokens'],
      [1, 'index'],
      [2, 'index'],
      [4, 'usage'],
      [4, 'usage.output_tokens'],
      [4, 'delta.stop_sequence'],
    ],
  },
  responses: {
    protocol: responsesUpstream,
    body: {
      id: 'r',
      model: 'm',
      status: 'completed',
      output: [messageItem],
      usage: responsesUsage,
      service_tier: 'default',
      incomplete_details: null,
    },
    bodyPaths: [
      'id',
      'model',
      'service_tier',
      'incomplete_details',
      'output.0.id',
      'output.0.content.0.annotations',
      ...responsesUsagePaths,
    ],
    records: [
      {
        type: 'response.created',
        sequence_number: 0,
        response: { id: 'r', model: 'm', status: 'in_progress', output: [], usage: null },
      },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i', content: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'i', delta: 'hello' },
      { type: 'response.output_item.done', output_index: 0, item: messageItem },
      {
        type: 'response.completed',
        response: { id: 'r', model: 'm', status: 'completed', output: [messageItem], usage: responsesUsage },
      },
    ],
    recordPaths: [
      [0, 'sequence_number'],
      [0, 'response.id'],
      [0, 'response.model'],
      [0, 'response.usage'],
      [1, 'item.id'],
      [2, 'item_id'],
      [3, 'item.content.0.annotations'],
      ...responsesUsagePaths.map((path) => [4, `response.${path}`] as const),
      [4, 'response.service_tier'],
    ],
  },
  gemini: {
    protocol: geminiUpstream(),
    body: geminiBody,
    bodyPaths: geminiPaths,
    records: [geminiBody],
    recordPaths: geminiPaths.map((path) => [0, path] as const),
  },
};

/** The value with another one at a path. */
const replaced = (value: Json | undefined, path: readonly string[], junk: Json): Json => {
  const [name, ...rest] = path;
  if (name === undefined) return junk;
  if (Array.isArray(value))
    return value.map((item: Json, index) => (String(index) === name ? replaced(item, rest, junk) : item));
  const draft: JsonDraft = isJsonObject(value) ? { ...value } : {};
  draft[name] = replaced(draft[name], rest, junk);
  return draft;
};

/** The text of an answer, or its fault. */
const textOf = (events: readonly ModelEvent[]): string =>
  events
    .map((event) =>
      event.type === 'text-delta' ? event.text : event.type === 'error' ? `!${event.fault.message}` : '',
    )
    .join('');

const junk = fc.oneof(
  fc.constantFrom<Json>([], {}, null, '', 'x', 0, -1, 1.5, true, [null], { a: 1 }, '12', ['x'], [[]]),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json),
);

for (const [name, { protocol, body, bodyPaths, records, recordPaths }] of Object.entries(samples)) {
  const decodeAll = (all: readonly Json[]) =>
    textOf(
      runWhole(
        protocol.decodeStream,
        replyContext(),
        all.map((value) => ({ event: '', data: JSON.stringify(value) })),
      ),
    );

  test(`${name}: whatever stands for what is only counted or copied, the answer is whole`, (t) => {
    t.is(textOf(protocol.decodeReply(body, replyContext())), 'hello');
    t.is(decodeAll(records), 'hello');
    fc.assert(
      fc.property(fc.constantFrom(...bodyPaths), junk, (path, value) => {
        const changed = replaced(body, path.split('.'), value);
        const reply = isJsonObject(changed) ? changed : {};
        t.is(textOf(protocol.decodeReply(reply, replyContext())), 'hello', `${path} ${JSON.stringify(value)}`);
      }),
      { numRuns: 400 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...recordPaths), junk, ([at, path], value) => {
        const changed = records.map((record, index) =>
          index === at ? replaced(record, path.split('.'), value) : record,
        );
        t.is(decodeAll(changed), 'hello', `${at} ${path} ${JSON.stringify(value)}`);
      }),
      { numRuns: 400 },
    );
  });
}
