import { isDeltaAlone } from '../../engine/model/delta-alone.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../engine/model/json.ts';
import { machine } from '../../engine/model/machine.ts';
import type { SseRecord } from '../../engine/model/protocol.ts';
import { cutOff } from '../../engine/model/reply.ts';
import { type AnswerState, newAnswer } from './answer-items.ts';
import { eventReader, failGarbled, readEvent } from './read-event.ts';

/**
 * The `response.…` events → events, from the vendor itself and from those who speak likewise. Source: OpenAI API reference,
 * "Streaming events".
 */
export const decodeStream = machine<AnswerState, SseRecord, ModelEvent>({
  initial: newAnswer,
  step(state, { event, data }, out) {
    if (state.done || data === '[DONE]') return;
    const known = state.alike.read(data);
    const value = known ?? parseJson(data);
    if (!isJsonObject(value)) {
      failGarbled(state, out, 'The upstream sent a record that is not a JSON object.');
      return;
    }
    const item = known ?? (eventReader.matches(value) ? value : undefined);
    const before = out.length;
    readEvent(state, typeof value.type === 'string' ? value.type : event, value, item, out);
    if (item && !known && isDeltaAlone(out, before)) state.alike.learn(data, item);
  },
  end(state, out) {
    if (!state.done) out.push({ type: 'error', fault: cutOff });
  },
});
