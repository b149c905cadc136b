/** A frequent event, written up to the two members that change. */
export interface DeltaTemplate {
  readonly head: string;
  readonly rest: string;
  readonly tail: string;
}

/** Members as JSON text without the braces, ready to stand after others. */
export type Members = string;

/** Members → text. */
export const members = (value: object): Members => JSON.stringify(value).slice(1, -1);

/** A delta event of this type. `place` says where its text belongs. */
export const deltaTemplate = (type: string, place: Members, more: Members = ''): DeltaTemplate => ({
  head: `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
  rest: `,${place},"delta":`,
  tail: `${more && `,${more}`}}\n\n`,
});

/** Writes one stream's events as SSE text, numbers them without gaps and keeps the items that are done. */
export class StreamWriter {
  #sequence = 0;
  readonly #items: string[] = [];

  /** The output index that the next item gets. */
  get nextIndex(): number {
    return this.#items.length;
  }

  /** The done items, as the text of a JSON array. */
  get output(): string {
    return `[${this.#items.join(',')}]`;
  }

  event(out: string[], type: string, more: Members): void {
    out.push(`event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence},${more}}\n\n`);
    this.#sequence += 1;
  }

  delta(out: string[], { head, rest, tail }: DeltaTemplate, text: string): void {
    out.push(`${head}${this.#sequence}${rest}${JSON.stringify(text)}${tail}`);
    this.#sequence += 1;
  }

  itemAdded(out: string[], item: object): void {
    this.event(out, 'response.output_item.added', `"output_index":${this.nextIndex},"item":${JSON.stringify(item)}`);
  }

  /** The item that was added last, whole. */
  itemDone(out: string[], item: object): void {
    const text = JSON.stringify(item);
    this.event(out, 'response.output_item.done', `"output_index":${this.nextIndex},"item":${text}`);
    this.#items.push(text);
  }
}
