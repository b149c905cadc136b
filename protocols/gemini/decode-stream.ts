import type { ModelEvent } from '../../engine/model/event.ts';
import { parseJson } from '../../engine/model/json.ts';
import { machine, type Running } from '../../engine/model/machine.ts';
import type { SseRecord } from '../../engine/model/protocol.ts';
import { readReplies } from './read-replies.ts';

/**
 * Records, each a whole reply body with the new parts, → events. The stream ends by closing. Some servers send the bodies in an
 * array, as they do without `alt=sse`. Source: Gemini API reference, "streamGenerateContent".
 */
export const decodeStream = machine<Running<ReturnType<typeof parseJson>, ModelEvent>, SseRecord, ModelEvent>({
  initial: (context) => readReplies.start(context),
  step(replies, { data }, out) {
    const value = parseJson(data);
    if (Array.isArray(value)) for (const body of value) replies.step(body, out);
    else replies.step(value, out);
  },
  end: (replies, out) => replies.end(out),
});
