import { type JsonObject, writeJson } from './json.ts';
import { type JsonMember, membersIn } from './members.ts';

/** Adds a member at the start of a JSON object's text; every other byte is unchanged. The text must be valid JSON, with a member. */
export const addMember = (text: string, name: string, value: string): string => {
  const start = text.indexOf('{') + 1;
  return `${text.slice(0, start)}${JSON.stringify(name)}:${value},${text.slice(start)}`;
};

/**
 * Replaces the value of every top-level member `name` in a JSON object's text; every other byte is unchanged. The text must
 * be valid JSON. Repeated members are all replaced, since parsers differ in which one they use.
 */
export const replaceMember = (text: string, name: string, value: string): string => {
  const pieces: string[] = [];
  let kept = 0;
  for (const { name: own, from, to } of allMembers(text)) {
    if (own !== name || (to - from === value.length && text.startsWith(value, from))) continue;
    pieces.push(text.slice(kept, from), value);
    kept = to;
  }
  if (pieces.length === 0) return text;
  pieces.push(text.slice(kept));
  return pieces.join('');
};

/**
 * Applies a JSON Merge Patch whose values are no objects to a JSON object's text: members with null are removed, the others replaced or
 * put first. The rest keeps its bytes, but for the blanks around members. The text must be valid JSON.
 */
export const patchText = (text: string, patch: JsonObject): string => {
  const kept = allMembers(text).flatMap(({ name, at, to }) => (Object.hasOwn(patch, name) ? [] : text.slice(at, to)));
  const added = Object.entries(patch).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : `${JSON.stringify(name)}:${writeJson(value)}`,
  );
  return `{${[...added, ...kept].join(',')}}`;
};

const allMembers = (text: string): readonly JsonMember[] => membersIn(text, Number.POSITIVE_INFINITY) ?? [];
