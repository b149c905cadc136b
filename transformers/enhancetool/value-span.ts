import { memberValue, skipSpace, valueEnd } from '../../engine/model/json/json.ts';

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
    const next = json[at] === '{' ? memberStart(json, at, step) : itemStart(json, at, step);
    if (next === undefined) return undefined;
    at = next;
  }
  return { start: at, end: valueEnd(json, at) };
};

const memberStart = (json: string, object: number, name: string): number | undefined => {
  let found: number | undefined;
  for (let at = skipSpace(json, object + 1); json[at] === '"'; ) {
    const keyEnd = valueEnd(json, at);
    const value = memberValue(json, keyEnd);
    if (JSON.parse(json.slice(at, keyEnd)) === name) found = value;
    at = nextStart(json, value);
  }
  return found;
};

const itemStart = (json: string, array: number, step: string): number | undefined => {
  if (json[array] !== '[') return undefined;
  let at = skipSpace(json, array + 1);
  for (let left = Number(step); left > 0; left -= 1) at = nextStart(json, at);
  return at < json.length ? at : undefined;
};

/** The position after the value's comma; the text's end without one. */
const nextStart = (json: string, value: number): number => {
  const at = skipSpace(json, valueEnd(json, value));
  return json[at] === ',' ? skipSpace(json, at + 1) : json.length;
};
