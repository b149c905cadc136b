import type { ModelEvent } from '../../../engine/model/event.ts';
import { asJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { StreamEvent } from '../schema-reply.ts';
import { type BlockQueue, type ItemReader, ReplyItem } from './reply-item.ts';

/** Reads an item of this protocol only: its events are kept as they are, and the last one holds the whole item. */
export class HostedReader implements ItemReader {
  readonly #item: ReplyItem;

  constructor(line: BlockQueue, item: JsonObject, out: ModelEvent[]) {
    this.#item = new ReplyItem(line);
    this.#item.start({ type: 'opaque', wire: 'responses', raw: item }, out);
  }

  read(_type: string, event: StreamEvent, out: ModelEvent[]): void {
    // A copy: the parser may overwrite the event with the next one.
    this.#item.delta({ type: 'opaque-delta', index: 0, raw: asJsonObject(structuredClone(event)) }, out);
  }

  finish(item: object | undefined, out: ModelEvent[]): void {
    if (item) {
      const whole = asJsonObject(item);
      const raw = { type: 'response.output_item.done', item: whole };
      const { type, encrypted_content: payload } = whole;
      const sealed = type === 'compaction' && typeof payload === 'string';
      const signature = sealed ? { format: 'responses', data: payload } : undefined;
      this.#item.delta({ type: 'opaque-delta', index: 0, raw, ...(signature && { signature }) }, out);
    }
    this.#item.end(out);
  }
}
