import { isDeepStrictEqual } from 'node:util';
import { fallbackRules } from '../../../config/config.ts';
import type { Finding } from '../../../config/diagnostics.ts';
import type { Environment } from '../../../config/env.ts';
import { type Validation, validateConfig } from '../../../config/validate.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../model/json/json.ts';
import { memberPath } from '../../../model/schema.ts';

/** A merged configuration that loads as far as possible, what was left out of it for that, and what remains to be said. */
interface Fitted {
  readonly source: JsonObject;
  readonly dropped: readonly Finding[];
  readonly result: Validation;
}

/**
 * Leaves out what keeps a merged configuration from loading: a route that leads nowhere, a value of the wrong type, a provider
 * without a usable address. Our own value comes back in its place, if that loads. Parts of ours that had faults before stay as they
 * are, so the result may have these.
 */
export const leaveOutFaults = (merged: JsonObject, ours: JsonObject, env: Environment): Fitted => {
  const dropped: Finding[] = [];
  const own = validateConfig(ours, env);
  const isOursFaulty = 'faults' in own;
  let source = merged;
  while (true) {
    const result = validateConfig(source, env);
    if (!('faults' in result)) return { source, dropped, result };
    const next = withoutFaults(source, ours, { faults: result.faults, keepsOurs: isOursFaulty, dropped });
    if (isDeepStrictEqual(next, source)) return { source, dropped, result };
    source = next;
  }
};

interface Dropping {
  readonly faults: readonly Finding[];
  /** Whether parts that are as in our configuration stay. */
  readonly keepsOurs: boolean;
  /** Gets what is left out. */
  readonly dropped: Finding[];
}

/** Lists and objects whose items are left out singly. Everything else goes as a whole. */
const opened: ReadonlySet<string> = new Set([
  'Providers',
  'transformers',
  'TIMEOUTS',
  'Router',
  'Router.routes',
  'Router.rules',
  ...['Router.fallback', 'fallback'].flatMap((at) => [at, ...fallbackRules.map((rule) => memberPath(at, rule))]),
]);

/** The members of an object that may stay; `ours` is our object at the same place. */
const withoutFaults = (object: JsonObject, ours: Json | undefined, dropping: Dropping, at = ''): JsonObject => {
  const kept: JsonDraft = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const own = isJsonObject(ours) ? ours[name] : undefined;
    const settled = settle(value, own, dropping, memberPath(at, name));
    if (settled !== undefined) kept[name] = settled;
  }
  return kept;
};

/** The value, what of it may stay, ours in its place, or nothing. */
const settle = (value: Json, ours: Json | undefined, dropping: Dropping, at: string): Json | undefined => {
  const { faults, keepsOurs, dropped } = dropping;
  const within = faults.filter(({ path }) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));
  const [first] = within;
  const isOurs = isDeepStrictEqual(value, ours);
  if (!first || (isOurs && keepsOurs)) return value;
  if (opened.has(at) && within.every(({ path }) => path !== at)) {
    if (isJsonObject(value)) {
      const rest = withoutFaults(value, ours, dropping, at);
      return Object.keys(rest).length > 0 ? rest : undefined;
    }
    if (Array.isArray(value)) {
      const own = Array.isArray(ours) ? ours : [];
      const rest = value.flatMap((item: Json, index): readonly Json[] => {
        const settled = settle(item, counterpart(item, own), dropping, memberPath(at, index));
        return settled === undefined ? [] : [settled];
      });
      return rest.length > 0 ? rest : undefined;
    }
  }
  dropped.push(first);
  return isOurs ? undefined : ours;
};

/** The replaced item of a list: ours of the same name, or an equal one. */
const counterpart = (item: Json, ours: readonly Json[]): Json | undefined =>
  ours.find((own: Json) =>
    isJsonObject(item) && isJsonObject(own) && typeof item.baseUrl === 'string'
      ? item.name === own.name
      : isDeepStrictEqual(item, own),
  );
