import type { ReplyContext } from '../../engine/model/context.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { type Machine, runWhole } from '../../engine/model/machine.ts';
import { readSseRecords, type SseRecord } from '../../engine/model/wire/sse.ts';
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

/** Throws when events break the order that `engine/model/event.ts` promises. */
export const checkEvents = (events: readonly ModelEvent[]): void => {
  let blocks = 0;
  let open = false;
  let started = false;
  let done = false;
  for (const event of events) {
    must(!done, `${event.type} after the end`);
    if (event.type === 'error') {
      done = true;
      continue;
    }
    must(
      started !== (event.type === 'message-start'),
      `${event.type} ${started ? 'repeated' : 'before message-start'}`,
    );
    switch (event.type) {
      case 'message-start':
        started = true;
        break;
      case 'block-start':
        must(!open, 'blocks overlap');
        must(event.index === blocks, `block ${event.index} where ${blocks} was due`);
        open = true;
        break;
      case 'block-stop':
        must(open && event.index === blocks, 'a block stops that is not open');
        open = false;
        blocks += 1;
        break;
      case 'message-stop':
        must(!open, 'message-stop inside a block');
        done = true;
        break;
      default:
        must(open && event.index === blocks, `${event.type} outside its block`);
        if (event.type === 'text-delta' || event.type === 'thinking-delta') must(event.text !== '', 'an empty delta');
        if (event.type === 'input-delta') must(event.json !== '', 'an empty delta');
    }
  }
  must(done, 'no end');
};
