import { isJsonObject, type Json } from '../../api/json.ts';

/** Whether `path` is `around` or lies below it. */
export const isWithin = (path: string, around: string): boolean =>
  path === around || path.startsWith(`${around}.`) || path.startsWith(`${around}[`);

/** The index in a path into a list: 2 of `Providers[2].name`; `NaN` if it has none. */
export const indexIn = (path: string): number => Number.parseInt(path.slice(path.indexOf('[') + 1), 10);

/** A copy of an object with this member; `undefined` removes it. */
export const withMember = <T extends { readonly [name: string]: Json | undefined }>(
  value: T,
  name: string,
  member: Json | undefined,
): T => {
  const { [name]: _, ...rest } = value;
  // An existing member keeps its position: the file's order is the user's.
  if (member === undefined) return rest as T;
  return { ...value, [name]: member };
};

/** Like `withMember`, for a member of a member; an empty parent is removed. */
export const withInner = <T extends { readonly [name: string]: Json | undefined }>(
  value: T,
  outer: string,
  name: string,
  member: Json | undefined,
): T => {
  const before = value[outer];
  const inner = withMember(isJsonObject(before) ? before : {}, name, member);
  return withMember(value, outer, Object.keys(inner).length === 0 ? undefined : inner);
};
