import type { JsonObject } from '../../engine/model/json/json.ts';

/** What an upstream sends: the bodies of a stream's records, or a whole reply. */
export type HostileReply = { readonly records: readonly (JsonObject | string)[] } | { readonly body: JsonObject };

/** Replies of one wire format that grow with a count, in one way each. */
type HostileReplies = Readonly<Record<string, (count: number) => HostileReply>>;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const chunk = (delta: JsonObject): JsonObject => ({ choices: [{ index: 0, delta }] });
const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
const chat = (deltas: readonly JsonObject[]): HostileReply => ({ records: [...deltas.map(chunk), finished, '[DONE]'] });
const call = (members: JsonObject): JsonObject => ({ tool_calls: [members] });

const messages = (records: readonly JsonObject[]): HostileReply => ({
  records: [
    { type: 'message_start', message: { id: 'm', model: 'm', content: [] } },
    ...records,
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ],
});
const block = (index: number, content_block: JsonObject, ...deltas: readonly JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const textBlock = (index: number, ...deltas: readonly JsonObject[]): JsonObject[] =>
  block(index, { type: 'text', text: 'a' }, ...deltas);

const responses = (records: readonly JsonObject[]): HostileReply => ({
  records: [
    { type: 'response.created', response: { id: 'r', model: 'm' } },
    ...records,
    { type: 'response.completed', response: { status: 'completed', output: [] } },
  ],
});
const added = (output_index: number | undefined, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  ...(output_index !== undefined && { output_index }),
  item,
});
const done = (output_index: number | undefined, item: JsonObject): JsonObject => ({
  ...added(output_index, item),
  type: 'response.output_item.done',
});
const callItem = (index: number): JsonObject => ({
  type: 'function_call',
  id: `i${index}`,
  call_id: `c${index}`,
  name: 'f',
  arguments: '{}',
});
const messageItem = (index: number): JsonObject => ({
  type: 'message',
  id: `i${index}`,
  content: [{ type: 'output_text', text: 'a' }],
});

const candidate = (members: JsonObject): JsonObject => ({ candidates: [members] });
const parts = (...list: readonly JsonObject[]): JsonObject => candidate({ content: { parts: list } });
const gemini = (records: readonly JsonObject[]): HostileReply => ({
  records: [...records, candidate({ finishReason: 'STOP' })],
});
const grounding = (count: number): JsonObject => ({
  groundingChunks: [{ web: { uri: 'https://a.example/', title: 'a' } }],
  groundingSupports: times(count, (index) => ({
    segment: { startIndex: index, endIndex: index + 1, text: 'a' },
    groundingChunkIndices: [0],
  })),
});

/** What a hostile upstream may answer, each at a size of its own choice. */
export const hostileReplies: Readonly<Record<'chat' | 'messages' | 'responses' | 'gemini', HostileReplies>> = {
  chat: {
    'many deltas of text': (count) => chat(times(count, () => ({ content: 'a' }))),
    'one call in many pieces': (count) =>
      chat([
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":"' } }),
        ...times(count, () => call({ index: 0, function: { arguments: 'x' } })),
        call({ index: 0, function: { arguments: '"}' } }),
      ]),
    'one call in many pieces that repeat its name and have no index': (count) =>
      chat(times(count, (index) => call({ function: { name: 'f', arguments: index === 0 ? '{"a":"' : 'x' } }))),
    'one call in many pieces of blank text behind its end': (count) =>
      chat(times(count, (index) => call({ function: { name: 'f', arguments: index === 0 ? 'no' : '{}' } }))),
    'many calls': (count) =>
      chat(times(count, (index) => call({ index, id: `a${index}`, function: { name: 'f', arguments: '{}' } }))),
    'many calls without an index': (count) =>
      chat(times(count, (index) => call({ id: `a${index}`, function: { name: 'f', arguments: '{}' } }))),
    'many calls of one index': (count) =>
      chat(times(count, (index) => call({ index: 0, id: `a${index}`, function: { name: 'f', arguments: '{}' } }))),
    'many calls of one id': (count) =>
      chat(times(count, (index) => call({ index, id: 'a', function: { name: 'f', arguments: '{}' } }))),
    'many calls behind a long one that is not over': (count) =>
      chat([
        call({ index: 0, id: 'a', function: { name: 'f', arguments: `{"a":"${'x'.repeat(count)}` } }),
        ...times(count, (index) =>
          call({ index: index + 1, id: `a${index}`, function: { name: 'f', arguments: '{}' } }),
        ),
      ]),
    'many calls that go on in turns': (count) =>
      chat([
        ...times(count / 2, (index) => call({ index, id: `a${index}`, function: { name: 'f', arguments: '{' } })),
        ...times(count / 2, (index) => call({ index, function: { arguments: '}' } })),
      ]),
    'text, reasoning and calls in turns': (count) =>
      chat(
        times(count, (index) =>
          index % 3 === 0
            ? { content: 'a' }
            : index % 3 === 1
              ? { reasoning_content: 'a' }
              : call({ index, id: `a${index}`, function: { name: 'f', arguments: '{}' } }),
        ),
      ),
    'an exit of tool mode in many pieces that may each be its end': (count) =>
      chat([
        call({ index: 0, id: 'a', function: { name: 'ExitTool', arguments: '{"response":"' } }),
        ...times(count, (index) => call({ index: 0, function: { arguments: index % 3 === 0 ? '"' : '\\u0041 ' } })),
      ]),
    'many entries of reasoning': (count) =>
      chat(
        times(count, (index) => ({
          reasoning_details: [{ type: 'reasoning.text', text: 'a', index, [`m${index}`]: 1 }],
        })),
      ),
    'many citations': (count) =>
      chat(
        times(count, () => ({
          content: 'a',
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://a.example/', start_index: 0, end_index: 1 } },
          ],
        })),
      ),
    'a whole reply with many calls': (count) => ({
      body: {
        choices: [
          {
            message: {
              content: 'a',
              tool_calls: times(count, (index) => ({ id: `a${index}`, function: { name: 'f', arguments: '{}' } })),
            },
          },
        ],
      },
    }),
  },
  messages: {
    'many deltas of text': (count) =>
      messages(textBlock(0, ...times(count, () => ({ type: 'text_delta', text: 'a' })))),
    'one call in many pieces': (count) =>
      messages(
        block(
          0,
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
          { type: 'input_json_delta', partial_json: '{"a":"' },
          ...times(count, () => ({ type: 'input_json_delta', partial_json: 'x' })),
        ),
      ),
    'many blocks in turns': (count) =>
      messages(
        times(count / 2, (index) =>
          index % 3 === 0
            ? textBlock(index)
            : index % 3 === 1
              ? block(index, { type: 'thinking', thinking: 'a', signature: 's' })
              : block(index, { type: 'tool_use', id: `a${index}`, name: 'f', input: {} }),
        ).flat(),
      ),
    'many calls of one id': (count) =>
      messages(times(count, (index) => block(index, { type: 'tool_use', id: 'a', name: 'f', input: {} })).flat()),
    'many blocks of unknown kinds': (count) =>
      messages(times(count / 2, (index) => block(index, { type: `x${index}`, a: 1 }, { type: 'b' })).flat()),
    'many citations': (count) =>
      messages(
        textBlock(
          0,
          ...times(count, () => ({
            type: 'citations_delta',
            citation: { type: 'web_search_result_location', url: 'https://a.example/', cited_text: 'a' },
          })),
        ),
      ),
    'many ends that each bring a member': (count) =>
      messages(
        times(count, (index) => ({ type: 'message_delta', delta: { [`m${index}`]: 1 }, usage: { [`u${index}`]: 1 } })),
      ),
    'a whole reply with many parts': (count) => ({
      body: {
        id: 'm',
        stop_reason: 'end_turn',
        content: times(count, (index) =>
          index % 2 ? { type: 'text', text: 'a' } : { type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } },
        ),
      },
    }),
  },
  responses: {
    'many deltas of text': (count) =>
      responses([
        added(0, { type: 'message', id: 'i' }),
        ...times(count, () => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' })),
      ]),
    'one call in many pieces': (count) =>
      responses([
        added(0, { ...callItem(0), arguments: '' }),
        ...times(count, () => ({ type: 'response.function_call_arguments.delta', output_index: 0, delta: 'x' })),
      ]),
    'many items': (count) =>
      responses(times(count / 2, (index) => [added(index, callItem(index)), done(index, callItem(index))]).flat()),
    'many items without an index': (count) =>
      responses(
        times(count / 2, (index) => [added(undefined, callItem(index)), done(undefined, callItem(index))]).flat(),
      ),
    'many items that end behind one that does not': (count) =>
      responses([
        added(0, { type: 'message', id: 'i' }),
        ...times(count, (index) => [added(index + 1, callItem(index)), done(index + 1, callItem(index))]).flat(),
        done(0, { type: 'message', id: 'i', content: [{ type: 'output_text', text: 'a' }] }),
      ]),
    'many parts of a message': (count) =>
      responses([
        added(0, { type: 'message', id: 'i' }),
        ...times(count, (content_index) => ({
          type: 'response.output_text.delta',
          output_index: 0,
          content_index,
          delta: 'a',
        })),
      ]),
    'many parts of reasoning': (count) =>
      responses([
        added(0, { type: 'reasoning', id: 'i' }),
        ...times(count, (summary_index) => ({
          type: 'response.reasoning_summary_text.delta',
          output_index: 0,
          summary_index,
          delta: 'a',
        })),
      ]),
    'many citations': (count) =>
      responses([
        added(0, { type: 'message', id: 'i' }),
        ...times(count, () => ({
          type: 'response.output_text.annotation.added',
          output_index: 0,
          content_index: 0,
          annotation: { type: 'url_citation', url: 'https://a.example/', start_index: 0, end_index: 1 },
        })),
      ]),
    'a whole reply with many items': (count) => ({
      body: {
        id: 'r',
        status: 'completed',
        output: times(count, (index) => (index % 2 ? callItem(index) : messageItem(index))),
      },
    }),
    'a whole reply with many parts': (count) => ({
      body: {
        id: 'r',
        status: 'completed',
        output: [{ type: 'message', content: times(count, () => ({ type: 'output_text', text: 'a' })) }],
      },
    }),
  },
  gemini: {
    'many deltas of text': (count) => gemini(times(count, () => parts({ text: 'a' }))),
    'many calls': (count) => gemini(times(count, () => parts({ functionCall: { name: 'f', args: { a: 1 } } }))),
    'many calls of one id': (count) =>
      gemini(times(count, () => parts({ functionCall: { name: 'f', id: 'a', args: {} } }))),
    'blocks in turns behind their sources': (count) =>
      gemini([
        candidate({ groundingMetadata: grounding(1) }),
        ...times(count / 2, (index) => parts({ text: 'a'.repeat(40), thought: index % 2 === 0 })),
      ]),
    'blocks in turns behind many sources': (count) =>
      gemini([
        candidate({ groundingMetadata: grounding(count) }),
        ...times(count, (index) => parts({ text: 'a', thought: index % 2 === 0 })),
      ]),
    'parts of unknown kinds': (count) => gemini(times(count, (index) => parts({ [`x${index}`]: {} }))),
    'a whole reply with many parts': (count) => ({
      body: candidate({
        content: { parts: times(count, (index) => ({ text: 'a', thought: index % 2 === 0 })) },
        finishReason: 'STOP',
        groundingMetadata: grounding(count),
      }),
    }),
  },
};
