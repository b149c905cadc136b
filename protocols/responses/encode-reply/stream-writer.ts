import { writeJson } from '../../../engine/model/json/json.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';

/** The template of a frequent event: only its number and delta change. */
export interface DeltaTemplate {
  readonly event: string;
  readonly head: string;
  readonly rest: string;
  readonly tail: string;
}

/** JSON members without the braces, to be placed after others. */
export type Members = string;

export const members = (value: object): Members => writeJson(value).slice(1, -1);

/** Builds a delta event's template. `place` holds the members that locate its text. */
export const deltaTemplate = (type: string, place: Members, more: Members = ''): DeltaTemplate => ({
  event: type,
  head: `{"type":"${type}","sequence_number":`,
  rest: `,${place},"delta":`,
  tail: `${more && `,${more}`}}`,
});

/** Writes a stream's events as records with consecutive numbers, and collects completed items. */
export class StreamWriter {
  #sequence = 0;
  readonly #items: string[] = [];

  /** The output index of the next item. */
  get nextIndex(): number {
    return this.#items.length;
  }

  /** The completed items, as a JSON array. */
  get output(): string {
    return `[${this.#items.join(',')}]`;
  }

  event(out: SseRecord[], type: string, more: Members): void {
    out.push({ event: type, data: `{"type":"${type}","sequence_number":${this.#sequence},${more}}` });
    this.#sequence += 1;
  }

  delta(out: SseRecord[], { event, head, rest, tail }: DeltaTemplate, text: string): void {
    out.push({ event, data: `${head}${this.#sequence}${rest}${JSON.stringify(text)}${tail}` });
    this.#sequence += 1;
  }

  itemAdded(out: SseRecord[], item: object): void {
    this.event(out, 'response.output_item.added', `"output_index":${this.nextIndex},"item":${writeJson(item)}`);
  }

  /** Ends the item added last. */
  itemDone(out: SseRecord[], item: object): void {
    const text = writeJson(item);
    this.event(out, 'response.output_item.done', `"output_index":${this.nextIndex},"item":${text}`);
    this.#items.push(text);
  }
}
