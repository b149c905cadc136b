import { type AnswerText, answerText, deltaText, emptyStamp } from '../corpus.ts';
import { askedModel, type Wire } from '../wire.ts';

/** The words of one streamed answer: what comes before the text, a record per delta, what comes after. */
interface StreamWords {
  readonly opening: string;
  readonly delta: (text: string, index: number) => string;
  readonly closing: (text: string, deltas: number) => string;
}

/** The records of one streamed answer in a vendor's own words. */
export const streamRecords = (wire: Wire, text: AnswerText): { opening: string; deltas: string[]; closing: string } => {
  const words = streams[wire];
  const deltas = Array.from({ length: text.deltas }, (_, index) =>
    words.delta((text.stamped ? emptyStamp : '') + deltaText(index, text), index),
  );
  return { opening: words.opening, deltas, closing: closingRecords(wire, answerText(text), text.deltas) };
};

/** The last records of a stream that had this text in so many deltas. */
export const closingRecords = (wire: Wire, text: string, deltas: number): string => streams[wire].closing(text, deltas);

/** The body of an answer that isn't streamed. */
export const wholeBody = (wire: Wire, text: AnswerText): string => JSON.stringify(bodies[wire](answerText(text)));

const created = 1_763_683_200;
const named = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const chatChunk = (delta: object, finish: string | null, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-Bx7Qm2bench0001',
    object: 'chat.completion.chunk',
    created,
    model: askedModel,
    system_fingerprint: 'fp_44709d6fcb',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
    ...more,
  })}\n\n`;

const chatUsage = { prompt_tokens: 320, completion_tokens: 100, total_tokens: 420 };
const messagesUsage = { input_tokens: 320, output_tokens: 100 };
const geminiUsage = { promptTokenCount: 320, candidatesTokenCount: 100, totalTokenCount: 420 };
const responsesUsage = { input_tokens: 320, output_tokens: 100, total_tokens: 420 };

const itemId = 'msg_68af4030bench0001';
const responsesItem = (text: string, status: string) => ({
  id: itemId,
  type: 'message',
  status,
  role: 'assistant',
  content: status === 'completed' ? [{ type: 'output_text', text, annotations: [], logprobs: [] }] : [],
});
const response = (status: string, output: readonly object[], usage: object | null) => ({
  id: 'resp_68af4030bench0001',
  object: 'response',
  created_at: created,
  status,
  error: null,
  incomplete_details: null,
  model: askedModel,
  output,
  parallel_tool_calls: true,
  tools: [],
  usage,
});
const place = { item_id: itemId, output_index: 0, content_index: 0 };

const geminiReply = (text: string, more: object): object => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
  usageMetadata: geminiUsage,
  modelVersion: askedModel,
  responseId: 'bench0001',
});

const streams: Readonly<Record<Wire, StreamWords>> = {
  chat: {
    opening: chatChunk({ role: 'assistant', content: '', refusal: null }, null),
    delta: (content) => chatChunk({ content }, null),
    closing: () => `${chatChunk({}, 'stop')}${chatChunk({}, null, { choices: [], usage: chatUsage })}data: [DONE]\n\n`,
  },
  messages: {
    opening:
      named('message_start', {
        message: {
          id: 'msg_01bench0001',
          type: 'message',
          role: 'assistant',
          model: askedModel,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...messagesUsage, output_tokens: 1 },
        },
      }) +
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      named('ping'),
    delta: (text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    closing: () =>
      named('content_block_stop', { index: 0 }) +
      named('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 100 },
      }) +
      named('message_stop'),
  },
  responses: {
    opening:
      named('response.created', { response: response('in_progress', [], null), sequence_number: 0 }) +
      named('response.in_progress', { response: response('in_progress', [], null), sequence_number: 1 }) +
      named('response.output_item.added', {
        output_index: 0,
        item: responsesItem('', 'in_progress'),
        sequence_number: 2,
      }) +
      named('response.content_part.added', {
        ...place,
        part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
        sequence_number: 3,
      }),
    delta: (delta, index) =>
      named('response.output_text.delta', { ...place, delta, logprobs: [], sequence_number: 4 + index }),
    closing: (text, deltas) =>
      named('response.output_text.done', { ...place, text, logprobs: [], sequence_number: 4 + deltas }) +
      named('response.content_part.done', {
        ...place,
        part: { type: 'output_text', text, annotations: [], logprobs: [] },
        sequence_number: 5 + deltas,
      }) +
      named('response.output_item.done', {
        output_index: 0,
        item: responsesItem(text, 'completed'),
        sequence_number: 6 + deltas,
      }) +
      named('response.completed', {
        response: response('completed', [responsesItem(text, 'completed')], responsesUsage),
        sequence_number: 7 + deltas,
      }),
  },
  gemini: {
    opening: '',
    delta: (text) => `data: ${JSON.stringify(geminiReply(text, {}))}\r\n\r\n`,
    closing: () => `data: ${JSON.stringify(geminiReply('', { finishReason: 'STOP' }))}\r\n\r\n`,
  },
};

const bodies: Readonly<Record<Wire, (text: string) => object>> = {
  chat: (content) => ({
    id: 'chatcmpl-Bx7Qm2bench0001',
    object: 'chat.completion',
    created,
    model: askedModel,
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: chatUsage,
    system_fingerprint: 'fp_44709d6fcb',
  }),
  messages: (text) => ({
    id: 'msg_01bench0001',
    type: 'message',
    role: 'assistant',
    model: askedModel,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: messagesUsage,
  }),
  responses: (text) => response('completed', [responsesItem(text, 'completed')], responsesUsage),
  gemini: (text) => geminiReply(text, { finishReason: 'STOP' }),
};
