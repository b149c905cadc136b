import type { JsonObject } from '../api/json.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { countAt, objectAt, objectsAt, textAt, wordsOf } from './wire-value.ts';

/** Reads one chunk of a Chat Completions stream. Source: Chat Completions API reference, "Streaming". */
export const readChatChunk = (answer: AnswerBuilder, chunk: JsonObject): void => {
  if (chunk.error) answer.fault = wordsOf(chunk.error);
  takeHead(answer, chunk);
  const [choice] = objectsAt(chunk, 'choices');
  if (!choice) return;
  readSaid(answer, objectAt(choice, 'delta'));
  answer.finish = textAt(choice, 'finish_reason') || answer.finish;
};

/** Reads a completion that isn't streamed. */
export const readChatReply = (answer: AnswerBuilder, reply: JsonObject): void => {
  takeHead(answer, reply);
  const choice = objectsAt(reply, 'choices')[0] ?? {};
  readSaid(answer, objectAt(choice, 'message'));
  answer.finish = textAt(choice, 'finish_reason') || undefined;
  answer.ended = true;
};

/** A chunk's delta and a whole message have the same fields. */
export const readSaid = (answer: AnswerBuilder, said: JsonObject): void => {
  answer.add('thinking', 'thinking', textAt(said, 'reasoning_content') || textAt(said, 'reasoning'));
  answer.add('text', 'text', textAt(said, 'content'));
  answer.add('refusal', 'text', textAt(said, 'refusal'));
  for (const [at, call] of objectsAt(said, 'tool_calls').entries()) readCall(answer, call, at);
};

const readCall = (answer: AnswerBuilder, call: JsonObject, at: number): void => {
  const key = `call ${call.index ?? at}`;
  const asked = objectAt(call, 'function');
  const part = answer.part(key, { type: 'tool', name: '', id: '', input: '' });
  if (part.type === 'tool') {
    part.name += textAt(asked, 'name');
    part.id ||= textAt(call, 'id');
  }
  answer.add(key, 'tool', textAt(asked, 'arguments'));
};

const takeHead = (answer: AnswerBuilder, value: JsonObject): void => {
  answer.model ??= textAt(value, 'model') || undefined;
  const usage = objectAt(value, 'usage');
  answer.count({
    ...countAt(usage, 'prompt_tokens', 'input'),
    ...countAt(usage, 'completion_tokens', 'output'),
    ...countAt(objectAt(usage, 'prompt_tokens_details'), 'cached_tokens', 'cacheRead'),
    ...countAt(objectAt(usage, 'completion_tokens_details'), 'reasoning_tokens', 'reasoning'),
  });
};
