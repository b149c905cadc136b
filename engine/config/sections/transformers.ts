import { basename } from 'node:path';
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import { memberPath } from '../../model/schema.ts';
import type { TransformerEntry } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { ProviderFile, StageUse, TransformerFile } from '../schema.ts';
import { checkCondition } from './check-condition.ts';
import { checkDestination, type DestinationList } from './check-destination.ts';
import { findProvider } from './destination.ts';
import type { ProviderList } from './providers.ts';

/** An entry before the two lists are merged. */
interface Row extends TransformerEntry {
  /** The entry has an explicit name. */
  readonly named: boolean;
}

/** An item of a source list, with its path. */
export interface SourceItem<T> {
  readonly at: string;
  readonly row: T;
}

/**
 * Reads `transformers`, followed by entries from the providers' `transformer` fields. In claude-code-router, an entry with a
 * path but neither name nor provider registers a module, which a provider's `use` refers to by file name. Such an entry only
 * supplies path and options and isn't applied itself.
 */
export const readTransformers = (
  source: readonly SourceItem<string | TransformerFile>[],
  writtenProviders: readonly SourceItem<ProviderFile>[],
  list: DestinationList,
  findings: Diagnostics,
): readonly TransformerEntry[] => {
  const listed = source.flatMap(({ at, row }) => readEntry(row, at, list, findings));
  const modules = listed.filter((row) => row.path !== undefined);
  const used = writtenProviders.flatMap(({ at, row }) => readUses(at, row, modules, findings));
  const called = new Set(used.map((row) => row.name));
  const applied = listed.filter((row) => row.named || row.provider !== undefined || !called.has(row.name));
  return [...applied.map(({ named: _, ...entry }) => entry), ...used];
};

const readEntry = (
  entry: string | TransformerFile,
  at: string,
  list: DestinationList,
  findings: Diagnostics,
): readonly Row[] => {
  const file: TransformerFile = typeof entry === 'string' ? { name: entry } : entry;
  const { name, provider, models, path, options = {} } = file;
  const ownName = name?.trim() ?? '';
  const module = path?.trim() ?? '';
  const only = provider?.trim() || undefined;
  if (ownName === '' && module === '') {
    findings.fault(
      name === undefined ? memberPath(at, 'name') : at,
      name === undefined ? 'is required' : 'names nothing',
    );
    return [];
  }
  return [
    {
      at,
      name: ownName || moduleName(module),
      named: ownName !== '',
      options,
      ...(only && { provider: providerName(only, memberPath(at, 'provider'), list, findings) }),
      ...(models && { models }),
      ...(module !== '' && { path: module }),
      ...readTerms(file, at, list, findings),
    },
  ];
};

/** On what terms a stage runs: what an entry says of it besides its place and its options. */
type Terms = Pick<TransformerEntry, 'ask' | 'timeoutMs' | 'onError' | 'when'>;

const readTerms = (
  { ask, timeoutMs, onError, when }: TransformerFile,
  at: string,
  list: DestinationList,
  findings: Diagnostics,
): Terms => {
  const destination = (path: string, text: string): void => checkDestination(path, text, list, findings);
  return {
    ...(ask && { ask: ask.map((to) => to.trim()) }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(onError && { onError }),
    ...(when && checkCondition(when, memberPath(at, 'when'), findings, destination) !== undefined && { when }),
  };
};

const providerName = (
  name: string,
  path: string,
  { providers, names }: ProviderList,
  findings: Diagnostics,
): string => {
  const found = findProvider(providers, name);
  if (!found && !names.includes(name)) {
    findings.warn(path, `names the unknown provider ${JSON.stringify(name)}: the entry has no effect`);
  }
  return found?.name ?? name;
};

const readUses = (
  at: string,
  { name, transformer = {} }: ProviderFile,
  modules: readonly Row[],
  findings: Diagnostics,
): readonly TransformerEntry[] =>
  Object.entries(transformer).flatMap(([key, value]) => {
    const path = memberPath(memberPath(at, 'transformer'), key);
    const forAll = Array.isArray(value);
    if (forAll !== (key === 'use')) {
      findings.fault(path, forAll ? 'must be an object with `use`' : 'must be an array');
      return [];
    }
    const uses = forAll ? value : value.use;
    const usesAt = forAll ? path : memberPath(path, 'use');
    return uses.flatMap((use, index) => {
      const read = readUse(use, memberPath(usesAt, index), modules, findings);
      return read ? [{ ...read, provider: name.trim(), ...(!forAll && { models: [key] }) }] : [];
    });
  });

const readUse = (
  use: StageUse,
  at: string,
  modules: readonly Row[],
  findings: Diagnostics,
): TransformerEntry | undefined => {
  const [name, given = {}] = typeof use === 'string' ? [use] : use;
  if (typeof name !== 'string' || name.trim() === '') findings.fault(at, 'must begin with the name of a transformer');
  else if (!isJsonObject(given)) findings.fault(at, 'must have an object of options as its second member');
  else return withModule(name.trim(), given, at, modules);
  return undefined;
};

/** Built-in transformers have lower-case names; claude-code-router also capitalizes them. */
const withModule = (name: string, options: JsonObject, at: string, modules: readonly Row[]): TransformerEntry => {
  const module = modules.find((row) => row.name === name);
  if (module?.path === undefined) return { at, name: name.toLowerCase(), options };
  const { named: _, provider: __, models: ___, ...entry } = module;
  return { ...entry, at, options: { ...module.options, ...options } };
};

const moduleName = (path: string): string => basename(path).replace(/\.[cm]?[jt]s$/, '');
