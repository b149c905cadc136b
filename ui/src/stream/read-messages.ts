import type { JsonObject } from '../api/json.ts';
import type { AnswerBuilder, GrowingPart } from './answer-builder.ts';
import { countAt, objectAt, objectsAt, textAt, wordsOf } from './wire-value.ts';

/** Reads one event of a Messages stream. Source: Messages API reference, "Streaming". */
export const readMessagesEvent = (answer: AnswerBuilder, event: JsonObject): void => {
  const key = String(event.index);
  switch (event.type) {
    case 'message_start': {
      const message = objectAt(event, 'message');
      answer.model = textAt(message, 'model') || undefined;
      answer.count(usageIn(message));
      break;
    }
    case 'content_block_start':
      beginBlock(answer, key, objectAt(event, 'content_block'));
      break;
    case 'content_block_delta':
      readDelta(answer, key, objectAt(event, 'delta'));
      break;
    case 'message_delta':
      answer.finish = textAt(objectAt(event, 'delta'), 'stop_reason') || answer.finish;
      answer.count(usageIn(event));
      break;
    case 'message_stop':
      answer.ended = true;
      break;
    case 'error':
      answer.fault = wordsOf(event.error);
      break;
  }
};

/** Reads a message that isn't streamed. */
export const readMessagesReply = (answer: AnswerBuilder, message: JsonObject): void => {
  answer.model = textAt(message, 'model') || undefined;
  answer.finish = textAt(message, 'stop_reason') || undefined;
  answer.count(usageIn(message));
  for (const [at, block] of objectsAt(message, 'content').entries()) beginBlock(answer, String(at), block);
  answer.ended = true;
};

const beginBlock = (answer: AnswerBuilder, key: string, block: JsonObject): void => {
  answer.part(key, blockPart(block));
  const input = objectAt(block, 'input');
  // In a stream, this is an empty object and the input follows in pieces.
  if (Object.keys(input).length > 0) answer.add(key, 'tool', JSON.stringify(input));
};

/** A content block as a part; a tool call's input isn't read. */
export const blockPart = (block: JsonObject): GrowingPart => {
  const type = textAt(block, 'type');
  if (type === 'text') return { type, text: textAt(block, 'text') };
  if (type === 'thinking') return { type, text: textAt(block, 'thinking') };
  return type.endsWith('tool_use')
    ? { type: 'tool', name: textAt(block, 'name'), id: textAt(block, 'id'), input: '' }
    : { type: 'other', name: type };
};

const readDelta = (answer: AnswerBuilder, key: string, delta: JsonObject): void => {
  if (delta.type === 'text_delta') answer.add(key, 'text', textAt(delta, 'text'));
  else if (delta.type === 'thinking_delta') answer.add(key, 'thinking', textAt(delta, 'thinking'));
  else if (delta.type === 'input_json_delta') answer.add(key, 'tool', textAt(delta, 'partial_json'));
};

const usageIn = (value: JsonObject) => {
  const usage = objectAt(value, 'usage');
  return {
    ...countAt(usage, 'input_tokens', 'input'),
    ...countAt(usage, 'output_tokens', 'output'),
    ...countAt(usage, 'cache_read_input_tokens', 'cacheRead'),
    ...countAt(usage, 'cache_creation_input_tokens', 'cacheWrite'),
    ...countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens', 'reasoning'),
  };
};
