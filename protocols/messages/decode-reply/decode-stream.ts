import { isSingleDelta, type ModelEvent } from '../../../engine/model/event.ts';
import type { Fault } from '../../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { machine } from '../../../engine/model/machine.ts';
import { cutOffAfter } from '../../../engine/model/reply.ts';
import { errorIn } from '../../../engine/model/upstream-error/error-in.ts';
import { isBlank } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import {
  continueBlock,
  finish,
  newReplyState,
  type ReplyState,
  readEnd,
  startBlock,
  startMessage,
  stopBlock,
} from './reply-state.ts';

/**
 * Decodes the records of a streamed reply. Lenient: unknown events and deltas are skipped, missing stops are added.
 * Source: Anthropic API reference, "Streaming Messages".
 */
export const decodeStream = machine<ReplyState, SseRecord, ModelEvent>({
  initial: newReplyState,
  step(state, { data, outside }, out) {
    if (state.done || data === '') return;
    if (outside === 'text') {
      state.said = data;
      return;
    }
    state.said = '';
    // An opaque block keeps its records unchanged.
    const known = state.open === 'opaque' ? undefined : state.deltaParser.read(data);
    const record = known ?? parseJson(data);
    if (isBlank(record)) return;
    const error = isJsonObject(record) && !known ? reportedError(record) : undefined;
    if (!isJsonObject(record)) fault(state, garbled, out);
    else if (error !== undefined) fault(state, decodeReportedFault(error), out);
    else {
      const before = out.length;
      readRecord(state, record, out);
      if (!known && isSingleDelta(out, before)) state.deltaParser.learn(data, record);
    }
  },
  end(state, out) {
    if (!state.done) fault(state, cutOffAfter(state.said, decodeReportedFault), out);
  },
});

/** The error in a record, or in a reply with a success status. Records with content have a type. */
export const reportedError = (body: JsonObject): Json | undefined =>
  errorIn(body, typeof body.type === 'string' ? 'type' : 'content');

const garbled: Fault = { kind: 'upstream-garbled', message: "The upstream's stream can't be read: it isn't JSON." };

const mixed: Fault = { kind: 'upstream-garbled', message: "The upstream's stream mixes the blocks of its answer." };

const readRecord = (state: ReplyState, record: JsonObject, out: ModelEvent[]): void => {
  switch (record.type) {
    case 'message_start':
      if (isJsonObject(record.message)) startMessage(state, record.message, out);
      return;
    case 'content_block_start':
      if (isJsonObject(record.content_block)) startBlock(state, record.content_block, out);
      state.wireIndex = record.index;
      return;
    case 'content_block_delta':
      if (!isJsonObject(record.delta)) return;
      // Arguments added to the wrong call would be a silent error.
      if (record.delta.type === 'input_json_delta' && record.index !== state.wireIndex) fault(state, mixed, out);
      else continueBlock(state, record.delta, out);
      return;
    case 'content_block_stop':
      stopBlock(state, out);
      return;
    case 'message_delta':
      readEnd(state, record);
      return;
    case 'message_stop':
      finish(state, out);
  }
};

const fault = (state: ReplyState, what: Fault, out: ModelEvent[]): void => {
  state.done = true;
  out.push({ type: 'error', fault: what });
};
