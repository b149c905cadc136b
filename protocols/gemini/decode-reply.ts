import type { ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { endReply, readBody } from './read-replies.ts';
import { startState } from './reply-state.ts';

/** A whole `generateContent` reply → events. Source: Gemini API reference, "GenerateContentResponse". */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const out: ModelEvent[] = [];
  const state = startState(context);
  readBody(state, body, out);
  endReply(state, out);
  return out;
};
