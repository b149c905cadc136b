import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { readError } from '../../../engine/model/upstream-error/read-error.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import { reportedError } from './decode-stream.ts';
import { finish, newReplyState, readEnd, startBlock, startMessage, stopBlock } from './reply-state.ts';

/** Decodes a whole reply into the events of an equivalent stream. */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const { id, type, role, model, content, usage, ...end } = body;
  const error = reportedError(body);
  if (error !== undefined) return [{ type: 'error', fault: decodeReportedFault(error) }];
  if (!Array.isArray(content)) {
    return [readError(body).message === '' ? garbled : { type: 'error', fault: decodeReportedFault(body) }];
  }
  const out: ModelEvent[] = [];
  const state = newReplyState(context);
  startMessage(state, { id, model, usage }, out);
  for (const block of content) {
    if (isJsonObject(block)) startBlock(state, block, out);
  }
  stopBlock(state, out);
  readEnd(state, { delta: end });
  finish(state, out);
  return out;
};

const garbled: ModelEvent = {
  type: 'error',
  fault: { kind: 'upstream-garbled', message: "The upstream's answer can't be read: it isn't a message." },
};
