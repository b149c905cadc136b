import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { memberPath } from '../model/schema.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference to an environment variable. */
export interface Reference {
  /** Path of the string with the reference. */
  readonly path: string;
  readonly name: string;
}

/** A reference to a variable that isn't set. */
export type UnsetReference = Reference;

/** A text with its references resolved. */
interface Interpolated {
  readonly text: string;
  /** Unset variables; their references became empty. */
  readonly unset: readonly string[];
}

/**
 * Resolves `$NAME` and `${NAME}`. `$$` is a literal dollar sign, as is a dollar sign before anything else. Names consist of
 * letters, digits and underscores and don't start with a digit. An empty variable counts as unset. Values are plain text and
 * are not searched for references.
 */
export const interpolate = (text: string, env: Environment): Interpolated => {
  const unset: string[] = [];
  if (!text.includes('$')) return { text, unset };
  const filled = text.replace(reference, (whole: string, bare?: string, braced?: string) => {
    const name = bare ?? braced;
    if (name === undefined) return whole === '$$' ? '$' : whole;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (!value) unset.push(name);
    return value ?? '';
  });
  return { text: filled, unset };
};

/** Resolves the references in every string of a JSON value; member names are unchanged. */
export const interpolateAll = (
  value: JsonObject,
  env: Environment,
): { readonly value: JsonObject; readonly unset: readonly UnsetReference[] } => {
  const unset: UnsetReference[] = [];
  const fill = (node: Json | undefined, at: string): Json | undefined => {
    if (typeof node === 'string') {
      const filled = interpolate(node, env);
      for (const name of filled.unset) unset.push({ path: at, name });
      return filled.text;
    }
    if (isJsonObject(node)) return fillObject(node, at);
    return Array.isArray(node) ? node.map((item: Json, index) => fill(item, memberPath(at, index)) ?? null) : node;
  };
  // `fromEntries` keeps a member named `__proto__` a member.
  const fillObject = (node: JsonObject, at: string): JsonObject =>
    Object.fromEntries(Object.entries(node).map(([name, member]) => [name, fill(member, memberPath(at, name))]));
  return { value: fillObject(value, ''), unset };
};

/** All references in a JSON value. */
export const references = (value: JsonObject): readonly Reference[] =>
  // With an empty environment every reference is unset.
  interpolateAll(value, {}).unset;

const reference = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;

/** Environment variables that override configuration fields, for containers and process managers. */
const envOverrides = { SWITCHYARD_HOST: 'HOST', SWITCHYARD_PORT: 'PORT', SWITCHYARD_APIKEY: 'APIKEY' } as const;

/** A configuration with its references resolved, and the unset ones. */
interface InterpolatedConfig {
  readonly value: JsonObject;
  readonly unset: readonly UnsetReference[];
}

/** Overrides fields with the environment's values, as text; blank variables are ignored. */
export const applyEnvOverrides = ({ value, unset }: InterpolatedConfig, env: Environment): InterpolatedConfig => {
  const set = Object.entries(envOverrides).flatMap(([variable, field]) => {
    const text = env[variable]?.trim();
    return text ? [[field, text] as const] : [];
  });
  const fields = new Set<string>(set.map(([field]) => field));
  return {
    value: { ...value, ...Object.fromEntries(set) },
    unset: unset.filter(({ path }) => !fields.has(path)),
  };
};
