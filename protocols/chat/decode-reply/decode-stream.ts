import { isSingleDelta, type ModelEvent, mergeUsage, type Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { machine } from '../../../engine/model/machine.ts';
import type { StreamEnd } from '../../../engine/model/protocol.ts';
import { cutOffAfter } from '../../../engine/model/reply.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { errorIn } from '../../../engine/model/upstream-error/error-in.ts';
import { isBlank } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { decodeCitation } from '../citations.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import { decodeFinish, decodeUsage, nativeFailure, nestedUsage, overflowWords } from '../reply-end.ts';
import { Chunk, type WireMessage, type WireUsage } from '../schema-reply.ts';
import { readReasoning } from './read-reasoning.ts';
import { areWhole, closeCalls, readCall } from './read-tool-calls.ts';
import { closeBlock, failReply, newReplyState, openBlock, type ReplyState } from './reply-state.ts';

/** Reads one chunk, or a whole reply in the form of a chunk. */
export const readChunk = (state: ReplyState, chunk: Chunk, out: ModelEvent[]): void => {
  const usage = countsIn(chunk);
  if (usage) state.usage = mergeUsage(state.usage, decodeUsage(usage));
  if (chunk.service_tier && chunk.service_tier !== state.usage.serviceTier)
    state.usage = { ...state.usage, serviceTier: chunk.service_tier };
  const choice = chunk.choices?.[0];
  // A first chunk with filter results and a last one with usage have no choices.
  if (!choice) return;
  if (!state.started) {
    state.started = true;
    out.push({ type: 'message-start', id: chunk.id ?? '', model: chunk.model ?? '' });
  }
  // Some servers repeat the finish reason; later content is ignored.
  if (choice.delta && state.finish === undefined) readMessage(state, choice.delta, out);
  if (state.done) return;
  if (choice.error !== undefined && choice.error !== null) failReply(state, decodeReportedFault(choice.error), out);
  else if (choice.finish_reason) readFinish(state, choice.finish_reason, choice.native_finish_reason, out);
};

const countsIn = (chunk: Chunk): WireUsage | undefined => {
  const choice = chunk.choices?.[0];
  return chunk.usage ?? choice?.usage ?? (choice?.finish_reason ? nestedUsage(chunk) : undefined);
};

/** Ends the reply: normally after a finish reason, otherwise as cut off. */
export const endReply = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.done) return;
  if (state.finish === undefined) {
    failReply(state, cutOffAfter(state.said, decodeReportedFault), out);
    return;
  }
  if (state.calls.all.length > 0) closeCalls(state, out);
  if (state.done) return;
  closeBlock(state, out);
  state.done = true;
  const held = { calls: state.calls.all.length > 0, refusal: state.refusal };
  out.push({ type: 'message-stop', finish: decodeFinish(state.finish, held), usage: state.usage });
};

/**
 * Ends the reply at the terminal record. Some servers send no finish reason: then the answer is complete if its calls are. Source: issues of
 * agents on NIM and on hosts that relay others.
 */
const endAtTerminal = (state: ReplyState, out: ModelEvent[]): void => {
  const { started, finish, said, calls, context } = state;
  if (finish === undefined && started && said === '') {
    if (!areWhole(calls)) {
      failReply(state, unfinishedCall, out);
      return;
    }
    context.losses.approximate('reply.finish_reason', 'the upstream sent none');
    state.finish = calls.all.length > 0 ? 'tool_calls' : 'stop';
  }
  endReply(state, out);
};

const unfinishedCall = {
  kind: 'upstream-cut',
  message: 'The upstream ended its answer within a tool call.',
} as const;

/** Appends text to the open block of this type, or opens one. Ends the calls before it. */
const readText = (state: ReplyState, type: 'text' | 'refusal', text: string, out: ModelEvent[]): void => {
  if (text === '') return;
  if (state.open !== type) {
    if (state.calls.all.length > 0) closeCalls(state, out);
    if (state.done) return;
    openBlock(state, { type }, out);
  }
  out.push({ type: 'text-delta', index: state.blocks - 1, text });
};

const readMessage = (state: ReplyState, message: WireMessage, out: ModelEvent[]): void => {
  const { reasoning_content, reasoning, reasoning_text, thinking, reasoning_details } = message;
  if (reasoning_content || reasoning || reasoning_text || thinking || reasoning_details)
    readReasoning(state, message, out);
  const { content } = message;
  if (typeof content === 'string') readText(state, 'text', content, out);
  else if (content) readParts(state, content, out);
  if (message.refusal) {
    state.refusal = true;
    readText(state, 'refusal', message.refusal, out);
  }
  for (const annotation of message.annotations ?? []) {
    const citation = decodeCitation(annotation);
    if (!citation) {
      state.context.losses.drop('reply.annotations');
      continue;
    }
    if (state.open !== 'text') {
      closeCalls(state, out);
      if (state.done) return;
      openBlock(state, { type: 'text' }, out);
    }
    out.push({ type: 'citation-delta', index: state.blocks - 1, citation });
  }
  if (message.images) state.context.losses.drop('reply.images');
  if (message.audio) state.context.losses.drop('reply.audio');
  if (message.tool_calls) for (const call of message.tool_calls) readCall(state, call, out);
  if (message.function_call) readCall(state, { function: message.function_call, index: -1 }, out);
};

/** Reads a list of parts, or one part. A part of an unknown kind is a loss. */
const readParts = (state: ReplyState, content: unknown, out: ModelEvent[]): void => {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === 'string') readText(state, 'text', part, out);
    else if (isJsonObject(part)) readPart(state, part, out);
    else state.context.losses.drop('reply.content');
    if (state.done) return;
  }
};

const readPart = (state: ReplyState, part: JsonObject, out: ModelEvent[]): void => {
  const { type, text, refusal } = part;
  if (type === 'thinking' || type === 'reasoning') readReasoning(state, { reasoning: part }, out);
  else if (typeof text === 'string' && (type === undefined || textTypes.has(type))) readText(state, 'text', text, out);
  else if (type === 'refusal' && typeof refusal === 'string') {
    state.refusal = true;
    readText(state, 'refusal', refusal, out);
  } else
    state.context.losses.drop('reply.content', typeof type === 'string' ? `a part of the type ${type}` : undefined);
};

const textTypes: ReadonlySet<unknown> = new Set(['text', 'output_text', null]);

const readFinish = (state: ReplyState, word: string, native: unknown, out: ModelEvent[]): void => {
  const failed = nativeFailure(native);
  if (failed !== undefined) {
    failReply(state, { kind: 'upstream-error', message: `The model failed with ${failed}.`, code: failed }, out);
  } else if (failureWords.has(word)) {
    failReply(state, decodeReportedFault({ message: 'The upstream reported an error in its answer.' }), out);
  } else if (word === 'insufficient_system_resource') {
    const message = 'The upstream aborted its answer for lack of resources.';
    failReply(state, { kind: 'upstream-overloaded', message, code: word }, out);
  } else if (overflowWords.has(word) && state.blocks === 0) {
    const message = 'The prompt and the answer exceed the context window of the model.';
    failReply(state, { kind: 'upstream-context', message, code: word }, out);
  } else state.finish ??= word;
};

/** The error inside a chunk, or inside a reply with a success status; `undefined` without one. */
export const reportedError = (body: JsonObject): Json | undefined =>
  isPlain(body) ? undefined : errorIn(body, 'choices');

/** As nearly all are: with content, and without a member of an error. */
const isPlain = ({ choices, error, object, type, base_resp }: JsonObject): boolean =>
  Array.isArray(choices) && !error && base_resp === undefined && object !== 'error' && type !== 'error';

const chunkReader = lenientReader(Chunk);

/**
 * Decodes `chat.completion.chunk` records. Usage follows the finish reason, so `message-stop` waits for `[DONE]` or
 * the end; an end without a finish reason means cut off. Source: OpenAI API reference, "Chat streaming"; recordings
 * of compatible servers.
 */
export const decodeStream = machine<ReplyState, SseRecord, ModelEvent>({
  initial: newReplyState,
  step(state, { event, data, outside }, out) {
    if (state.done || data === '') return;
    if (outside === 'text') {
      state.said = data;
      return;
    }
    if (isDone(data)) return endAtTerminal(state, out);
    state.said = '';
    const known = event === '' ? state.deltaParser.read(data) : undefined;
    if (known) return readChunk(state, known, out);
    const parsed = parseJson(data);
    if (isBlank(parsed)) return;
    const record: Json | undefined = Array.isArray(parsed) ? parsed[0] : parsed;
    if (event === 'error')
      return failReply(state, decodeReportedFault(isJsonObject(record) ? (record.error ?? record) : data), out);
    const error = isJsonObject(record) ? reportedError(record) : undefined;
    if (error !== undefined) return failReply(state, decodeReportedFault(error), out);
    if (isJsonObject(record) && chunkReader.matches(record)) {
      const before = out.length;
      readChunk(state, record, out);
      if (isSingleDelta(out, before)) state.deltaParser.learn(data, record);
      return;
    }
    const chunk = chunkReader.readable(record);
    if (chunk) return readChunk(state, chunk, out);
    const first = chunkReader.faults(record)[0];
    const what =
      record === undefined ? 'it is not JSON' : `${first?.path ?? ''} ${first?.message ?? 'is invalid'}`.trim();
    failReply(
      state,
      { kind: 'upstream-garbled', message: `The upstream sent a chunk that can't be read: ${what}.` },
      out,
    );
  },
  end: endReply,
  settled: ({ done, finish }) => !done && finish !== undefined,
});

/** Finish reasons of an answer that failed. */
const failureWords: ReadonlySet<unknown> = new Set(['error', 'network_error']);

/** Whether a record reports a failure: as an error, or as the reason why the answer ended. */
export const isFailure = ({ event, data }: SseRecord): boolean => {
  if (event === 'error') return true;
  const chunk = parseJson(data);
  if (!isJsonObject(chunk)) return false;
  if (reportedError(chunk) !== undefined) return true;
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  if (!isJsonObject(choice)) return false;
  const { error, finish_reason: word, native_finish_reason: native } = choice;
  return isJsonObject(error) || failureWords.has(word) || nativeFailure(native) !== undefined;
};

const isDone = (data: string): boolean => data.length < 16 && data.trim() === '[DONE]';

/** Whether a record holds the usage alone. */
export const isUsageRecord = ({ data }: SseRecord): boolean => {
  const chunk = parseJson(data);
  if (!isJsonObject(chunk) || !isJsonObject(chunk.usage)) return false;
  return Array.isArray(chunk.choices) && chunk.choices.length === 0;
};

/** The usage in a chunk, or in a whole reply or its end. */
export const usageIn = (body: JsonObject): Usage | undefined => {
  const chunk = chunkReader.readable(body);
  const counts = chunk && countsIn(chunk);
  const serviceTier = chunk?.service_tier;
  return { ...(counts && decodeUsage(counts)), ...(serviceTier && { serviceTier }) };
};

/** How a record ends its stream: `[DONE]` and an error end it; usage may follow the finish reason. */
export const readEnd = ({ event, data }: SseRecord): StreamEnd | undefined => {
  if (event === 'error' || isDone(data)) return 'end';
  const chunk = parseJson(data);
  if (!isJsonObject(chunk)) return undefined;
  const error = reportedError(chunk);
  if (error !== undefined) return error === chunk.error ? 'end' : 'fault';
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  if (!isJsonObject(choice)) return undefined;
  if (isJsonObject(choice.error)) return 'end';
  return typeof choice.finish_reason === 'string' && choice.finish_reason !== '' ? 'finish' : undefined;
};
