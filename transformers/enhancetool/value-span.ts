import { itemsIn, memberNamed, membersIn } from '../../engine/model/json/members.ts';

/** A range of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** The range of the value at this path in valid JSON text. Of duplicate members the last counts. */
export const valueSpan = (json: string, path: readonly string[]): Span | undefined => {
  let start = json.length - json.trimStart().length;
  let end = json.trimEnd().length;
  for (const step of path) {
    const container = json.slice(start, end);
    const members = membersIn(container, Number.POSITIVE_INFINITY);
    const found = members ? memberNamed(members, step) : itemsIn(container, Number.POSITIVE_INFINITY)?.[Number(step)];
    if (!found) return undefined;
    end = start + found.to;
    start += found.from;
  }
  return { start, end };
};
