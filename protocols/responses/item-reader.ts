import type { ModelEvent } from '../../engine/model/event.ts';
import type { StreamEvent } from './reply-schema.ts';

/** Reads one output item of a stream. */
export interface ItemReader {
  /** An event that belongs to the item. */
  readonly read: (type: string, event: StreamEvent, out: ModelEvent[]) => void;
  /** The item is done. `item` is the whole of it where the provider sent one; what the deltas left out is taken from there. */
  readonly finish: (item: object | undefined, out: ModelEvent[]) => void;
}
