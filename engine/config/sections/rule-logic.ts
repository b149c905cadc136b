import { isDeepStrictEqual } from 'node:util';
import type { When } from '../rule-schema.ts';

/** One requirement of a condition: a fact, a header, or the members of `any` or `not`. All of them must hold. */
interface Requirement {
  readonly name: string;
  readonly value: unknown;
}

/** The requirements of a condition; those of `all` are its own. */
const requirementsOf = (when: When): readonly Requirement[] =>
  Object.entries(when).flatMap(([name, value]): readonly Requirement[] => {
    if (name === 'all') return (when.all ?? []).flatMap(requirementsOf);
    if (name === 'headers') {
      return Object.entries(when.headers ?? {}).map(([header, given]) => ({
        name: `headers.${header.toLowerCase()}`,
        value: given,
      }));
    }
    return [{ name, value }];
  });

/** Whether a condition holds for every request. */
export const alwaysHolds = (when: When): boolean => {
  const { all = [], any, not, ...facts } = when;
  const isFree = Object.values(facts).every((value) => value === undefined);
  return (
    isFree &&
    all.every(alwaysHolds) &&
    (any === undefined || any.some(alwaysHolds)) &&
    (not === undefined || neverHolds(not) !== undefined)
  );
};

/** Why a condition holds for no request; `undefined` if it may hold for one. Finds the plain contradictions. */
export const neverHolds = (when: When): string | undefined => {
  const inner = when.all?.map(neverHolds).find((why) => why !== undefined);
  if (inner !== undefined) return inner;
  if (when.not && alwaysHolds(when.not)) return '`not` is about every request';
  const list = requirementsOf(when);
  const reasons = when.any?.map((one) => neverHolds(one) ?? contradictionOf([...list, ...requirementsOf(one)]));
  if (reasons?.every((why) => why !== undefined)) return reasons[0];
  return contradictionOf(list);
};

const contradictionOf = (list: readonly Requirement[]): string | undefined => {
  for (const range of ['tokens', 'turns', 'sinceUser']) {
    const { over, under } = boundsOf(list, range);
    if (under - over < 2) return `no number of ${range} is over ${over} and under ${under}`;
  }
  for (const [index, { name, value }] of list.entries()) {
    const others = list.slice(index + 1).filter((other) => other.name === name);
    if (
      typeof value === 'boolean' &&
      others.some((other) => typeof other.value === 'boolean' && other.value !== value)
    ) {
      return `${name} is both true and false`;
    }
    if (name.startsWith('headers.') && list.some((other) => other.name === name && other.value === false)) {
      if (value !== false) return `${name} is both absent and present`;
    }
    if (
      name === 'client' &&
      others.some((other) => !textsOf(value).some((one) => textsOf(other.value).includes(one)))
    ) {
      return 'no request has two client protocols';
    }
    // A model with a comma names its provider, which decides before the rules.
    if (name === 'model' && textsOf(value).every((glob) => glob.includes(','))) {
      return 'a model with a comma names its provider, which decides before the rules';
    }
    if (
      name === 'not' &&
      isWhen(value) &&
      implies(
        list.filter((one) => one.value !== value),
        requirementsOf(value),
      )
    ) {
      return 'what it requires is what `not` excludes';
    }
  }
  return undefined;
};

/** Whether every request that matches `later` matches `earlier` too, as far as their requirements show it. */
export const shadows = (earlier: When, later: When): boolean =>
  alwaysHolds(earlier) || implies(requirementsOf(later), requirementsOf(earlier));

const implies = (given: readonly Requirement[], wanted: readonly Requirement[]): boolean =>
  wanted.length > 0 &&
  wanted.every((want) => given.some((have) => have.name === want.name && isDeepStrictEqual(have.value, want.value)));

const boundsOf = (list: readonly Requirement[], range: string) => {
  let over = -1;
  let under = Number.POSITIVE_INFINITY;
  for (const { name, value } of list) {
    if (name !== range || typeof value !== 'object' || value === null) continue;
    if ('over' in value && typeof value.over === 'number') over = Math.max(over, value.over);
    if ('under' in value && typeof value.under === 'number') under = Math.min(under, value.under);
  }
  return { over, under };
};

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');

const isWhen = (value: unknown): value is When => typeof value === 'object' && value !== null;
