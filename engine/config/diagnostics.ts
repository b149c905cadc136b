import Type, { type TSchema } from 'typebox';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { memberPath, type SchemaFault } from '../model/schema.ts';
import { ConfigFile } from './schema.ts';

/** A fault or warning about the configuration: a path, and a message that continues it. */
export type Finding = SchemaFault;

/** Collects faults and warnings, so that users see all of them at once. */
export class Diagnostics {
  readonly #faults = new Map<string, Finding>();
  readonly #warnings: Finding[] = [];

  /** Records a fault, which makes the configuration unusable. A path has one, the first: a schema and a rule may find the same. */
  fault(path: string, message: string): void {
    if (!this.#faults.has(path)) this.#faults.set(path, { path, message });
  }

  /** Records a warning; the configuration stays usable. */
  warn(path: string, message: string): void {
    this.#warnings.push({ path, message });
  }

  /** Whether a fault is at this path. */
  hasFault(path: string): boolean {
    return this.#faults.has(path);
  }

  get faults(): readonly Finding[] {
    return [...this.#faults.values()];
  }

  get warnings(): readonly Finding[] {
    return this.#warnings;
  }
}

/** Formats a finding as one line. */
export const formatFinding = ({ path, message }: Finding): string => `${path || 'The configuration'} ${message}`;

/** Findings as they follow a sentence: each on a line of its own. */
export const formatFindings = (findings: readonly Finding[]): string =>
  findings.map((finding) => `\n- ${formatFinding(finding)}`).join('');

/** Reports unknown members of an object, with the closest known name. */
export const unknownMembers = (value: JsonObject, known: readonly string[], at: string): readonly Finding[] =>
  Object.keys(value)
    .filter((member) => !known.includes(member))
    .map((name) => ({
      path: memberPath(at, name),
      message: `is unknown and has no effect${didYouMean(name, known)}`,
    }));

/** Ends a message on an unknown name with the closest known one; empty if none is close. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const [close] = closeNames(name, known);
  return close === undefined ? '' : `; did you mean ${close}?`;
};

/** Where an unknown field is a fault: without what it was meant for, a client would be unlimited, or machines would not share. */
const strict: ReadonlySet<string> = new Set(['CLIENTS', 'FLEET', 'Router.module']);

/** Conditions have their own check. */
const rules = 'Router.rules';

/** Reports unknown fields: as faults where `strict` says so, else as warnings, since they may be typos. */
export const reportUnknownFields = (source: JsonObject, findings: Diagnostics): void => {
  const check = (value: Json | undefined, schema: TSchema, at: string, isStrict: boolean): void => {
    if (Array.isArray(value)) {
      const list = formOf(schema, Type.IsArray);
      if (list) for (const [index, item] of value.entries()) check(item, list.items, memberPath(at, index), isStrict);
    } else if (isJsonObject(value)) {
      const object = formOf(schema, Type.IsObject);
      if (!object) return;
      for (const { path, message } of unknownMembers(value, Object.keys(object.properties), at))
        findings[isStrict ? 'fault' : 'warn'](path, message);
      for (const [name, member] of Object.entries(object.properties)) {
        const path = memberPath(at, name);
        if (path !== rules) check(value[name], member, path, isStrict || strict.has(path));
      }
    }
  };
  check(source, ConfigFile, '', false);
};

/** The schema, or the first of its alternatives, that has a form. */
const formOf = <S extends TSchema>(schema: TSchema, is: (one: unknown) => one is S): S | undefined =>
  (Type.IsUnion(schema) ? schema.anyOf : [schema]).find(is);

/** Longer names aren't compared: clients choose the length, and the comparison is quadratic. */
const maxLength = 80;
/** Shorter prefixes don't count as matches. */
const minStem = 3;

/** Finds up to three of `names` that resemble `name`, closest first. */
export const closeNames = (name: string, names: Iterable<string>): readonly string[] => {
  if (name.length > maxLength) return [];
  const wanted = name.toLowerCase();
  return [...new Set(names)]
    .map((candidate) => ({ candidate, distance: closeness(wanted, candidate.toLowerCase()) }))
    .filter((item) => item.distance <= Math.max(1, Math.floor((wanted.length + 1) / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((item) => item.candidate);
};

/** Edit distance; a prefix of a longer name counts as distance 1. */
const closeness = (wanted: string, candidate: string): number => {
  const [short, long] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted];
  if (short.length >= minStem && long.startsWith(short)) return long.length === short.length ? 0 : 1;
  return long.length - short.length > long.length / 3 ? Number.POSITIVE_INFINITY : distance(wanted, candidate);
};

/** Levenshtein distance. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};
