import type { JsonObject } from '../../engine/model/json/json.ts';

/** Records of streamed answers, as each vendor's wire has them. */

const chunkHead = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };

/** A `chat.completion.chunk`. */
export const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  ...chunkHead,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
export const role = chunk({ role: 'assistant', content: '' });
/** Fragments of calls. */
export const calls = (...fragments: JsonObject[]): JsonObject => chunk({ tool_calls: fragments });
export const begin = (index: number, id: string, name: string, args = ''): JsonObject =>
  calls({ index, id, type: 'function', function: { name, arguments: args } });
export const more = (index: number, args: string): JsonObject => calls({ index, function: { arguments: args } });
export const finish = (word: string): JsonObject => chunk({}, word);
export const chatUsage = (usage: JsonObject): JsonObject => ({ ...chunkHead, choices: [], usage });
export const done = '[DONE]';

/** A Messages stream around these records. */
export const message = (
  records: readonly JsonObject[],
  stop: string | null = 'end_turn',
  usage: JsonObject = { output_tokens: 2 },
  start: JsonObject = { input_tokens: 1, output_tokens: 1 },
): JsonObject[] => [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: start,
    },
  },
  ...records,
  { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
  { type: 'message_stop' },
];
/** A content block with these deltas. */
export const block = (index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta): JsonObject => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
export const text = (index: number, words: string): JsonObject[] =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words });
export const toolUse = (index: number, id: string, name: string, ...json: string[]): JsonObject[] =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} },
    ...json.map((partial_json): JsonObject => ({ type: 'input_json_delta', partial_json })),
  );

/** A Responses stream around these records. */
export const response = (records: readonly JsonObject[], more: JsonObject = {}): JsonObject[] => {
  const type = `response.${more.status ?? 'completed'}`;
  return [
    { type: 'response.created', response: { id: 'resp_1', model: 'm', status: 'in_progress', output: [] } },
    ...records,
    { type, response: { id: 'resp_1', model: 'm', status: 'completed', output: [], usage: responseUsage, ...more } },
  ];
};
const responseUsage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
export const callItem = (id: string, name: string, args: string): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
});
/** A call of which the records tell the arguments in this way alone. */
export const callRecords = (
  index: number,
  id: string,
  name: string,
  args: string,
  told: 'delta' | 'done' | 'item',
): JsonObject[] => {
  const place = { item_id: `fc_${id}`, output_index: index };
  return [
    { type: 'response.output_item.added', output_index: index, item: callItem(id, name, '') },
    ...(told === 'delta' ? [{ type: 'response.function_call_arguments.delta', ...place, delta: args }] : []),
    ...(told === 'item' ? [] : [{ type: 'response.function_call_arguments.done', ...place, arguments: args }]),
    { type: 'response.output_item.done', output_index: index, item: callItem(id, name, args) },
  ];
};

/** One record of a Gemini stream. */
export const candidate = (parts: readonly JsonObject[], finishReason?: string, more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
  modelVersion: 'm',
  responseId: 'r',
  ...more,
});

/** The two parallel calls `f {"x":1}` and `g {"y":2}`, in each vendor's words. */
export const twoCalls: Readonly<Record<string, readonly (string | JsonObject)[]>> = {
  anthropic: message(
    [...text(0, 'Wait.'), ...toolUse(1, 'toolu_1', 'f', '{"x"', ':1}'), ...toolUse(2, 'toolu_2', 'g', '{"y":2}')],
    'tool_use',
  ),
  openai: [
    role,
    chunk({ content: 'Wait.' }),
    begin(0, 'call_1', 'f'),
    more(0, '{"x"'),
    more(0, ':1}'),
    begin(1, 'call_2', 'g', '{"y":2}'),
    finish('tool_calls'),
    done,
  ],
  responses: response([
    ...callRecords(0, 'call_1', 'f', '{"x":1}', 'delta'),
    ...callRecords(1, 'call_2', 'g', '{"y":2}', 'delta'),
  ]),
  gemini: [
    candidate([{ text: 'Wait.' }]),
    candidate(
      [{ functionCall: { name: 'f', args: { x: 1 } } }, { functionCall: { name: 'g', args: { y: 2 } } }],
      'STOP',
    ),
  ],
};
