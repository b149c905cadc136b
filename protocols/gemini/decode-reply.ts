import type { ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import { runWhole } from '../../engine/model/machine.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { readReplies } from './read-replies.ts';

/** A whole `generateContent` reply → events. Source: Gemini API reference, "GenerateContentResponse". */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] =>
  runWhole(readReplies, context, [body]);
