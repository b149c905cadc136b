import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { memberPath, type SchemaFault } from '../model/schema.ts';
import {
  ConfigFile,
  FallbackFile,
  ModelFile,
  ModelPriceFile,
  PoolFile,
  PoolMemberFile,
  ProviderFile,
  RouterFile,
  settingSections,
  TransformerFile,
} from './schema.ts';

/** A fault or warning about the configuration: a path, and a message that continues it. */
export type Finding = SchemaFault;

/** Collects faults and warnings, so that users see all of them at once. */
export class Diagnostics {
  readonly #faults: Finding[] = [];
  readonly #warnings: Finding[] = [];

  /** Records a fault, which makes the configuration unusable. */
  fault(path: string, message: string): void {
    this.#faults.push({ path, message });
  }

  /** Records a warning; the configuration stays usable. */
  warn(path: string, message: string): void {
    this.#warnings.push({ path, message });
  }

  get faults(): readonly Finding[] {
    return this.#faults;
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

interface Known {
  readonly properties: Readonly<Record<string, unknown>>;
}

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

/** Warns of unknown fields. They are kept when the configuration is written, but may be typos. */
export const warnOfUnknownFields = (source: JsonObject, findings: Diagnostics): void => {
  const check = (value: Json | undefined, known: Known, at: string): void => {
    if (!isJsonObject(value)) return;
    for (const { path, message } of unknownMembers(value, Object.keys(known.properties), at))
      findings.warn(path, message);
  };
  const checkEach = (value: Json | undefined, known: Known, at: string): void => {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) check(item, known, memberPath(at, index));
  };
  check(source, ConfigFile, '');
  for (const [name, section] of Object.entries(settingSections)) check(source[name], section, name);
  check(source.fallback, FallbackFile, 'fallback');
  check(source.Router, RouterFile, 'Router');
  if (isJsonObject(source.Router)) {
    check(source.Router.routes, RouterFile.properties.routes, 'Router.routes');
    check(source.Router.fallback, FallbackFile, 'Router.fallback');
  }
  checkEach(source.Providers, ProviderFile, 'Providers');
  for (const [index, provider] of (Array.isArray(source.Providers) ? source.Providers : []).entries()) {
    if (!isJsonObject(provider)) continue;
    const at = `${memberPath('Providers', index)}.models`;
    checkEach(provider.models, ModelFile, at);
    for (const [number, model] of (Array.isArray(provider.models) ? provider.models : []).entries())
      if (isJsonObject(model)) check(model.price, ModelPriceFile, `${memberPath(at, number)}.price`);
  }
  checkEach(source.Pools, PoolFile, 'Pools');
  for (const [index, pool] of (Array.isArray(source.Pools) ? source.Pools : []).entries()) {
    if (isJsonObject(pool)) checkEach(pool.members, PoolMemberFile, `${memberPath('Pools', index)}.members`);
  }
  checkEach(source.transformers, TransformerFile, 'transformers');
};

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
