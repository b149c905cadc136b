import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json } from '../model/json.ts';
import { memberPath, reader } from '../model/schema.ts';
import { type Provider, unknownBaseUrl } from './config.ts';
import type { Findings } from './findings.ts';
import type { UnsetReference } from './interpolate.ts';
import { ProviderFile } from './schema.ts';

const file = reader(ProviderFile);

/** What is known of `Providers`. */
export interface ProviderList {
  readonly providers: readonly Provider[];
  /** Names of all that have one, usable or not, so that one fault doesn't bring about others. */
  readonly names: readonly string[];
  /** Whether every element could be used. */
  readonly complete: boolean;
}

/** `Providers` as written → as used. What doesn't fit the schema has been reported already and is left out. */
export const readProviders = (
  written: Json | undefined,
  unset: readonly UnsetReference[],
  findings: Findings,
): ProviderList => {
  const rows = Array.isArray(written) ? written : [];
  const providers: Provider[] = [];
  const names: string[] = [];
  rows.forEach((row: Json, index) => {
    const at = memberPath('Providers', index);
    if (isJsonObject(row) && typeof row.name === 'string') checkName(row.name.trim(), names, at, findings);
    const missing = unset.filter(({ path }) => path.startsWith(`${at}.`));
    const provider = file.matches(row) && readProvider(row, missing, at, findings);
    if (provider) providers.push(provider);
  });
  return { providers, names, complete: providers.length === rows.length };
};

const checkName = (name: string, names: string[], at: string, findings: Findings): void => {
  const path = memberPath(at, 'name');
  const twin = names.find((other) => other.toLowerCase() === name.toLowerCase());
  if (name === '') findings.fault(path, 'must not be blank');
  else if (name.includes(','))
    findings.fault(path, 'must not hold a comma: it ends where `provider,model` has its comma');
  else if (twin === name) findings.fault(path, `is ${JSON.stringify(name)} a second time; names must be unique`);
  else if (twin !== undefined) findings.warn(path, `differs from ${JSON.stringify(twin)} in case alone`);
  names.push(name);
};

const readProvider = (
  row: ProviderFile,
  missing: readonly UnsetReference[],
  at: string,
  findings: Findings,
): Provider | undefined => {
  const url = preferred(row, 'baseUrl', 'api_base_url', at, findings);
  const credential = preferred(row, 'apiKey', 'api_key', at, findings);
  const urlPath = memberPath(at, row.baseUrl === undefined ? 'api_base_url' : 'baseUrl');
  const keysPath = memberPath(at, row.apiKey === undefined ? 'api_key' : 'apiKey');
  const apiKeys = credential === undefined ? undefined : readKeys(credential, keysPath, missing, findings);
  const others = missing.filter(({ path }) => !apiKeys || apiKeys.length === 0 || !path.startsWith(`${keysPath}[`));
  const unset = [...new Set(others.map(({ name }) => name))];
  for (const name of unset) findings.warn(at, `can't be used: the environment variable ${name} is not set`);
  // What is left of an address without its variable may be another host's.
  const baseUrl = missing.some(({ path }) => path === urlPath) ? new URL(unknownBaseUrl) : httpUrl(url);
  if (url !== undefined && !baseUrl) findings.fault(urlPath, 'must be a URL (http or https)');
  if (baseUrl && (baseUrl.username !== '' || baseUrl.password !== '')) {
    findings.fault(
      urlPath,
      'must not hold a user name or a password: they would not be sent; the credential is apiKey',
    );
  }
  if (!baseUrl || !apiKeys) return undefined;
  const models = row.models.map((model) => model.trim()).filter((model) => model !== '');
  return {
    name: row.name.trim(),
    baseUrl,
    apiKeys: apiKeys.length > 0 ? apiKeys : [''],
    models: [...new Set(models)],
    unset,
  };
};

/** The credentials that can be used. One of a list that is blank, a repetition, or not known is left out, with a warning. */
const readKeys = (
  credential: string | readonly string[],
  at: string,
  missing: readonly UnsetReference[],
  findings: Findings,
): readonly string[] => {
  if (typeof credential === 'string') return [credential.trim()];
  const keys: string[] = [];
  credential.forEach((text, index) => {
    const path = memberPath(at, index);
    const key = text.trim();
    const unset = missing.find((reference) => reference.path === path);
    if (unset) findings.warn(path, `is left out: the environment variable ${unset.name} is not set`);
    else if (key === '') findings.warn(path, 'is left out: it is blank');
    else if (keys.includes(key)) findings.warn(path, 'is left out: the same key comes before it');
    else keys.push(key);
  });
  return keys;
};

/** The member's value, under its own name or else its older spelling; a fault when it has neither. */
const preferred = <Name extends 'baseUrl' | 'apiKey', Older extends 'api_base_url' | 'api_key'>(
  row: ProviderFile,
  name: Name,
  older: Older,
  at: string,
  findings: Findings,
): ProviderFile[Name] | ProviderFile[Older] => {
  const value = row[name];
  const olderValue = row[older];
  if (value === undefined && olderValue === undefined) findings.fault(memberPath(at, name), 'is required');
  if (value !== undefined && olderValue !== undefined && !isDeepStrictEqual(value, olderValue)) {
    findings.warn(memberPath(at, older), `has no effect: ${name} is given too`);
  }
  return value ?? olderValue;
};

const httpUrl = (text: string | undefined): URL | undefined => {
  const url = text !== undefined && URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
};
