import type { ProviderFile } from '../api/config/config-file.ts';
import { isJsonObject, type Json } from '../api/json.ts';

const older = { baseUrl: 'api_base_url', apiKey: 'api_key' } as const;

/** The name of a provider's field: the older spelling if only that is set. */
export const spelling = (provider: ProviderFile, field: keyof typeof older): string =>
  provider[field] === undefined && provider[older[field]] !== undefined ? older[field] : field;

/** A provider's base URL as written. */
export const addressOf = (provider: ProviderFile): string => {
  const address = provider[spelling(provider, 'baseUrl')];
  return typeof address === 'string' ? address : '';
};

/** A provider's keys as written: texts, and objects with a command. Empty if it has none. */
export const keysOf = (provider: ProviderFile): readonly Json[] => {
  const keys = provider[spelling(provider, 'apiKey')];
  if (Array.isArray(keys)) return keys.filter((key: Json | undefined) => key !== undefined);
  return typeof keys === 'string' ? (keys === '' ? [] : [keys]) : isJsonObject(keys) ? [keys] : [];
};

/** The command that prints a key; `undefined`: the key is a text. */
export const commandOf = (key: Json): string | undefined =>
  isJsonObject(key) ? (Array.isArray(key.command) ? key.command.map(String).join(' ') : '') : undefined;

/** Part of the embedded demo provider's base URL. */
const demoHost = '//demo.invalid/';

/** Whether a provider is the embedded demo. */
export const isDemo = (provider: ProviderFile): boolean => addressOf(provider).includes(demoHost);
