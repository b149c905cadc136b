import type { ModelEvent } from '../../engine/model/event.ts';
import type { Fault } from '../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json.ts';
import { cutOff } from '../../engine/model/reply.ts';
import { wireFormat } from './call-id.ts';
import { groundedBytes } from './citations.ts';
import { reportedFault } from './faults.ts';
import { decodeFinish } from './finish.ts';
import { readPart } from './read-part.ts';
import { closeBlock } from './reply-blocks.ts';
import type { ReplyState } from './reply-state.ts';
import { type Candidate, type GenerateContentResponse, responseReader } from './schema.ts';
import { decodePromptUsage, decodeUsage } from './usage.ts';

/**
 * A body, a whole reply or a step of a stream. Blocks are held open until something else comes, since text goes on in the next
 * body and its sources come last. The body is returned if it is one that can be read.
 */
export const readBody = (
  state: ReplyState,
  body: Json | undefined,
  out: ModelEvent[],
): (JsonObject & GenerateContentResponse) | undefined => {
  if (state.done) return undefined;
  if (isJsonObject(body) && isJsonObject(body.error)) failWith(state, out, reportedFault(body.error));
  else if (!isJsonObject(body) || !responseReader.matches(body)) failWith(state, out, garbled);
  else {
    readResponse(state, body, out);
    return body;
  }
  return undefined;
};

/** A body that is known to be one. */
export const readResponse = (state: ReplyState, body: GenerateContentResponse, out: ModelEvent[]): void => {
  if (state.done) return;
  if (!state.started) start(state, body, out);
  if (body.usageMetadata) state.usage = body.usageMetadata;
  if (body.promptFeedback?.blockReason) state.promptFeedback = body.promptFeedback;
  const candidate = body.candidates?.[0];
  if (candidate) readCandidate(state, candidate, out);
};

/** The end of the answer: `message-stop` waits for it, since finish reasons and counts come late. */
export const endReply = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.done) return;
  const finish = state.finish ?? (state.promptFeedback ? 'filtered' : undefined);
  if (!finish) {
    failWith(state, out, cutOff);
    return;
  }
  closeBlock(state, out);
  const { usage, grounding, citedBytes, promptFeedback, context } = state;
  if (grounding && groundedBytes(grounding) > citedBytes) context.losses.drop('groundingMetadata', 'no text to cite');
  out.push({
    type: 'message-stop',
    finish: state.calls > 0 && finish !== 'length' ? 'tool-call' : finish,
    usage: decodeUsage(usage, grounding),
    extra: promptFeedback ? { wire: wireFormat, fields: { promptFeedback: { ...promptFeedback } } } : undefined,
  });
};

const garbled: Fault = {
  kind: 'upstream-garbled',
  message: "The upstream sent something that can't be read as a reply.",
};

const failWith = (state: ReplyState, out: ModelEvent[], fault: Fault): void => {
  state.done = true;
  out.push({ type: 'error', fault });
};

const start = (state: ReplyState, body: GenerateContentResponse, out: ModelEvent[]): void => {
  state.started = true;
  const { responseId, modelVersion, usageMetadata } = body;
  out.push({
    type: 'message-start',
    id: responseId ?? '',
    model: modelVersion || state.context.model,
    usage: usageMetadata ? decodePromptUsage(usageMetadata) : undefined,
  });
};

const readCandidate = (state: ReplyState, candidate: Candidate, out: ModelEvent[]): void => {
  for (const part of candidate.content?.parts ?? []) readPart(state, part, out);
  if (candidate.groundingMetadata) state.grounding = candidate.groundingMetadata;
  const word = candidate.finishReason;
  if (!word || state.finish) return;
  state.finish = decodeFinish(word);
  if (state.finish) return;
  const detail = candidate.finishMessage ? `: ${candidate.finishMessage}` : '.';
  failWith(state, out, { kind: 'upstream-error', message: `The model failed with ${word}${detail}`, code: word });
};
