import { isJsonObject, type Json } from '../../api/json.ts';

/** Whether two JSON values are equal; the order of members doesn't matter. */
export const sameJson = (one: Json | undefined, other: Json | undefined): boolean => {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const names = given(one);
  return (
    names.length === given(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
};

/** Members that are `undefined` aren't written to JSON. */
const given = (value: { readonly [name: string]: Json | undefined }): readonly string[] =>
  Object.keys(value).filter((name) => value[name] !== undefined);
