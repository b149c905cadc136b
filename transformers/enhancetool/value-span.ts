import { skipSpace } from '../../engine/model/json/json.ts';
import { membersNamed, nextItem, valueEnd } from '../../engine/model/json/replace-member.ts';

/** A range of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** The range of the value at this path in valid JSON text. Of duplicate members the last counts. */
export const valueSpan = (json: string, path: readonly string[]): Span | undefined => {
  let at = skipSpace(json, 0);
  for (const step of path) {
    const next = json[at] === '{' ? membersNamed(json, at, step).at(-1)?.[0] : itemStart(json, at, step);
    if (next === undefined) return undefined;
    at = next;
  }
  return { start: at, end: valueEnd(json, at) };
};

const itemStart = (json: string, array: number, step: string): number | undefined => {
  if (json[array] !== '[') return undefined;
  let at = skipSpace(json, array + 1);
  for (let left = Number(step); left > 0; left -= 1) at = nextItem(json, valueEnd(json, at));
  return at < json.length ? at : undefined;
};
