import { isJsonObject, isWithinDepth, type Json, type JsonDraft, type JsonObject } from '../model/json/json.ts';
import { memberPath, type Reader, reader } from '../model/schema.ts';
import type { Config, Provider } from './config.ts';
import { Diagnostics, didYouMean, type Finding, reportUnknownFields } from './diagnostics.ts';
import {
  applyEnvOverrides,
  type Environment,
  interpolateAll,
  nameOverrides,
  type Reference,
  references,
  referredValues,
} from './env.ts';
import { maxDepth } from './parse.ts';
import { RuleFile } from './rule-schema.ts';
import { ConfigFile, FallbackFile, ProviderFile, RouterFile, TransformerEntryFile } from './schema.ts';
import { placeholderFaults, putSecretsBack, secretsIn, shownFindings } from './secrets.ts';
import { readPools } from './sections/pools.ts';
import { isDemo, readProviders } from './sections/providers.ts';
import { readRouter } from './sections/router.ts';
import { coerceFromEnv, isLoopback, readServiceSettings } from './sections/service-settings.ts';
import { readTransformers, type SourceItem } from './sections/transformers.ts';

/** A valid configuration or all its faults, with warnings. */
export type Validation =
  | { readonly config: Config; readonly warnings: readonly Finding[] }
  | {
      readonly faults: readonly Finding[];
      readonly warnings: readonly Finding[];
      /** What could be read, so that the faults of transformers and modules are found too; absent: nothing could. */
      readonly draft?: Config;
    };

const file = reader(ConfigFile, { suggest: didYouMean });
const providerFile = reader(ProviderFile, { compiled: false });
const routerFile = reader(RouterFile, { compiled: false });
const fallbackFile = reader(FallbackFile, { compiled: false });
const transformerFile = reader(TransformerEntryFile, { compiled: false });
const ruleFile = reader(RuleFile, { compiled: false });

/**
 * Validates a configuration's source and fills in defaults. Messages name paths and variables, never a credential's value nor
 * that of a variable. The caller checks names and options of transformers with the registry; each entry's `at` is the path to
 * report.
 */
export const validateConfig = (source: JsonObject, env: Environment): Validation => {
  const findings = new Diagnostics();
  if (!isWithinDepth(source, maxDepth)) return { faults: [tooDeep], warnings: [] };
  const { value, unset } = applyEnvOverrides(interpolateAll(source, env), env);
  const filled = coerceFromEnv(value, unset, findings);
  for (const { path, message } of [...placeholderFaults(source), ...file.faults(filled)]) findings.fault(path, message);
  reportUnknownFields(filled, findings);

  const list = readPools(filled.Pools, readProviders(filled.Providers, unset, findings), unset, findings);
  const { Router, fallback } = filled;
  const router = readRouter(
    withoutFaulty(routerFile, Router) ?? {},
    matchingItems(
      ruleFile,
      isJsonObject(Router) && !findings.hasFault('Router.rules') ? Router.rules : undefined,
      'Router.rules',
    ),
    withoutFaulty(fallbackFile, fallback) ?? {},
    list,
    unset,
    findings,
  );
  const demo = list.providers.find(({ name, baseUrl }) => isDemo(baseUrl) && router.default?.startsWith(`${name},`));
  if (demo && list.providers.length > 1) {
    findings.warn(
      'Router.default',
      `still leads to the embedded provider ${JSON.stringify(demo.name)}, which calls no model`,
    );
  }
  const entries = matchingItems(transformerFile, filled.transformers, 'transformers');
  const transformers = readTransformers(
    entries,
    matchingItems(providerFile, filled.Providers, 'Providers'),
    list,
    findings,
  );
  const settings = readServiceSettings(filled, unset, findings);
  if (settings) warnOfLoops(list.providers, settings, findings);

  const faults = nameOverrides(shownFindings(findings.faults, source, env), env);
  const warnings = shownFindings(findings.warnings, source, env);
  if (!settings) return { faults, warnings };
  const referred = referredValues(source, env);
  const { providers, pools } = list;
  const config = {
    ...settings,
    ...(referred.length > 0 && { referred }),
    secrets: secretsIn(value),
    providers,
    pools,
    router,
    transformers,
  };
  return faults.length > 0 ? { faults, warnings, draft: config } : { config, warnings };
};

/** Warns of providers whose base URL is the service's own: each request would come back to it. */
const warnOfLoops = (
  providers: readonly Provider[],
  { host, port }: Pick<Config, 'host' | 'port'>,
  findings: Diagnostics,
): void => {
  const isOwn = ({ hostname, port: given, protocol }: URL): boolean =>
    protocol === 'http:' && Number(given || 80) === port && (isLoopback(hostname) || hostname === host.toLowerCase());
  for (const { name, baseUrl, otherBaseUrls = [] } of providers) {
    if (![baseUrl, ...otherBaseUrls].some(isOwn)) continue;
    findings.warn('Providers', `has ${JSON.stringify(name)}, whose baseUrl leads to this gateway itself`);
  }
};

/** An object without the members that don't match, which are reported already; of its objects, single members are left out. */
const withoutFaulty = <T>(file: Reader<T>, value: Json | undefined): T | undefined => {
  if (file.matches(value)) return value;
  if (!isJsonObject(value)) return undefined;
  const kept: JsonDraft = { ...value };
  for (const [name, member] of Object.entries(value)) {
    if (file.matches({ [name]: member })) continue;
    const rest = isJsonObject(member)
      ? Object.entries(member).filter(([inner, one]) => file.matches({ [name]: { [inner]: one } }))
      : [];
    if (rest.length > 0) kept[name] = Object.fromEntries(rest);
    else delete kept[name];
  }
  return file.matches(kept) ? kept : undefined;
};

/** A deeper configuration couldn't be parsed again after writing. */
const tooDeep: Finding = { path: '', message: `is nested deeper than ${maxDepth} levels` };

/** The items of a list that match their schema; the others are reported already. */
const matchingItems = <T>(file: Reader<T>, list: Json | undefined, at: string): readonly SourceItem<T>[] =>
  (Array.isArray(list) ? list : []).flatMap((item: unknown, index) =>
    file.matches(item) ? [{ at: memberPath(at, index), row: item }] : [],
  );

/**
 * Validates a configuration that is tried without being saved; placeholders stand for the saved one's secrets. It may only refer
 * to variables that the saved one names or that are in `known`: otherwise a trial could read any environment variable, and leave
 * no trace.
 */
export const validateDraft = (
  draft: JsonObject,
  saved: JsonObject,
  env: Environment,
  known: readonly string[],
): Validation => {
  if (!isWithinDepth(draft, maxDepth)) return { faults: [tooDeep], warnings: [] };
  const allowed = new Set([...known, ...references(saved).map(({ name }) => name)]);
  const unknown = references(draft).filter(({ name }) => !allowed.has(name));
  if (unknown.length > 0) return { faults: unknown.map(unknownVariable), warnings: [] };
  return validateConfig(putSecretsBack(draft, saved), env);
};

/** A provider to be tried. */
export interface ProviderDraft {
  readonly provider: JsonObject;
  /** The entries of `transformers` to try it with, of which only those that apply to it count; absent: the saved ones. */
  readonly transformers?: readonly Json[] | undefined;
}

/** Validates, as a draft, a configuration in which `provider` replaces the provider of the same name. */
export const withProvider = (
  base: JsonObject,
  { provider, transformers }: ProviderDraft,
  env: Environment,
  known: readonly string[],
): Validation => {
  const { Providers: present } = base;
  const isFor = (entry: Json): boolean =>
    !isJsonObject(entry) || entry.provider === undefined || entry.provider === provider.name;
  const others = (Array.isArray(present) ? present : []).filter(
    (row: unknown) => !isJsonObject(row) || row.name !== provider.name,
  );
  // First in the list, so that its faults have a fixed path.
  const draft = { ...base, Providers: [provider, ...others] };
  return validateDraft(transformers ? { ...draft, transformers: transformers.filter(isFor) } : draft, base, env, known);
};

const unknownVariable = ({ path, name }: Reference): Finding => ({
  path,
  message: `names the environment variable ${name}, which the saved configuration doesn't name; save the change before trying it`,
});
