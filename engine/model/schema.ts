import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { fail } from './fault.ts';

/** What is wrong with a value, and where. */
export interface SchemaFault {
  /** Path of the member at fault: `messages[2].content`. Empty for the value itself. */
  readonly path: string;
  /** Reads on after the path: `must be string`. */
  readonly message: string;
}

/** A schema at work at a border: unknown in, a checked type out. Compiled when first used. */
export interface Reader<T> {
  /** The value, checked. Throws an `invalid-request` fault that names the member at fault; `at` is the value's own path. */
  readonly read: (value: unknown, at?: string) => T;
  readonly matches: (value: unknown) => value is T;
  /** All that is wrong; empty when nothing is. */
  readonly faults: (value: unknown, at?: string) => readonly SchemaFault[];
}

export const reader = <const S extends TSchema>(schema: S): Reader<Static<S>> => {
  let compiled: ReturnType<typeof Compile<S>> | undefined;
  const validator = () => {
    compiled ??= Compile(schema);
    return compiled;
  };
  const matches = (value: unknown): value is Static<S> => validator().Check(value);
  const faults = (value: unknown, at = ''): readonly SchemaFault[] => {
    const byPath = new Map<string, string[]>();
    for (const error of validator().Errors(value)) {
      // Each of the members has a fault of its own.
      if (error.keyword === 'additionalProperties') continue;
      const missing = error.keyword === 'required' ? error.params.requiredProperties : undefined;
      const places = missing?.map((name) => `${error.instancePath}/${escapePointer(name)}`) ?? [error.instancePath];
      for (const place of places) {
        const path = joinPath(at, place);
        const messages = byPath.get(path) ?? [];
        if (error.keyword !== 'anyOf') messages.push(missing ? 'is required' : wordError(error));
        byPath.set(path, messages);
      }
    }
    return [...byPath].map(([path, messages]) => ({ path, message: alternatives(messages) }));
  };
  const read = (value: unknown, at = ''): Static<S> => {
    if (matches(value)) return value;
    const first = faults(value, at)[0];
    const path = first?.path ?? at;
    return fail('invalid-request', `${path || 'The body'} ${first?.message ?? 'is invalid'}.`, { param: path });
  };
  return { read, matches, faults };
};

/** A path with one more step: `messages` and `2` give `messages[2]`. */
export const memberPath = (at: string, member: string | number): string =>
  typeof member === 'number' ? `${at}[${member}]` : at === '' ? member : `${at}.${member}`;

const joinPath = (at: string, pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => memberPath(path, /^\d+$/.test(step) ? Number(step) : step), at);

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

const wordError = (error: { keyword: string; message: string; params: object }): string => {
  if (error.keyword === 'boolean') return 'is unknown';
  return error.keyword === 'const' && 'allowedValue' in error.params
    ? `must be ${JSON.stringify(error.params.allowedValue)}`
    : error.message;
};

/** `must be string`, `must be null` → `must be string or null`. */
const alternatives = (messages: readonly string[]): string => {
  const [first = 'is invalid', ...rest] = [...new Set(messages)];
  const tails = rest.filter((message) => message.startsWith('must be ')).map((message) => message.slice(8));
  return first.startsWith('must be ') && tails.length > 0
    ? `must be ${[first.slice(8), ...tails].join(' or ').replace(/ or (?=.* or )/g, ', ')}`
    : first;
};
