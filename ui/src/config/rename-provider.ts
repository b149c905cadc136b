import type { ConfigFile, TransformerEntry } from '../api/config/config-file.ts';
import { isJsonObject, type Json } from '../api/json.ts';
import { withAsked } from './conditions.ts';

/** Renames a provider in destinations, fallbacks, members of pools and the scope of transformers. */
export const renameProvider = (config: ConfigFile, from: string, to: string): ConfigFile => {
  if (from === '' || to === '' || from === to) return config;
  const { Pools, transformers } = config;
  const renamed: Rename = (text) => (text.startsWith(`${from},`) ? `${to}${text.slice(from.length)}` : text);
  return {
    ...renameRoutes(config, renamed),
    ...(Pools && {
      Pools: Pools.map(({ members = [], ...pool }) => ({ ...pool, members: renameIn(members, renamed) })),
    }),
    ...(transformers && { transformers: transformers.map((entry) => renameScope(entry, from, to)) }),
  };
};

const renameScope = (entry: TransformerEntry, from: string, to: string): TransformerEntry =>
  typeof entry !== 'string' && entry.provider === from ? { ...entry, provider: to } : entry;

/** Renames a pool in destinations and fallbacks. */
export const renamePool = (config: ConfigFile, from: string, to: string): ConfigFile =>
  from === '' || to === '' || from === to ? config : renameRoutes(config, (text) => (text === from ? to : text));

type Rename = (text: string) => string;

const renameRoutes = (config: ConfigFile, renamed: Rename): ConfigFile => {
  const { Router, fallback } = config;
  return {
    ...config,
    ...(Router && { Router: renameIn(Router, renamed) }),
    ...(fallback !== undefined && { fallback: renameIn(fallback, renamed) }),
  };
};

/** Keeps the value's shape: only texts change. */
const renameIn = <T extends Json>(value: T, renamed: Rename): T => rename(value, renamed) as T;

const rename = (value: Json, renamed: Rename): Json => {
  if (typeof value === 'string') return renamed(value);
  if (Array.isArray(value)) return value.map((item: Json) => rename(item, renamed));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      // Of a rule's condition, only what it asks names a provider.
      inner === undefined ? [] : [[name, name === 'when' ? withAsked(inner, renamed) : rename(inner, renamed)]],
    ),
  );
};
