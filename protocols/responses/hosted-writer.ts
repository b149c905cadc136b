import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import { members, type StreamWriter } from './stream-writer.ts';

/**
 * An item that only this protocol knows, relayed as the upstream wrote it: its own events get this stream's numbers, and the
 * one that brings the whole item waits for the item's end.
 */
export class HostedWriter {
  readonly #stream: StreamWriter;
  #item: JsonObject;

  constructor(stream: StreamWriter, item: JsonObject, out: string[]) {
    this.#stream = stream;
    this.#item = item;
    stream.itemAdded(out, item);
  }

  event(raw: JsonObject, out: string[]): void {
    const whole = wholeItem(raw);
    if (whole) {
      this.#item = whole;
      return;
    }
    const { type, sequence_number: _, ...rest } = raw;
    if (typeof type !== 'string') return;
    this.#stream.event(out, type, members({ ...rest, output_index: this.#stream.nextIndex }));
  }

  finish(out: string[]): void {
    this.#stream.itemDone(out, this.#item);
  }
}

/** The item that an event brings when it is done; `undefined` for any other event. */
export const wholeItem = ({ type, item }: JsonObject): JsonObject | undefined =>
  type === 'response.output_item.done' && isJsonObject(item) ? item : undefined;
