import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { decodeError } from './decode-fault.ts';
import { finish, noteEnd, replyState, startBlock, startMessage, stopBlock } from './read-reply.ts';

/** A whole reply body → the events that a stream of it would give. */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const { id, type, role, model, content, usage, ...end } = body;
  if (type === 'error' || isJsonObject(body.error)) return [{ type: 'error', fault: decodeError(body.error) }];
  if (!Array.isArray(content)) return [garbled];
  const out: ModelEvent[] = [];
  const state = replyState(context);
  startMessage(state, { id, model, usage }, out);
  for (const block of content) {
    if (isJsonObject(block)) startBlock(state, block, out);
  }
  stopBlock(state, out);
  noteEnd(state, { delta: end });
  finish(state, out);
  return out;
};

const garbled: ModelEvent = {
  type: 'error',
  fault: { kind: 'upstream-garbled', message: "The upstream's answer can't be read: it is no message." },
};
