import type { ConfigFile, TransformerEntry } from '../../api/config.ts';

const isFormatOf = (entry: TransformerEntry, provider: string, formats: readonly string[]): boolean =>
  typeof entry !== 'string' &&
  entry.provider === provider &&
  entry.models === undefined &&
  entry.path === undefined &&
  formats.includes(entry.name ?? '');

/** The format that the configuration names for a provider; `undefined`: its address decides. */
export const formatOf = (
  { transformers = [] }: ConfigFile,
  provider: string,
  formats: readonly string[],
): string | undefined => {
  const entry = transformers.find((one) => isFormatOf(one, provider, formats));
  return typeof entry === 'object' ? entry.name : undefined;
};

/** Names a provider's format, in the entry that does so or a new one at the end; `undefined` leaves it to the address. */
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
  // Options are a format's own.
  if (typeof present === 'object') {
    const { options: _, ...rest } = present;
    return { ...config, transformers: transformers.with(at, { ...rest, name: format }) };
  }
  return { ...config, transformers: [...transformers, { name: format, provider }] };
};
