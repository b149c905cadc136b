import { isJsonObject, type JsonObject } from '../model/json.ts';

/** The environment variable that a provider's key is, in the configuration as written; `undefined` when it is written otherwise. */
export const keyVariable = ({ Providers }: JsonObject, provider: string): string | undefined => {
  const rows = Array.isArray(Providers) ? Providers : [];
  const row: unknown = rows.find(
    (one: unknown) => isJsonObject(one) && typeof one.name === 'string' && one.name.trim() === provider,
  );
  const key = isJsonObject(row) ? (row.apiKey ?? row.api_key) : undefined;
  const found = typeof key === 'string' ? /^\s*\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})\s*$/.exec(key) : null;
  return found?.[1] ?? found?.[2];
};
