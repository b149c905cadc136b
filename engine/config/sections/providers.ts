import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import type { ModelFacts } from '../../model/models/model-facts.ts';
import { memberPath, reader } from '../../model/schema.ts';
import { type CallExtras, type KeyCommand, type Provider, unknownBaseUrl } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { UnsetReference } from '../env.ts';
import { type CredentialFile, type ModelFile, ProviderFile } from '../schema.ts';
import { isPlaceholder } from '../secrets.ts';
import { callHeaderValue, readCallExtras } from './call-extras.ts';
import { checkAddress } from './check-address.ts';

const file = reader(ProviderFile, { compiled: false });

/** The result of reading `Providers`. */
export interface ProviderList {
  readonly providers: readonly Provider[];
  /** Names of all providers, valid or not, so that one fault doesn't cause others. */
  readonly names: readonly string[];
  /** Names of all models, of valid elements or not. */
  readonly modelNames: ReadonlySet<string>;
  /** Whether every element's models could be read. */
  readonly complete: boolean;
}

/** Reads `Providers`. Elements that don't match the schema are reported already and omitted. */
export const readProviders = (
  source: Json | undefined,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): ProviderList => {
  const rows = Array.isArray(source) ? source : [];
  const providers: Provider[] = [];
  const names: string[] = [];
  rows.forEach((row: Json, index) => {
    const at = memberPath('Providers', index);
    if (isJsonObject(row) && typeof row.name === 'string') checkName(row.name.trim(), names, at, findings);
    const missing = unset.filter(({ path }) => path.startsWith(`${at}.`));
    const provider = file.matches(row) && readProvider(row, missing, at, findings);
    if (provider) providers.push(provider);
  });
  const lists = rows.map(modelNamesOf);
  return {
    providers,
    names,
    modelNames: new Set(lists.flatMap((list) => list ?? [])),
    complete: !lists.includes(undefined),
  };
};

/** The models of an element, whatever else is wrong with it; `undefined`: they can't be read. */
const modelNamesOf = (row: Json): readonly string[] | undefined => {
  const models = isJsonObject(row) ? row.models : undefined;
  if (!Array.isArray(models)) return undefined;
  return models.flatMap((model: Json) => {
    const name = isJsonObject(model) ? model.name : model;
    return typeof name === 'string' ? [name.trim()] : [];
  });
};

const checkName = (name: string, names: string[], at: string, findings: Diagnostics): void => {
  const path = memberPath(at, 'name');
  const twin = names.find((other) => other.toLowerCase() === name.toLowerCase());
  if (name === '') findings.fault(path, 'must not be blank');
  else if (name.includes(','))
    findings.fault(path, 'must not contain a comma, which separates the provider from the model');
  else if (twin === name) findings.fault(path, `${JSON.stringify(name)} is used twice; names must be unique`);
  else if (twin !== undefined) findings.warn(path, `differs from ${JSON.stringify(twin)} only in case`);
  names.push(name);
};

const readProvider = (
  row: ProviderFile,
  missing: readonly UnsetReference[],
  at: string,
  findings: Diagnostics,
): Provider | undefined => {
  const url = preferred(row, 'baseUrl', 'api_base_url', at, findings);
  const isClients = row.credentials === 'client';
  const credential = isClients ? '' : preferred(row, 'apiKey', 'api_key', at, findings);
  const urlPath = memberPath(at, row.baseUrl === undefined ? 'api_base_url' : 'baseUrl');
  const keysPath = memberPath(at, row.apiKey === undefined ? 'api_key' : 'apiKey');
  const keyCommands = new Map<string, KeyCommand>();
  const apiKeys = credential === undefined ? undefined : readKeys(credential, keysPath, missing, keyCommands, findings);
  const urlsPath = `${memberPath(at, 'otherBaseUrls')}[`;
  const others = missing.filter(
    ({ path }) => !path.startsWith(urlsPath) && (!apiKeys || apiKeys.length === 0 || !path.startsWith(`${keysPath}[`)),
  );
  const unset = [...new Set(others.map(({ name }) => name))];
  for (const name of unset) findings.warn(at, `can't be used: the environment variable ${name} is not set`);
  // A URL with an unset variable could name a different host.
  const baseUrl = missing.some(({ path }) => path === urlPath) ? new URL(unknownBaseUrl) : httpUrl(url);
  if (url !== undefined && !baseUrl) findings.fault(urlPath, 'must be a URL (http or https)');
  if (baseUrl) checkUrl(baseUrl, urlPath, findings);
  const otherBaseUrls = readOtherUrls(row, baseUrl, missing, memberPath(at, 'otherBaseUrls'), findings);
  if (isClients && !(isEmpty(row.apiKey) && isEmpty(row.api_key))) {
    findings.warn(keysPath, 'has no effect: clients send their own credentials');
  }
  if (!baseUrl || !apiKeys) return undefined;
  const extras = readCallExtras(row, at, findings);
  checkAddress(baseUrl, extras?.query ?? {}, urlPath, findings);
  const modelExtras = new Map<string, CallExtras>();
  const modelFacts = new Map<string, ModelFacts>();
  const models = row.models.flatMap((listed, index) => {
    if (typeof listed === 'string') return listed.trim() || [];
    const name = listed.name.trim();
    const own = readCallExtras(listed, memberPath(`${at}.models`, index), findings);
    const facts = readModelFacts(listed);
    if (own) modelExtras.set(name, own);
    if (facts) modelFacts.set(name, facts);
    return name || [];
  });
  return {
    name: row.name.trim(),
    baseUrl,
    ...(otherBaseUrls.length > 0 && { otherBaseUrls }),
    apiKeys: apiKeys.length > 0 ? apiKeys : [''],
    ...(keyCommands.size > 0 && { keyCommands }),
    models: [...new Set(models)],
    ...(isClients && { credentials: 'client' as const }),
    ...(row.timeouts && { timeouts: row.timeouts }),
    ...(row.webSocket && { webSocket: true as const }),
    ...(row.learn !== undefined && { learn: row.learn }),
    ...(extras && { extras }),
    ...(modelExtras.size > 0 && { modelExtras }),
    ...(modelFacts.size > 0 && { modelFacts }),
    unset,
  };
};

const checkUrl = ({ username, password }: URL, at: string, findings: Diagnostics): void => {
  if (username === '' && password === '') return;
  findings.fault(at, 'must not contain a user name or password, which would not be sent; use apiKey');
};

/** Reads the further base URLs. Repeated ones and those with an unset variable are omitted with a warning. */
const readOtherUrls = (
  { otherBaseUrls = [] }: ProviderFile,
  first: URL | undefined,
  missing: readonly UnsetReference[],
  at: string,
  findings: Diagnostics,
): readonly URL[] => {
  const urls: URL[] = [];
  otherBaseUrls.forEach((text, index) => {
    const path = memberPath(at, index);
    const unset = missing.find((reference) => reference.path === path);
    const url = httpUrl(text);
    if (unset) findings.warn(path, `is ignored: the environment variable ${unset.name} is not set`);
    else if (!url) findings.fault(path, 'must be a URL (http or https)');
    else if ([first, ...urls].some((other) => other?.href === url.href)) {
      findings.warn(path, 'is ignored: the URL is listed before');
    } else {
      checkUrl(url, path, findings);
      urls.push(url);
    }
  });
  return urls;
};

/** What a model's object says of the model; `undefined` if it says nothing. */
const readModelFacts = ({ context, maxOutput, input, price, lacks }: ModelFile): ModelFacts | undefined => {
  const facts = {
    ...(context !== undefined && { context }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(input && { input }),
    ...(price && { price }),
    ...(lacks && { lacks }),
  };
  return Object.keys(facts).length > 0 ? facts : undefined;
};

/**
 * Reads the credentials; `commands` gets those that a command prints. Blank, repeated and unset items of a list are omitted with a
 * warning.
 */
const readKeys = (
  credential: CredentialFile | readonly CredentialFile[],
  at: string,
  missing: readonly UnsetReference[],
  commands: Map<string, KeyCommand>,
  findings: Diagnostics,
): readonly string[] => {
  const read = (one: CredentialFile, path: string): string => {
    if (typeof one !== 'string') {
      const isUnset = missing.some((reference) => reference.path.startsWith(`${path}.`));
      return readCommand(one, path, isUnset, commands, findings);
    }
    const key = one.trim();
    // Placeholders have a fault of their own.
    if (!callHeaderValue.test(key) && !isPlaceholder(key)) {
      findings.fault(path, 'has a character that no HTTP header can hold, such as a line break');
    }
    return key;
  };
  if (!isList(credential)) return [read(credential, at)];
  const keys: string[] = [];
  credential.forEach((one, index) => {
    const path = memberPath(at, index);
    const unset = missing.find((reference) => reference.path === path || reference.path.startsWith(`${path}.`));
    const key = unset ? '' : read(one, path);
    if (unset) findings.warn(path, `is ignored: the environment variable ${unset.name} is not set`);
    else if (key === '') findings.warn(path, 'is ignored: it is blank');
    else if (keys.includes(key)) findings.warn(path, 'is ignored: the key is listed before');
    else keys.push(key);
  });
  return keys;
};

const isEmpty = (credential: CredentialFile | readonly CredentialFile[] = ''): boolean =>
  (typeof credential === 'string' || isList(credential)) && credential.length === 0;

/** `Array.isArray` doesn't narrow a type with a read-only list. */
const isList = (credential: CredentialFile | readonly CredentialFile[]): credential is readonly CredentialFile[] =>
  Array.isArray(credential);

/** Adds a command, and returns what stands for it among the keys: a text with a character that no key can have. */
const readCommand = (
  { command, forMs = defaultForMs }: Exclude<CredentialFile, string>,
  at: string,
  isUnset: boolean,
  commands: Map<string, KeyCommand>,
  findings: Diagnostics,
): string => {
  if (command[0]?.trim() === '' && !isUnset) findings.fault(`${memberPath(at, 'command')}[0]`, 'must name a program');
  if (command.some((word) => word.includes('\0'))) findings.fault(memberPath(at, 'command'), 'has a NUL character');
  const name = `\0${JSON.stringify(command)}`;
  if (!commands.has(name)) commands.set(name, { command, forMs });
  return name;
};

/** How long a key by command is used, in milliseconds. */
const defaultForMs = 300_000;

/** A member's value under its name or its older spelling; a fault if both are missing. */
const preferred = <Name extends 'baseUrl' | 'apiKey', Older extends 'api_base_url' | 'api_key'>(
  row: ProviderFile,
  name: Name,
  older: Older,
  at: string,
  findings: Diagnostics,
): ProviderFile[Name] | ProviderFile[Older] => {
  const value = row[name];
  const olderValue = row[older];
  if (value === undefined && olderValue === undefined) findings.fault(memberPath(at, name), 'is required');
  if (value !== undefined && olderValue !== undefined && !isDeepStrictEqual(value, olderValue)) {
    findings.warn(memberPath(at, older), `has no effect: ${name} is set too`);
  }
  return value ?? olderValue;
};

const httpUrl = (text: string | undefined): URL | undefined => {
  const url = text !== undefined && URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
};

/** The environment variable that a provider's key refers to; `undefined` if the key isn't a single reference. */
export const keyVariable = ({ Providers }: JsonObject, provider: string): string | undefined => {
  const rows = Array.isArray(Providers) ? Providers : [];
  const row: unknown = rows.find(
    (one: unknown) => isJsonObject(one) && typeof one.name === 'string' && one.name.trim() === provider,
  );
  const key = isJsonObject(row) ? (row.apiKey ?? row.api_key) : undefined;
  const found = typeof key === 'string' ? /^\s*\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})\s*$/.exec(key) : null;
  return found?.[1] ?? found?.[2];
};

/**
 * The embedded provider. Calls to its base URL are answered in the process; the name never resolves (RFC 2606, section 2).
 */
export const demoProvider = { name: 'demo', model: 'echo', baseUrl: 'http://demo.invalid/v1' } as const;

const demoHost = new URL(demoProvider.baseUrl).hostname;

/** Whether a URL is the embedded provider's. */
export const isDemo = ({ hostname }: URL): boolean => hostname === demoHost;
