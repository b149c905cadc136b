import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { endReply, readBody } from './decode-stream.ts';
import { newReplyState } from './reply-state.ts';

/** Decodes a whole `generateContent` reply. Source: Gemini API reference, "GenerateContentResponse". */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const out: ModelEvent[] = [];
  const state = newReplyState(context);
  readBody(state, body, out);
  endReply(state, out);
  return out;
};
