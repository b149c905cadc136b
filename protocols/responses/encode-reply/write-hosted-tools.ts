import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { members, type StreamWriter } from './stream-writer.ts';

/**
 * Writes an item of this protocol only: the upstream's events keep all but their numbers; the whole item
 * is written at the end.
 */
export class HostedWriter {
  readonly #stream: StreamWriter;
  #item: JsonObject;

  constructor(stream: StreamWriter, item: JsonObject, out: SseRecord[]) {
    this.#stream = stream;
    this.#item = item;
    stream.itemAdded(out, item);
  }

  event(raw: JsonObject, out: SseRecord[]): void {
    const whole = wholeItem(raw);
    if (whole) {
      this.#item = whole;
      return;
    }
    const { type, sequence_number: _, ...rest } = raw;
    if (typeof type !== 'string') return;
    this.#stream.event(out, type, members({ ...rest, output_index: this.#stream.nextIndex }));
  }

  finish(out: SseRecord[]): void {
    this.#stream.itemDone(out, this.#item);
  }
}

/** The whole item inside an event; `undefined` for any other event. */
export const wholeItem = ({ type, item }: JsonObject): JsonObject | undefined =>
  type === 'response.output_item.done' && isJsonObject(item) ? item : undefined;
