import type { ConfigFile, TransformerEntry } from '../api/config-file.ts';
import { isJsonObject, type Json } from '../api/json.ts';

/** Renames a provider in destinations, fallbacks and the scope of transformers. */
export const renameProvider = (config: ConfigFile, from: string, to: string): ConfigFile => {
  if (from === '' || to === '' || from === to) return config;
  const { Router, fallback, transformers } = config;
  return {
    ...config,
    ...(Router && { Router: renameIn(Router, from, to) }),
    ...(fallback !== undefined && { fallback: renameIn(fallback, from, to) }),
    ...(transformers && { transformers: transformers.map((entry) => renameScope(entry, from, to)) }),
  };
};

const renameScope = (entry: TransformerEntry, from: string, to: string): TransformerEntry =>
  typeof entry !== 'string' && entry.provider === from ? { ...entry, provider: to } : entry;

/** Keeps the value's shape: only texts change. */
const renameIn = <T extends Json>(value: T, from: string, to: string): T => rename(value, from, to) as T;

const rename = (value: Json, from: string, to: string): Json => {
  if (typeof value === 'string') return value.startsWith(`${from},`) ? `${to}${value.slice(from.length)}` : value;
  if (Array.isArray(value)) return value.map((item: Json) => rename(item, from, to));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      // The texts of a rule's condition name no provider.
      inner === undefined ? [] : [[name, name === 'when' ? inner : rename(inner, from, to)]],
    ),
  );
};
