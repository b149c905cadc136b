import { isSingleDelta, type ModelEvent } from '../../../engine/model/event.ts';
import type { Fault } from '../../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { machine } from '../../../engine/model/machine.ts';
import { cutOffAfter } from '../../../engine/model/reply.ts';
import { errorIn } from '../../../engine/model/upstream-error/error-in.ts';
import { isBlank } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { indexGrounding } from '../citations.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import { decodeFinish, decodePromptUsage, decodeUsage } from '../reply-end.ts';
import { type Candidate, type GenerateContentResponse, responseReader } from '../schema-reply.ts';
import { wireFormat } from '../tool-names.ts';
import { readPart } from './read-part.ts';
import { closeBlock, newReplyState, type ReplyState } from './reply-state.ts';

/**
 * Reads a body: a whole reply or a chunk of a stream. Blocks stay open until other content arrives, since text
 * continues in the next body and its sources come last. Returns the body if it is valid.
 */
export const readBody = (
  state: ReplyState,
  body: Json | undefined,
  out: ModelEvent[],
): (JsonObject & GenerateContentResponse) | undefined => {
  if (state.done || isBlank(body)) return undefined;
  const error = isJsonObject(body) ? errorIn(body, 'candidates') : undefined;
  if (error !== undefined) failWith(state, out, decodeReportedFault(isJsonObject(error) ? error : { message: error }));
  else if (isJsonObject(body) && responseReader.matches(body)) {
    readResponse(state, body, out);
    return body;
  } else {
    const readable = responseReader.readable(body);
    if (readable) readResponse(state, readable, out);
    else failWith(state, out, garbled);
  }
  return undefined;
};

/** Reads a body that is known to be valid. */
const readResponse = (state: ReplyState, body: GenerateContentResponse, out: ModelEvent[]): void => {
  if (state.done) return;
  if (!state.started) start(state, body, out);
  if (body.usageMetadata) state.usage = body.usageMetadata;
  if (body.promptFeedback?.blockReason) state.promptFeedback = body.promptFeedback;
  const candidate = body.candidates?.[0];
  if (candidate) readCandidate(state, candidate, out);
};

/** Ends the reply: `message-stop` waits for it, since finish reasons and counts come late. */
export const endReply = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.done) return;
  const finish = state.finish ?? (state.promptFeedback ? 'filtered' : undefined);
  if (!finish) {
    failWith(state, out, cutOffAfter(state.said, decodeReportedFault));
    return;
  }
  closeBlock(state, out);
  const { usage, grounding, citedBytes, promptFeedback, context } = state;
  if (grounding && grounding.bytes > citedBytes) context.losses.drop('groundingMetadata', 'no text to cite');
  out.push({
    type: 'message-stop',
    finish: state.calls > 0 && finish !== 'length' ? 'tool-call' : finish,
    usage: decodeUsage(usage, grounding?.metadata),
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
  if (candidate.groundingMetadata) state.grounding = indexGrounding(candidate.groundingMetadata);
  const word = candidate.finishReason;
  if (!word || state.finish) return;
  state.finish = decodeFinish(word);
  if (state.finish) return;
  const detail = candidate.finishMessage ? `: ${candidate.finishMessage}` : '.';
  failWith(state, out, { kind: 'upstream-error', message: `The model failed with ${word}${detail}`, code: word });
};

/**
 * Decodes records, each a reply body with new parts. The stream ends by closing. Some servers send the bodies in an
 * array, as without `alt=sse`. Source: Gemini API reference, "streamGenerateContent".
 */
export const decodeStream = machine<ReplyState, SseRecord, ModelEvent>({
  initial: newReplyState,
  step(state, { data, outside }, out) {
    if (data === '') return;
    if (outside === 'text') {
      state.said = data;
      return;
    }
    // Some servers end with the record of another format.
    if (state.done || data.trim() === '[DONE]') return;
    state.said = '';
    const known = state.deltaParser.read(data);
    if (known) {
      readResponse(state, known, out);
      return;
    }
    const value = parseJson(data);
    if (isList(value)) for (const body of value) readBody(state, body, out);
    else readNew(state, data, value, out);
  },
  end: endReply,
  settled: ({ done, finish, promptFeedback }) => !done && (finish ?? promptFeedback) !== undefined,
});

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const readNew = (state: ReplyState, data: string, value: Json | undefined, out: ModelEvent[]): void => {
  const before = out.length;
  const body = readBody(state, value, out);
  if (body && isSingleDelta(out, before)) state.deltaParser.learn(data, body);
};
