import type { ModelEvent } from '../../engine/model/event.ts';
import { cutOff } from '../../engine/model/reply.ts';
import { mergeUsage } from '../../engine/model/usage.ts';
import { decodeAnnotation } from './annotation.ts';
import { type Answer, closeBlock, failAnswer, openBlock } from './answer.ts';
import { closeCalls, readCall } from './calls.ts';
import { decodeReported } from './decode-fault.ts';
import { decodeUsage, sideUsage } from './decode-usage.ts';
import { decodeFinish } from './finish.ts';
import type { Chunk, WireMessage } from './schema-reply.ts';
import { readReasoning } from './thinking.ts';

/** One chunk, or a whole reply in a chunk's form. */
export const readChunk = (answer: Answer, chunk: Chunk, out: ModelEvent[]): void => {
  const usage = chunk.usage ?? (chunk.choices?.[0]?.finish_reason ? sideUsage(chunk) : undefined);
  if (usage) answer.usage = mergeUsage(answer.usage, decodeUsage(usage));
  if (chunk.service_tier && chunk.service_tier !== answer.usage.serviceTier)
    answer.usage = { ...answer.usage, serviceTier: chunk.service_tier };
  const choice = chunk.choices?.[0];
  // A prelude of filter results and a last chunk of usage have no choices.
  if (!choice) return;
  if (!answer.started) {
    answer.started = true;
    out.push({ type: 'message-start', id: chunk.id ?? '', model: chunk.model ?? '' });
  }
  // Some servers repeat the finish; nothing that comes with or behind it is content any more.
  if (choice.delta && answer.finish === undefined) readMessage(answer, choice.delta, out);
  if (answer.done) return;
  if (choice.error !== undefined && choice.error !== null) failAnswer(answer, decodeReported(choice.error), out);
  else if (choice.finish_reason) readFinish(answer, choice.finish_reason, out);
};

/** Ends the answer: regularly where its finish was seen, else it was cut off. */
export const endAnswer = (answer: Answer, out: ModelEvent[]): void => {
  if (answer.done) return;
  if (answer.finish === undefined) {
    failAnswer(answer, cutOff, out);
    return;
  }
  closeCalls(answer, out);
  if (answer.done) return;
  closeBlock(answer, out);
  answer.done = true;
  const held = { calls: answer.calls.all.length > 0, refusal: answer.refusal };
  out.push({ type: 'message-stop', finish: decodeFinish(answer.finish, held), usage: answer.usage });
};

/** A text of this kind: goes on in the open block or opens one. Calls before it are over. */
const readText = (answer: Answer, type: 'text' | 'refusal', text: string, out: ModelEvent[]): void => {
  if (answer.open !== type) {
    closeCalls(answer, out);
    if (answer.done) return;
    openBlock(answer, { type }, out);
  }
  out.push({ type: 'text-delta', index: answer.blocks - 1, text });
};

const readMessage = (answer: Answer, message: WireMessage, out: ModelEvent[]): void => {
  readReasoning(answer, message, out);
  const content = contentText(message.content);
  if (content !== '') readText(answer, 'text', content, out);
  if (message.refusal) {
    answer.refusal = true;
    readText(answer, 'refusal', message.refusal, out);
  }
  for (const annotation of message.annotations ?? []) {
    const citation = decodeAnnotation(annotation);
    if (!citation) {
      answer.context.losses.drop('reply.annotations');
      continue;
    }
    if (answer.open !== 'text') {
      closeCalls(answer, out);
      if (answer.done) return;
      openBlock(answer, { type: 'text' }, out);
    }
    out.push({ type: 'citation-delta', index: answer.blocks - 1, citation });
  }
  if (message.images) answer.context.losses.drop('reply.images');
  if (message.audio) answer.context.losses.drop('reply.audio');
  if (message.tool_calls) for (const call of message.tool_calls) readCall(answer, call, out);
  if (message.function_call) readCall(answer, { function: message.function_call, index: -1 }, out);
};

const contentText = (content: WireMessage['content']): string => {
  if (!content) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
};

const readFinish = (answer: Answer, word: string, out: ModelEvent[]): void => {
  if (word === 'error') {
    failAnswer(answer, decodeReported({ message: 'The upstream reported an error in its answer.' }), out);
  } else if (word === 'insufficient_system_resource') {
    const message = 'The upstream broke its answer off for want of resources.';
    failAnswer(answer, { kind: 'upstream-overloaded', message, code: word }, out);
  } else answer.finish ??= word;
};
