import { isJsonObject, type Json } from '../api/json.ts';

/** Whether one path is the other or leads further down from it. */
export const isWithin = (path: string, around: string): boolean =>
  path === around || path.startsWith(`${around}.`) || path.startsWith(`${around}[`);

/** A copy of an object with this member; `undefined` takes it away. */
export const withMember = <T extends { readonly [name: string]: Json | undefined }>(
  value: T,
  name: string,
  member: Json | undefined,
): T => {
  const { [name]: _, ...rest } = value;
  // In its old place where it had one: a file's order is its owner's.
  if (member === undefined) return rest as T;
  return { ...value, [name]: member };
};

/** As `withMember`, for a member of a member; what is left empty goes. */
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
