import type { Fault } from '../model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { memberPath, type SchemaFault } from '../model/schema.ts';

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

/**
 * Words findings as the source is written: where they quote the value of a variable, or a part of it, they get the reference.
 * Otherwise a check of a configuration would be a way to read variables.
 */
export const quoteReferences = (
  findings: readonly SchemaFault[],
  source: JsonObject,
  env: Environment,
): readonly SchemaFault[] => {
  if (findings.length === 0) return findings;
  const values = new Map<string, string>();
  for (const { name } of references(source)) {
    const value = (Object.hasOwn(env, name) ? env[name] : undefined)?.trim();
    if (value) values.set(value, `$${name}`).set(JSON.stringify(value).slice(1, -1), `$${name}`);
  }
  // Longest first: one value may contain another.
  const known = [...values].sort(([one], [other]) => other.length - one.length);
  if (known.length === 0) return findings;
  const written = writtenTexts(source);
  const quoted = (whole: string): string => {
    const text = whole.slice(1, whole.length > 1 && whole.endsWith('"') ? -1 : undefined);
    const filled = known.reduce((clean, [value, name]) => clean.replaceAll(value, name), text);
    if (filled !== text) return whole.replace(text, () => filled);
    if (text === '' || written.has(text.toLowerCase())) return whole;
    const [, name] = known.find(([value]) => value.toLowerCase().includes(text.toLowerCase())) ?? [];
    return name === undefined ? whole : whole.replace(text, () => name);
  };
  return findings.map(({ path, message }) => ({
    path,
    message: known.reduce(
      (clean, [value, name]) => (value.length < minQuoted ? clean : clean.replaceAll(value, name)),
      message.replace(quotation, quoted),
    ),
  }));
};

/** The value of a variable that a configuration refers to, and the reference that is shown in its place. */
export interface ReferredValue {
  readonly text: string;
  /** `$NAME`. */
  readonly shown: string;
}

/** Fields whose texts are shown to people: in dry runs, graphs, logs and errors. */
const shownFields: ReadonlySet<string> = new Set(['Providers', 'Pools', 'Router', 'fallback', 'transformers']);

/** What the references in the shown fields of a configuration stand for, longest first: one value may contain another. */
export const referredValues = (source: JsonObject, env: Environment): readonly ReferredValue[] => {
  const values = new Map<string, string>();
  for (const { path, name } of references(source)) {
    const value = (Object.hasOwn(env, name) ? env[name] : undefined)?.trim();
    if (value && shownFields.has(path.split(/[.[]/, 1)[0] ?? '')) values.set(value, `$${name}`);
  }
  return [...values]
    .map(([text, shown]) => ({ text, shown }))
    .sort((one, other) => other.text.length - one.text.length);
};

/** Shows references in place of their values: where a text is a value, and inside of texts where it isn't too short for that. */
const showReferences = (values: readonly ReferredValue[], text: string): string => {
  const whole = values.find((value) => value.text === text);
  if (whole) return whole.shown;
  return values.reduce(
    (clean, value) => (value.text.length < minQuoted ? clean : clean.replaceAll(value.text, value.shown)),
    text,
  );
};

/** A name as users see it: a reference in place of a variable's value. */
export const shownName = (values: readonly ReferredValue[] | undefined, name: string): string =>
  values === undefined || values.length === 0 ? name : showReferences(values, name);

/**
 * A name with the values of its references. They may be secrets: a text of a client may only become a name that is listed anyway.
 */
export const referredName = (values: readonly ReferredValue[] | undefined, name: string): string =>
  values === undefined || !name.includes('$')
    ? name
    : values
        .toSorted((one, other) => other.shown.length - one.shown.length)
        .reduce((meant, { text, shown }) => meant.replaceAll(shown, () => text), name);

/** The same for what a fault says. */
export const showReferencesInFault = (values: readonly ReferredValue[] | undefined, fault: Fault): Fault => {
  if (values === undefined || values.length === 0) return fault;
  const { message, param, from } = fault;
  return {
    ...fault,
    ...(from && {
      from: { ...from, provider: showReferences(values, from.provider), model: showReferences(values, from.model) },
    }),
    message: showReferences(values, message),
    ...(param !== undefined && { param: showReferences(values, param) }),
  };
};

/** The same for all texts of an answer, which is as JSON can say it. */
export const showReferencesIn = <T>(values: readonly ReferredValue[] | undefined, answer: T): T =>
  values === undefined || values.length === 0
    ? answer
    : JSON.parse(
        JSON.stringify(answer, (_, value: unknown) =>
          typeof value === 'string' ? showReferences(values, value) : value,
        ),
      );

/** Shorter values are replaced in quotations alone: they occur in ordinary words. */
const minQuoted = 4;
const quotation = /"(?:[^"\\]|\\.)*(?:"|\\?$)/gs;

/** All texts of a configuration and their parts around commas, as messages quote them, in lower case. */
const writtenTexts = (source: JsonObject): ReadonlySet<string> => {
  const texts = new Set<string>();
  JSON.stringify(source, (_, value: unknown) => {
    if (typeof value === 'string') {
      const shown = JSON.stringify(value.trim().toLowerCase()).slice(1, -1);
      for (const text of [shown, ...shown.split(',')]) texts.add(text.trim());
    }
    return value;
  });
  return texts;
};

const reference = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;

/** Environment variables that override configuration fields, for containers and process managers. */
const envOverrides = { JUNCTOR_HOST: 'HOST', JUNCTOR_PORT: 'PORT', JUNCTOR_APIKEY: 'APIKEY' } as const;

/** A configuration with its references resolved, and the unset ones. */
interface InterpolatedConfig {
  readonly value: JsonObject;
  readonly unset: readonly UnsetReference[];
}

/** A field that the environment overrides. */
interface EnvOverride {
  readonly field: (typeof envOverrides)[keyof typeof envOverrides];
  readonly variable: string;
  readonly text: string;
}

/** The fields that the environment overrides, as text; blank variables are ignored. */
export const envOverridesIn = (env: Environment): readonly EnvOverride[] =>
  Object.entries(envOverrides).flatMap(([variable, field]) => {
    const text = env[variable]?.trim();
    return text ? [{ field, variable, text }] : [];
  });

/** Names the variable in findings on a field that it overrides: the fault isn't the file's. */
export const nameOverrides = (findings: readonly SchemaFault[], env: Environment): readonly SchemaFault[] => {
  const variables = new Map<string, string>(envOverridesIn(env).map(({ field, variable }) => [field, variable]));
  return findings.map(({ path, message }) => {
    const variable = variables.get(path);
    return variable === undefined ? { path, message } : { path: variable, message: `${message}; it replaces ${path}` };
  });
};

/** Whether the path of a finding is a variable that overrides a field. */
export const isOverride = (path: string): boolean => Object.hasOwn(envOverrides, path);

/** Overrides fields with the environment's values. */
export const applyEnvOverrides = ({ value, unset }: InterpolatedConfig, env: Environment): InterpolatedConfig => {
  const set = envOverridesIn(env).map(({ field, text }) => [field, text] as const);
  const fields = new Set<string>(set.map(([field]) => field));
  return {
    value: { ...value, ...Object.fromEntries(set) },
    unset: unset.filter(({ path }) => !fields.has(path)),
  };
};
