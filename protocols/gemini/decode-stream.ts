import { isDeltaAlone } from '../../engine/model/delta-alone.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { type Json, parseJson } from '../../engine/model/json.ts';
import { machine } from '../../engine/model/machine.ts';
import type { SseRecord } from '../../engine/model/protocol.ts';
import { endReply, readBody, readResponse } from './read-replies.ts';
import { type ReplyState, startState } from './reply-state.ts';

/**
 * Records, each a whole reply body with the new parts, → events. The stream ends by closing. Some servers send the bodies in an
 * array, as they do without `alt=sse`. Source: Gemini API reference, "streamGenerateContent".
 */
export const decodeStream = machine<ReplyState, SseRecord, ModelEvent>({
  initial: startState,
  step(state, { data }, out) {
    const known = state.alike.read(data);
    if (known) {
      readResponse(state, known, out);
      return;
    }
    const value = parseJson(data);
    if (isList(value)) for (const body of value) readBody(state, body, out);
    else readNew(state, data, value, out);
  },
  end: endReply,
});

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const readNew = (state: ReplyState, data: string, value: Json | undefined, out: ModelEvent[]): void => {
  const before = out.length;
  const body = readBody(state, value, out);
  if (body && isDeltaAlone(out, before)) state.alike.learn(data, body);
};
