import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/**
 * The schema that a `$ref` within the schema `root` points to; `undefined` for any other reference. Source: RFC 6901, "JSON
 * Pointer", in a URI fragment.
 */
export const schemaAt = (root: JsonObject, ref: string): JsonObject | undefined => {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let found: Json | undefined = root;
  for (const step of ref.split('/').slice(1)) {
    const name = unescapePointer(step);
    if (Array.isArray(found)) found = found[Number(name)];
    else found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
};

/** Keeps percent signs that aren't a UTF-8 escape. */
const unescapePointer = (step: string): string => {
  let plain = step;
  try {
    plain = decodeURIComponent(step);
  } catch {}
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
};
