import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { memberPath } from './schema.ts';

/** How one client protocol writes what the conversions speak of in the gateway's own words. */
export interface FieldNames {
  /** Fields of the request by the gateway's word (`max_tokens`, `reasoning.effort`): the client's paths, likeliest first. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Members of any node by the gateway's word (`cache_control`): the client's words for them. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** A loss's path → the same place in the client's body. */
export type Spell = (path: string) => string;

/** Leaves every path as it is. */
export const plainSpelling: Spell = (path) => path;

/**
 * Paths in the client's own spelling, as they stand in this `body`. A path that goes on where the body ends is cut there; one
 * that speaks of nothing in the body (of the answer, say) stays as it is.
 */
export const clientSpelling = (names: FieldNames | undefined, body: JsonObject): Spell => {
  const members = names?.members ?? {};
  return (path) => {
    const [field, rest] = knownField(path, names?.fields ?? {});
    const candidates = names?.fields[field] ?? [];
    for (const candidate of candidates) {
      const found = walk(body, stepsOf(candidate), {});
      if (found.whole) return walk(found.value, stepsOf(rest), members, found.path).path;
    }
    const [first] = candidates;
    if (first !== undefined) return first;
    return walk(body, stepsOf(path), members).path || path;
  };
};

/** The longest beginning of the path that has a name of its own, and the rest. */
const knownField = (path: string, fields: FieldNames['fields']): readonly [field: string, rest: string] => {
  for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1))) {
    const field = path.slice(0, end);
    if (Object.hasOwn(fields, field)) return [field, path.slice(end)];
  }
  return ['', path];
};

interface Place {
  readonly path: string;
  readonly value: Json | undefined;
  /** All steps led somewhere. */
  readonly whole: boolean;
}

const walk = (
  start: Json | undefined,
  steps: readonly (string | number)[],
  members: FieldNames['members'],
  from = '',
): Place => {
  let place: Place = { path: from, value: start, whole: true };
  for (const step of steps) {
    const next = follow(place, step) ?? byOtherName(place, step, members);
    if (!next) return { ...place, whole: false };
    place = next;
  }
  return place;
};

const follow = ({ path, value }: Place, step: string | number): Place | undefined => {
  let inner: Json | undefined;
  if (typeof step === 'number') inner = Array.isArray(value) ? value[step] : undefined;
  else inner = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return inner === undefined ? undefined : { path: memberPath(path, step), value: inner, whole: true };
};

const byOtherName = (place: Place, step: string | number, members: FieldNames['members']): Place | undefined => {
  if (typeof step === 'number' || !Object.hasOwn(members, step)) return undefined;
  for (const name of members[step] ?? []) {
    const found = walk(place.value, stepsOf(name), {}, place.path);
    if (found.whole) return found;
  }
  return undefined;
};

/** `messages[2].content` → its three steps. */
const stepsOf = (path: string): readonly (string | number)[] =>
  path
    .split(/\.|(?=\[\d+\])/)
    .filter((step) => step !== '')
    .map((step) => (/^\[\d+\]$/.test(step) ? Number(step.slice(1, -1)) : step));
