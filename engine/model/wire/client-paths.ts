import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { memberPath } from '../schema.ts';

/** A client protocol's names for the gateway's field names. */
export interface FieldNames {
  /** Request fields by the gateway's name (`max_tokens`, `reasoning.effort`): the client's paths, most likely first. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Members of any node by the gateway's name (`cache_control`): the client's names. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/**
 * Translates a loss's path to the path in the client's `body`. A path that continues beyond the body is cut there; a path without
 * a counterpart in the body, such as one of the answer, is unchanged.
 */
export const toClientPath = (names: FieldNames | undefined, body: JsonObject, path: string): string => {
  const members = names?.members ?? {};
  const [field, rest] = knownField(path, names?.fields ?? {});
  const candidates = names?.fields[field] ?? [];
  for (const candidate of candidates) {
    const found = walk(body, stepsOf(candidate), {});
    if (found.whole) return walk(found.value, stepsOf(rest), members, found.path).path;
  }
  const [first] = candidates;
  if (first !== undefined) return first;
  const found = walk(body, stepsOf(path), members);
  // A mark that the client didn't set is still not the whole node.
  const own = !found.whole && found.path !== '' && path.endsWith(mark);
  return own ? `${found.path}${mark}` : found.path || path;
};

/** A stage can set a cache mark in any node. */
const mark = '.cache_control';

/** Splits a path after its longest prefix that is a known field. */
const knownField = (path: string, fields: FieldNames['fields']): readonly [field: string, rest: string] => {
  let longest = '';
  // There are few fields, and a path may have many steps.
  for (const field of Object.keys(fields)) {
    const next = path[field.length];
    const ends = next === undefined || next === '.' || next === '[';
    if (ends && field.length > longest.length && path.startsWith(field)) longest = field;
  }
  return [longest, path.slice(longest.length)];
};

interface Location {
  readonly path: string;
  readonly value: Json | undefined;
  /** All steps were found. */
  readonly whole: boolean;
}

const walk = (
  start: Json | undefined,
  steps: readonly (string | number)[],
  members: FieldNames['members'],
  from = '',
): Location => {
  let location: Location = { path: from, value: start, whole: true };
  for (const step of steps) {
    const next = follow(location, step) ?? byOtherName(location, step, members);
    if (!next) return { ...location, whole: false };
    location = next;
  }
  return location;
};

const follow = ({ path, value }: Location, step: string | number): Location | undefined => {
  let inner: Json | undefined;
  if (typeof step === 'number') inner = Array.isArray(value) ? value[step] : undefined;
  else inner = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return inner === undefined ? undefined : { path: memberPath(path, step), value: inner, whole: true };
};

const byOtherName = (
  location: Location,
  step: string | number,
  members: FieldNames['members'],
): Location | undefined => {
  if (typeof step === 'number' || !Object.hasOwn(members, step)) return undefined;
  for (const name of members[step] ?? []) {
    const found = walk(location.value, stepsOf(name), {}, location.path);
    if (found.whole) return found;
  }
  return undefined;
};

/** Splits `messages[2].content` into its three steps. */
const stepsOf = (path: string): readonly (string | number)[] =>
  path
    .split(/\.|(?=\[\d+\])/)
    .filter((step) => step !== '')
    .map((step) => (/^\[\d+\]$/.test(step) ? Number(step.slice(1, -1)) : step));

/** A path without indices, for counting equal losses: `tools[3].cache_control` → `tools[].cache_control`. */
export const fieldPattern = (path: string): string => path.replace(/\[\d+\]/g, '[]');

/** A path that is safe in a header or metric label: other characters and list punctuation become underscores. */
export const plainPath = (path: string): string => path.replace(/[^\x21-\x7e]|[,;*]/g, '_');
