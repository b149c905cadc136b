import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { sameJson } from '../fields/same-json.ts';

/** A value changed differently on both sides. */
export interface Conflict {
  /** `Router.default`; a list is one value. */
  readonly path: string;
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
}

/** The result of a merge. */
interface Merged<T> {
  /** Has my value for each conflict. */
  readonly value: T;
  readonly conflicts: readonly Conflict[];
}

/** Merges two changes of `base`. Objects are merged member by member; any other value is taken from the side that changed it. */
export const mergeChanges = <T extends JsonObject>(base: T, mine: T, theirs: T): Merged<T> => {
  const conflicts: Conflict[] = [];
  const value = mergeObjects(base, mine, theirs, '', conflicts);
  // Each member comes from `mine` or `theirs`.
  return { value: value as T, conflicts };
};

const mergeObjects = (
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject,
  at: string,
  conflicts: Conflict[],
): JsonObject => {
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  const members = [...names].flatMap((name) => {
    const path = at === '' ? name : `${at}.${name}`;
    const merged = mergeValues(own(base, name), own(mine, name), own(theirs, name), path, conflicts);
    return merged === undefined ? [] : [[name, merged] as const];
  });
  return Object.fromEntries(members);
};

/** Inherited properties aren't members. */
const own = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

const mergeValues = (
  base: Json | undefined,
  mine: Json | undefined,
  theirs: Json | undefined,
  path: string,
  conflicts: Conflict[],
): Json | undefined => {
  if (sameJson(mine, theirs) || sameJson(base, theirs)) return mine;
  if (sameJson(base, mine)) return theirs;
  if (isJsonObject(mine) && isJsonObject(theirs)) {
    return mergeObjects(isJsonObject(base) ? base : {}, mine, theirs, path, conflicts);
  }
  conflicts.push({ path, mine, theirs });
  return mine;
};
