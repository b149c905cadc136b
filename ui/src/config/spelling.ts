import type { ProviderFile } from '../api/config-file.ts';

const older = { baseUrl: 'api_base_url', apiKey: 'api_key' } as const;

/** The name under which a provider's field is written: the older spelling where that alone is used. */
export const spelling = (provider: ProviderFile, field: keyof typeof older): string =>
  provider[field] === undefined && provider[older[field]] !== undefined ? older[field] : field;

/** A provider's address as it is written. */
export const addressOf = (provider: ProviderFile): string => {
  const address = provider[spelling(provider, 'baseUrl')];
  return typeof address === 'string' ? address : '';
};

/** A provider's keys as they are written; none gives an empty list. */
export const keysOf = (provider: ProviderFile): readonly string[] => {
  const keys = provider[spelling(provider, 'apiKey')];
  if (Array.isArray(keys)) return keys.map(String);
  return typeof keys === 'string' && keys !== '' ? [keys] : [];
};
