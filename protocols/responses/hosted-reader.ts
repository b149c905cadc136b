import type { ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ItemReader } from './item-reader.ts';
import { type BlockLine, ReplyItem } from './reply-item.ts';
import type { StreamEvent } from './reply-schema.ts';
import { asJsonObject } from './unread.ts';

/** An item that only this protocol knows: relayed as it comes, its last delta being the event that brings it whole. */
export class HostedReader implements ItemReader {
  readonly #item: ReplyItem;

  constructor(line: BlockLine, item: JsonObject, out: ModelEvent[]) {
    this.#item = new ReplyItem(line);
    this.#item.start({ type: 'opaque', wire: 'responses', raw: item }, out);
  }

  read(_type: string, event: StreamEvent, out: ModelEvent[]): void {
    // A copy: the event may be one that the next of its kind overwrites.
    this.#item.delta({ type: 'opaque-delta', index: 0, raw: asJsonObject(structuredClone(event)) }, out);
  }

  finish(item: object | undefined, out: ModelEvent[]): void {
    if (item) {
      const raw = { type: 'response.output_item.done', item: asJsonObject(item) };
      this.#item.delta({ type: 'opaque-delta', index: 0, raw }, out);
    }
    this.#item.end(out);
  }
}
