import { isJsonObject, type JsonObject } from '../model/json.ts';
import type { Environment } from './interpolate.ts';
import { type Validation, validateConfig } from './validate.ts';

/** A configuration as written, with this provider in the place of the one of its name; checked, and not to be saved. */
export const withProvider = (base: JsonObject, provider: JsonObject, env: Environment): Validation => {
  const { Providers: present } = base;
  const others = (Array.isArray(present) ? present : []).filter(
    (row: unknown) => !isJsonObject(row) || row.name !== provider.name,
  );
  // First, so that what is wrong with it has a path of its own.
  return validateConfig({ ...base, Providers: [provider, ...others] }, env);
};
