import type { ConfigFile, TransformerEntry } from '../../api/config/config.ts';

const isFormatOf = (entry: TransformerEntry, provider: string, formats: readonly string[]): boolean =>
  typeof entry !== 'string' &&
  entry.provider === provider &&
  entry.models === undefined &&
  entry.path === undefined &&
  formats.includes(entry.name ?? '');

/** The format configured for a provider; `undefined`: its base URL decides. */
export const formatOf = (
  { transformers = [] }: ConfigFile,
  provider: string,
  formats: readonly string[],
): string | undefined => {
  const entry = transformers.find((one) => isFormatOf(one, provider, formats));
  return typeof entry === 'object' ? entry.name : undefined;
};

/** Sets a provider's format, in its existing entry or a new one at the end; `undefined` removes it. */
export const withFormat = (
  config: ConfigFile,
  provider: string,
  format: string | undefined,
  formats: readonly string[],
): ConfigFile => {
  const { transformers = [] } = config;
  const at = transformers.findIndex((entry) => isFormatOf(entry, provider, formats));
  const present = transformers[at];
  if (format === undefined) return at < 0 ? config : { ...config, transformers: transformers.toSpliced(at, 1) };
  // Options belong to the previous format.
  if (typeof present === 'object') {
    const { options: _, ...rest } = present;
    return { ...config, transformers: transformers.with(at, { ...rest, name: format }) };
  }
  return { ...config, transformers: [...transformers, { name: format, provider }] };
};
