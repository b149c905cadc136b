import type { JsonObject } from '../model/json.ts';
import type { Environment, UnsetReference } from './interpolate.ts';

/** Environment variables that take the place of fields of the configuration, for containers and process managers. */
export const headOverrides = { SWITCHYARD_HOST: 'HOST', SWITCHYARD_PORT: 'PORT', SWITCHYARD_APIKEY: 'APIKEY' } as const;

/** A configuration with its references filled in, and the references that couldn't be. */
export interface Filled {
  readonly value: JsonObject;
  readonly unset: readonly UnsetReference[];
}

/** Puts what the environment sets in the place of the fields, as text; a variable that is blank sets nothing. */
export const overrideHead = ({ value, unset }: Filled, env: Environment): Filled => {
  const set = Object.entries(headOverrides).flatMap(([variable, field]) => {
    const text = env[variable]?.trim();
    return text ? [[field, text] as const] : [];
  });
  const fields = new Set<string>(set.map(([field]) => field));
  return {
    value: { ...value, ...Object.fromEntries(set) },
    unset: unset.filter(({ path }) => !fields.has(path)),
  };
};
