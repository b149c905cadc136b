import type { ReplyContext } from '../../engine/model/context.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { EventOrder, noEnd } from '../../engine/model/event-order.ts';
import { type Machine, runWhole } from '../../engine/model/machine.ts';
import { readSseRecords } from '../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';
import { replyContext } from './context.ts';
import { must } from './facts.ts';

/** Bytes, whole or in pieces, → SSE records. */
export const recordsOf = (...chunks: readonly Uint8Array[]): SseRecord[] =>
  runWhole(readSseRecords, replyContext(), chunks);

/** Bytes, whole or in pieces, → events. */
export const eventsOf = (
  decodeStream: Machine<SseRecord, ModelEvent>,
  chunks: readonly Uint8Array[],
  context: ReplyContext = replyContext(),
): ModelEvent[] => runWhole(decodeStream, context, recordsOf(...chunks));

/** Throws when events break the order that `engine/model/event.ts` promises, or a delta is empty. */
export const checkEvents = (events: readonly ModelEvent[]): void => {
  const order = new EventOrder();
  for (const event of events) {
    must(!order.isOver, `${event.type} after the end`);
    const problem = order.problemIn(event);
    must(problem === undefined, problem ?? '');
    if (event.type === 'text-delta' || event.type === 'thinking-delta') must(event.text !== '', 'an empty delta');
    if (event.type === 'input-delta') must(event.json !== '', 'an empty delta');
  }
  must(order.isOver, noEnd);
};
