import type { JsonObject } from '../api/json.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { countAt, objectAt, objectsAt, textAt, wordsOf } from './wire-value.ts';

/** Reads one event of a Responses stream. Source: Responses API reference, "Streaming events". */
export const readResponsesEvent = (answer: AnswerBuilder, event: JsonObject): void => {
  const type = textAt(event, 'type');
  const piece = textAt(event, 'delta');
  switch (type) {
    case 'response.created':
      answer.model = textAt(objectAt(event, 'response'), 'model') || undefined;
      break;
    case 'response.output_item.added':
      beginItem(answer, String(event.output_index), objectAt(event, 'item'));
      break;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      answer.add(contentKey(event), 'text', piece);
      break;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      answer.add(contentKey(event), 'thinking', piece);
      break;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      answer.add(String(event.output_index), 'tool', piece);
      break;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      endWith(answer, objectAt(event, 'response'));
      break;
    case 'error':
      answer.fault = wordsOf(event.error ?? event);
      break;
  }
};

/** Reads a response that isn't streamed. */
export const readResponsesReply = (answer: AnswerBuilder, response: JsonObject): void => {
  answer.model = textAt(response, 'model') || undefined;
  for (const [at, item] of objectsAt(response, 'output').entries()) readItem(answer, String(at), item);
  endWith(answer, response);
};

/** Reads a whole item of the model's output. */
export const readItem = (answer: AnswerBuilder, key: string, item: JsonObject): void => {
  beginItem(answer, key, item);
  answer.add(key, 'tool', textAt(item, 'arguments') || (item.type === 'custom_tool_call' ? textAt(item, 'input') : ''));
  for (const [index, part] of objectsAt(item, 'summary').entries()) {
    answer.add(`${key} summary ${index}`, 'thinking', textAt(part, 'text'));
  }
  for (const [index, part] of objectsAt(item, 'content').entries()) {
    const said = item.type === 'reasoning' ? 'thinking' : 'text';
    answer.add(`${key} content ${index}`, said, textAt(part, 'text') || textAt(part, 'refusal'));
  }
};

const contentKey = (event: JsonObject): string =>
  event.summary_index === undefined
    ? `${event.output_index} content ${event.content_index}`
    : `${event.output_index} summary ${event.summary_index}`;

/** Text and thinking are parts of an item and begin with their first piece. */
const beginItem = (answer: AnswerBuilder, key: string, item: JsonObject): void => {
  const type = textAt(item, 'type');
  if (type === 'message' || type === 'reasoning') return;
  if (type === 'function_call' || type === 'custom_tool_call') {
    answer.part(key, { type: 'tool', name: textAt(item, 'name'), id: textAt(item, 'call_id'), input: '' });
  } else {
    answer.part(key, { type: 'other', name: type });
  }
};

const endWith = (answer: AnswerBuilder, response: JsonObject): void => {
  const reason = textAt(objectAt(response, 'incomplete_details'), 'reason');
  const status = textAt(response, 'status');
  answer.finish = reason ? `${status}: ${reason}` : status || undefined;
  answer.ended = true;
  if (response.error) answer.fault = wordsOf(response.error);
  const usage = objectAt(response, 'usage');
  answer.count({
    ...countAt(usage, 'input_tokens', 'input'),
    ...countAt(usage, 'output_tokens', 'output'),
    ...countAt(objectAt(usage, 'input_tokens_details'), 'cached_tokens', 'cacheRead'),
    ...countAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens', 'reasoning'),
  });
};
