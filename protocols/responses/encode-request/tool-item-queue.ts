import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';

/** The client's items that only declare tools, to be written back at their places. */
export class ToolItemQueue {
  readonly #items: readonly { readonly index: number; readonly raw: JsonObject }[];
  #next = 0;

  constructor({ toolItems = [] }: ModelRequest) {
    this.#items = toolItems.flatMap(({ wire, at, raw }) =>
      wire === 'responses' ? [{ index: indexOf(at) ?? 0, raw }] : [],
    );
  }

  /** Takes the items before this path; none if it is outside the input. */
  before(at: string | undefined): readonly JsonObject[] {
    return this.#take(indexOf(at) ?? -1);
  }

  /** Takes all that are left. */
  rest(): readonly JsonObject[] {
    return this.#take(Number.POSITIVE_INFINITY);
  }

  #take(end: number): readonly JsonObject[] {
    const from = this.#next;
    while ((this.#items[this.#next]?.index ?? end) < end) this.#next += 1;
    return this.#items.slice(from, this.#next).map(({ raw }) => raw);
  }
}

const indexOf = (at: string | undefined): number | undefined => {
  const [, index] = /^input\[(\d{1,9})\]/.exec(at ?? '') ?? [];
  return index === undefined ? undefined : Number(index);
};
