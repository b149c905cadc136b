import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { memberPath } from '../model/schema.ts';

/** The process environment, or a stand-in for it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference to a variable that isn't set. */
export interface UnsetReference {
  /** Path of the string that holds the reference. */
  readonly path: string;
  /** The variable's name. */
  readonly name: string;
}

/** A text with its references filled in. */
export interface Interpolated {
  readonly text: string;
  /** Variables that aren't set; their references became empty. */
  readonly unset: readonly string[];
}

/**
 * Fills in `$NAME` and `${NAME}`; `$$` stands for one dollar sign, and a dollar sign before anything else for itself. Names
 * are letters, digits and underscores and don't begin with a digit. A variable that is empty counts as not set. What comes
 * from the environment is text: it isn't searched for references again, and nothing is ever evaluated.
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

/** Fills in the references in every string of a JSON value; the names of members stay as they are. */
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
  // `fromEntries` defines members, so that one named `__proto__` stays a member.
  const fillObject = (node: JsonObject, at: string): JsonObject =>
    Object.fromEntries(Object.entries(node).map(([name, member]) => [name, fill(member, memberPath(at, name))]));
  return { value: fillObject(value, ''), unset };
};

const reference = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;
