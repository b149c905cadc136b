import type { UpstreamRequest } from '../upstreams/upstream.ts';

/** A vendor's wire format for the fault tests: good responses of any size, and its errors. */
export interface Wire {
  /** The entry of `transformers` that makes a provider speak it. */
  readonly format: { readonly name: string; readonly options?: object };
  /** A good stream of these pieces of text, a record each; joined, it is the whole body. */
  readonly stream: (texts: readonly string[]) => readonly string[];
  /** A good stream of one tool call `look`, its arguments in these pieces. */
  readonly toolStream: (pieces: readonly string[]) => Iterable<string>;
  /** A good answer that isn't streamed. */
  readonly reply: (text: string) => object;
  /** The vendor's own error body. */
  readonly error: (message: string, status: number) => object;
  /** An error as a record of a stream. */
  readonly errorRecord: (message: string) => string;
  /** How many records at the beginning come before the first word. */
  readonly headRecords: number;
}

export type WireName = 'messages' | 'chat' | 'responses' | 'gemini';

const record = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const named = (data: { readonly type: string }): string => `event: ${data.type}\n${record(data)}`;

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
const messageEnd = (reason: string): string[] => [
  named(
    Object.assign(
      { type: 'message_delta' },
      { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    ),
  ),
  named({ type: 'message_stop' }),
];
const messageStart = named(
  Object.assign(
    { type: 'message_start' },
    { message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } },
  ),
);
const block = (type: 'start' | 'delta' | 'stop', more: object = {}): string =>
  named(Object.assign({ type: `content_block_${type}` }, { index: 0, ...more }));

/** Source: Anthropic API reference, "Errors". */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

const messages: Wire = {
  format: { name: 'anthropic' },
  stream: (texts) => [
    messageStart,
    block('start', { content_block: { type: 'text', text: '' } }),
    ...texts.map((text) => block('delta', { delta: { type: 'text_delta', text } })),
    block('stop'),
    ...messageEnd('end_turn'),
  ],
  *toolStream(pieces) {
    yield messageStart;
    yield block('start', { content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} } });
    for (const piece of pieces) yield block('delta', { delta: { type: 'input_json_delta', partial_json: piece } });
    yield block('stop');
    yield* messageEnd('tool_use');
  },
  reply: (text) => ({
    ...message,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 2 },
  }),
  error: (words, status) => ({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message: words } }),
  errorRecord: (words) =>
    named(Object.assign({ type: 'error' }, { error: { type: 'overloaded_error', message: words } })),
  headRecords: 2,
};

const chunk = (delta: object, finish: string | null = null): string =>
  record({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

const chat: Wire = {
  format: { name: 'openai' },
  stream: (texts) => [
    chunk({ role: 'assistant', content: '' }),
    ...texts.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ],
  *toolStream(pieces) {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } };
    yield chunk({ role: 'assistant', content: null, tool_calls: [call] });
    for (const piece of pieces) yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    yield chunk({}, 'tool_calls');
    yield 'data: [DONE]\n\n';
  },
  reply: (text) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: text, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  }),
  error: (words) => ({ error: { message: words, type: 'server_error', param: null, code: null } }),
  errorRecord: (words) => record({ error: { message: words, type: 'server_error', code: null } }),
  headRecords: 1,
};

const responseOf = (status: string, output: readonly object[]): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  completed_at: status === 'completed' ? 2 : null,
  presence_penalty: 0,
  frequency_penalty: 0,
  model: 'm',
  output,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: null,
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  user: null,
  usage:
    status === 'completed'
      ? {
          input_tokens: 1,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 2,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 3,
        }
      : null,
});
const textPart = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const messageItem = (status: string, text?: string): object => ({
  id: 'msg_1',
  type: 'message',
  status,
  role: 'assistant',
  content: text === undefined ? [] : [textPart(text)],
});
const callItem = (status: string, json: string): object => ({
  id: 'fc_1',
  type: 'function_call',
  status,
  call_id: 'call_1',
  name: 'look',
  arguments: json,
});
/** Numbers the records as the protocol wants it. */
const numbered = function* (records: Iterable<{ readonly type: string }>): Iterable<string> {
  let number = 0;
  for (const data of records) {
    yield named({ ...data, ...{ sequence_number: number } });
    number += 1;
  }
};
const event = (type: string, more: object): { readonly type: string } => Object.assign({ type }, more);
const inText = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const inCall = { item_id: 'fc_1', output_index: 0 };

const textEvents = function* (texts: readonly string[]): Iterable<{ readonly type: string }> {
  const whole = texts.join('');
  yield event('response.created', { response: responseOf('in_progress', []) });
  yield event('response.in_progress', { response: responseOf('in_progress', []) });
  yield event('response.output_item.added', { output_index: 0, item: messageItem('in_progress') });
  yield event('response.content_part.added', { ...inText, part: textPart('') });
  for (const delta of texts) yield event('response.output_text.delta', { ...inText, delta, logprobs: [] });
  yield event('response.output_text.done', { ...inText, text: whole, logprobs: [] });
  yield event('response.content_part.done', { ...inText, part: textPart(whole) });
  yield event('response.output_item.done', { output_index: 0, item: messageItem('completed', whole) });
  yield event('response.completed', { response: responseOf('completed', [messageItem('completed', whole)]) });
};

const callEvents = function* (pieces: readonly string[]): Iterable<{ readonly type: string }> {
  const whole = pieces.join('');
  yield event('response.created', { response: responseOf('in_progress', []) });
  yield event('response.output_item.added', { output_index: 0, item: callItem('in_progress', '') });
  for (const delta of pieces) yield event('response.function_call_arguments.delta', { ...inCall, delta });
  yield event('response.function_call_arguments.done', { ...inCall, arguments: whole });
  yield event('response.output_item.done', { output_index: 0, item: callItem('completed', whole) });
  yield event('response.completed', { response: responseOf('completed', [callItem('completed', whole)]) });
};

const responses: Wire = {
  format: { name: 'openai', options: { api: 'responses' } },
  stream: (texts) => [...numbered(textEvents(texts))],
  toolStream: (pieces) => numbered(callEvents(pieces)),
  reply: (text) => responseOf('completed', [messageItem('completed', text)]),
  error: chat.error,
  errorRecord: (words) => named(event('error', { code: 'server_error', message: words, param: null })),
  headRecords: 4,
};

const candidate = (parts: readonly object[], finish?: string): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finish !== undefined && { finishReason: finish }) }],
  ...(finish !== undefined && {
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
  }),
  modelVersion: 'm',
  responseId: 'r',
});

/** The vendor's status words. Source: google.rpc.Code. */
const rpcWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const gemini: Wire = {
  format: { name: 'gemini' },
  stream: (texts) => [...texts.map((text) => record(candidate([{ text }]))), record(candidate([{ text: '' }], 'STOP'))],
  // Arguments come complete in this wire format.
  *toolStream(pieces) {
    yield record(candidate([{ functionCall: { name: 'look', args: JSON.parse(pieces.join('')) } }], 'STOP'));
  },
  reply: (text) => candidate([{ text }], 'STOP'),
  error: (words, status) => ({ error: { code: status, message: words, status: rpcWords[status] ?? 'UNKNOWN' } }),
  errorRecord: (words) => record({ error: { code: 503, message: words, status: 'UNAVAILABLE' } }),
  headRecords: 0,
};

/** All upstream wire formats. */
export const wires: Readonly<Record<WireName, Wire>> = { messages, chat, responses, gemini };

export const wireNames: readonly WireName[] = ['messages', 'chat', 'responses', 'gemini'];

/** A provider of the wire's name at this address, for a test's configuration, and the entry that makes it speak the wire. */
export const providersAt = (url: (wire: WireName) => string) => ({
  Providers: wireNames.map((name) => ({ name, baseUrl: url(name), apiKey: 'sk-secret-canary', models: [] })),
  transformers: wireNames.map((name) => ({ ...wires[name].format, provider: name })),
});

/** The model that a request of any wire names; one of the wires has it in its path. */
export const modelOf = ({ body, url }: UpstreamRequest): string =>
  String(Object(body).model ?? decodeURIComponent(/\/models\/([^:?]+)/.exec(url)?.[1] ?? ''));

/** Whether a request of any wire asks for a stream. */
export const wantsStream = ({ body, url }: UpstreamRequest): boolean =>
  Object(body).stream === true || url.includes(':streamGenerateContent');
