import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { Check, Clone, Default, Errors, Pointer } from 'typebox/value';
import { fail } from './fault.ts';
import { isJsonObject, type JsonObject } from './json/json.ts';

/** A schema violation: where, and what is wrong. */
export interface SchemaFault {
  /** Path of the member at fault: `messages[2].content`. Empty for the value itself. */
  readonly path: string;
  /** Continues the path: `must be string`. */
  readonly message: string;
}

/** Checks unknown values against a schema. */
export interface Reader<T> {
  /** Returns the checked value. Throws an `invalid-request` fault that names the member; `at` is the path of the value. */
  readonly read: (value: unknown, at?: string) => T;
  readonly matches: (value: unknown) => value is T;
  /** All violations, from at most a thousand validator errors; empty if there are none. */
  readonly faults: (value: unknown, at?: string) => readonly SchemaFault[];
}

/** Maximum validator errors per value; the validator's default is 8. */
const maxErrors = 1000;

interface ReaderOptions {
  readonly compiled?: boolean;
  /** Ends the message on an unknown choice, for example with the closest of those known. */
  readonly suggest?: (choice: string, known: readonly string[]) => string;
}

/**
 * Creates a reader for a schema. `read` and `matches` compile it on first use, which takes longer than hundreds of checks: a
 * schema of small values that are read now and then isn't `compiled`.
 */
export const reader = <const S extends TSchema>(
  schema: S,
  { compiled = true, suggest = () => '' }: ReaderOptions = {},
): Reader<Static<S>> => {
  let validator: ReturnType<typeof Compile<S>> | undefined;
  const matches = (value: unknown): value is Static<S> => {
    if (!compiled) return Check(schema, value);
    validator ??= Compile(schema);
    return validator.Check(value);
  };
  const faults = (value: unknown, at = ''): readonly SchemaFault[] => innermost(faultsOf(value, at, maxErrors));
  const faultsOf = (value: unknown, at: string, limit: number): readonly SchemaFault[] => {
    Settings.Set({ maxErrors: limit });
    const byPath = new Map<string, string[]>();
    const hints = new Map<string, string>();
    for (const error of Errors(schema, value)) {
      // Each of these members has its own error.
      if (error.keyword === 'additionalProperties') continue;
      const missing = error.keyword === 'required' ? error.params.requiredProperties : undefined;
      const pointers = missing?.map((name) => `${error.instancePath}/${escapePointer(name)}`) ?? [error.instancePath];
      for (const pointer of pointers) {
        const path = joinPath(at, pointer);
        const messages = byPath.get(path) ?? [];
        if (error.keyword !== 'anyOf') messages.push(missing ? 'is required' : errorMessage(error));
        byPath.set(path, messages);
      }
      if (error.keyword === 'enum') {
        const choice = Pointer.Get(value, error.instancePath);
        const known = error.params.allowedValues.map(String);
        if (typeof choice === 'string') hints.set(joinPath(at, error.instancePath), suggest(choice, known));
      }
    }
    return [...byPath].map(([path, messages]) => ({
      path,
      message: alternatives(messages) + (hints.get(path) ?? ''),
    }));
  };
  const read = (value: unknown, at = ''): Static<S> => {
    if (matches(value)) return value;
    // Only the first fault is reported, so a long request with many mistakes costs no more.
    const first = faultsOf(value, at, 8)[0];
    const path = first?.path ?? at;
    return fail('invalid-request', `${path || 'The body'} ${first?.message ?? 'is invalid'}.`, { param: path });
  };
  return { read, matches, faults };
};

/** Creates a reader for the options of a transformer. Missing options, and missing members, get the schema's defaults. */
export const readerOfOptions = <const S extends TSchema>(schema: S): Reader<Static<S>> => {
  const { read, matches, faults } = reader(schema, { compiled: false });
  const withDefaults = (given: unknown): unknown => Default(schema, Clone(given ?? {}));
  return {
    matches,
    read: (given, at) => read(withDefaults(given), at),
    faults: (given, at) => faults(withDefaults(given), at),
  };
};

/**
 * A member that is only counted or copied, such as usage, ids and metadata. It may be absent or null, and what can't be read of it
 * counts as absent. A number in a text, and a text that is a number, can be read.
 */
export const copied = <const S extends TSchema>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()], { copied: true }));

/** Reads what upstreams send, whose `copied` members can't fail an answer. */
interface LenientReader<T> extends Omit<Reader<T>, 'read'> {
  /** The value, or a copy without what can't be read of its `copied` members; `undefined` if the rest doesn't match. */
  readonly readable: (value: unknown) => T | undefined;
}

/** Creates a lenient reader for a schema. A value that matches costs no more than with `reader`. */
export const lenientReader = <const S extends TSchema>(schema: S): LenientReader<Static<S>> => {
  const { matches, faults } = reader(schema);
  return {
    matches,
    faults,
    readable(value) {
      if (matches(value)) return value;
      const repaired = repair(schema, value, false);
      return matches(repaired) ? repaired : undefined;
    },
  };
};

/** The value without what can't be read of its `copied` members. `isCopied`: it is part of such a member. */
const repair = (schema: unknown, value: unknown, isCopied: boolean): unknown => {
  if (!isJsonObject(schema)) return value;
  const { anyOf, items, properties, type } = schema;
  if (Array.isArray(anyOf)) return repair(alternative(anyOf, value), value, isCopied);
  if (isJsonObject(properties) && isJsonObject(value)) return repairMembers(properties, value, isCopied);
  if (isJsonObject(items) && Array.isArray(value)) return value.map((item: unknown) => repair(items, item, isCopied));
  return isCopied ? convert(type, value) : value;
};

/** The alternative for values of this type, else the first one. */
const alternative = (anyOf: readonly unknown[], value: unknown): unknown =>
  anyOf.find((one) => isJsonObject(one) && one.type === typeOf(value)) ?? anyOf[0];

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const repairMembers = (properties: JsonObject, value: JsonObject, isCopied: boolean): Record<string, unknown> => {
  const repaired: Record<string, unknown> = { ...value };
  for (const [name, schema] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || !isJsonObject(schema)) continue;
    const member = repair(schema, value[name], isCopied || schema.copied === true);
    if (schema.copied === true && !Check(schema, member)) delete repaired[name];
    else repaired[name] = member;
  }
  return repaired;
};

const convert = (type: unknown, value: unknown): unknown => {
  if (type === 'string' && typeof value === 'number') return String(value);
  const isNumber = typeof value === 'string' && /^\d{1,15}$/.test(value);
  return isNumber && (type === 'number' || type === 'integer') ? Number(value) : value;
};

/** Appends a member to a path: `messages` and `2` give `messages[2]`. */
export const memberPath = (at: string, member: string | number): string =>
  typeof member === 'number' ? `${at}[${member}]` : at === '' ? member : `${at}.${member}`;

const joinPath = (at: string, pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => memberPath(path, /^\d+$/.test(step) ? Number(step) : step), at);

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

const errorMessage = (error: { keyword: string; message: string; params: object }): string => {
  if (error.keyword === 'boolean') return 'is unknown';
  if (error.keyword === 'minLength' && 'limit' in error.params) {
    return error.params.limit === 1 ? 'must not be blank' : `must have at least ${error.params.limit} characters`;
  }
  if (error.keyword === 'enum' && 'allowedValues' in error.params && Array.isArray(error.params.allowedValues)) {
    return `must be one of ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  }
  return error.keyword === 'const' && 'allowedValue' in error.params
    ? `must be ${JSON.stringify(error.params.allowedValue)}`
    : error.message;
};

/**
 * The faults without those of a union's other alternatives: a value of which members are wrong has the type of one of them, so that it isn't
 * a text doesn't matter.
 */
const innermost = (faults: readonly SchemaFault[]): readonly SchemaFault[] =>
  faults.filter(
    ({ path, message }) =>
      !/^must be (?:string|boolean|number|integer|null|array|object)\b/.test(message) ||
      !faults.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[`)),
  );

/** `must be string`, `must be null` → `must be string or null`. */
const alternatives = (messages: readonly string[]): string => {
  const [first = 'is invalid', ...rest] = [...new Set(messages)];
  const tails = rest.filter((message) => message.startsWith('must be ')).map((message) => message.slice(8));
  if (!first.startsWith('must be ') || tails.length === 0) return first;
  const types = [first.slice(8), ...tails].join(' or ').split(' or ');
  return `must be ${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
};
