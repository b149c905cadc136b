import Type, { type TSchema } from 'typebox';
import { isJsonObject } from '../json/json.ts';
import { type Extra, wireFormats } from '../request.ts';
import { memberPath, type Reader, reader, type SchemaFault } from '../schema.ts';

/** A schema for each member of a type, so that the compiler notices a missing one. */
export type Members<T> = { readonly [K in keyof Required<T>]: TSchema };

/** Maximum nesting of a value of custom code: deeper than any client's body, and finite, which a circle isn't. */
const maxDepth = 512;

const isJson = (value: unknown, levels = maxDepth): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object': {
      if (value === null) return true;
      if (levels === 0) return false;
      if (Array.isArray(value)) return value.every((member) => isJson(member, levels - 1));
      return isPlain(value) && Object.values(value).every((member) => isJson(member, levels - 1));
    }
    default:
      return false;
  }
};

/** Numbers that a double can't hold mark their objects by a prototype of their own; such objects have no further prototype but `Object`'s. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === Object.prototype && !Object.hasOwn(Object(prototype), 'constructor');
};

const notJson = (): string => 'must be JSON: no circle, no function, no NaN';

/** Any JSON value, and an object of JSON. */
export const json = Type.Refine(Type.Unknown(), (value) => value !== undefined && isJson(value), notJson);
export const jsonObject = Type.Refine(
  Type.Object({}),
  (value: unknown) => !Array.isArray(value) && isJson(value),
  notJson,
);

export const text = Type.String();
/** A name or an id: never empty. */
export const word = Type.String({ minLength: 1 });
export const count = Type.Integer({ minimum: 0 });
export const flag = Type.Boolean();
export const wire = Type.Enum([...wireFormats]);
export const optional = Type.Optional;

/** An object with exactly these members. A further one would be lost without notice, so it is named. */
export const exactly = <M extends Record<string, TSchema>>(members: M) =>
  Type.Object(members, { additionalProperties: false });

export const signature = Type.Object({
  format: text,
  data: text,
  issuer: optional(text),
  text: optional(text),
  after: optional(text),
});

export const extra = Type.Object({
  wire,
  at: text,
  fields: jsonObject,
  outer: optional(Type.Object({})),
  original: optional(Type.Object({})),
} satisfies Members<Extra>);

/** Path at which a value of custom code breaks its type, with the expected type; `undefined`: it fits. */
export type Problem = SchemaFault | undefined;

/** Creates a check against a schema. A value that fits costs one compiled check. */
export const check = (schema: TSchema): ((value: unknown, at: string) => Problem) => {
  const read = reader(schema);
  return (value, at) => (read.matches(value) ? undefined : (firstFault(read, value, at) ?? unreadable(at)));
};

const firstFault = (read: Reader<unknown>, value: unknown, at: string): Problem => read.faults(value, at)[0];

const unreadable = (path: string): SchemaFault => ({ path, message: 'is invalid' });

/** The first problem of a list's items. */
export const firstIn = (
  list: readonly unknown[],
  at: string,
  problemOf: (value: unknown, at: string) => Problem,
): Problem => {
  for (let index = 0; index < list.length; index += 1) {
    const problem = problemOf(list[index], memberPath(at, index));
    if (problem) return problem;
  }
  return undefined;
};

/** Creates a check of values that say by a member which of several types they are. */
export const checkByType = <T extends string>(
  member: string,
  checks: Readonly<Record<T, (value: unknown, at: string) => Problem>>,
): ((value: unknown, at: string) => Problem) => {
  const known: ReadonlyMap<unknown, (value: unknown, at: string) => Problem> = new Map(
    Object.entries<(value: unknown, at: string) => Problem>(checks),
  );
  const choices = [...known.keys()].map((name) => JSON.stringify(name)).join(', ');
  return (value, at) => {
    if (!isJsonObject(value)) return { path: at, message: 'must be object' };
    const named = known.get(value[member]);
    if (named) return named(value, at);
    const path = memberPath(at, member);
    return { path, message: value[member] === undefined ? 'is required' : `must be one of ${choices}` };
  };
};
