import { hash, randomBytes } from 'node:crypto';
import type { Json, JsonObject } from '../../model/json/json.ts';
import { memberPath } from '../../model/schema.ts';
import { type Config, fallbackRules, type NamedClient } from '../config.ts';
import { closeNames, type Diagnostics } from '../diagnostics.ts';
import type { ClientFile, ServiceSettings } from '../schema.ts';

/** Names of routes that a client may be limited to, besides presets. */
const routeNames: readonly string[] = [...fallbackRules, 'explicit', 'module'];

/** What precedes a preset's name among the routes of a client. */
export const presetRoute = 'preset/';

/** What precedes the name of a rule of the user's own among the routes. */
export const ruleRoute = 'rule/';

/** Bytes of randomness in a new key. */
const keyBytes = 32;

/** A new key, in the form that tools and the masking of logs take for one. */
export const newClientKey = (): string => `sk-junctor-${randomBytes(keyBytes).toString('base64url')}`;

/** The digest of a key, in the form that `CLIENTS` holds. */
export const hashedKey = (key: string): string => hashPrefix + hash('sha256', key, 'hex');

const hashPrefix = 'sha256:';

/** Changes `CLIENTS` of a configuration; the member goes with the last client. */
export const editClients = (source: JsonObject, edit: (clients: readonly Json[]) => readonly Json[]): JsonObject => {
  const { CLIENTS, ...others } = source;
  const edited = edit(Array.isArray(CLIENTS) ? CLIENTS : []);
  return edited.length > 0 ? { ...source, CLIENTS: edited } : others;
};

/**
 * What the first client changes, if there is no `APIKEY`: programs that call without a key are refused. `undefined`: nothing
 * changes for others, or nothing did.
 */
export const firstClientNotice = ({ apiKey, clients }: Pick<Config, 'apiKey' | 'clients'>): string | undefined =>
  apiKey === undefined && clients === undefined
    ? 'The model routes need a key from now on: programs that call without one get 401 until they send the key of a client'
    : undefined;

/** The opposite, for the last client. */
export const lastClientNotice = ({ apiKey, clients }: Pick<Config, 'apiKey' | 'clients'>): string | undefined =>
  apiKey === undefined && clients?.length === 1
    ? 'That was the last client: the model routes need no key any more'
    : undefined;

/** Reads `CLIENTS`, which matches its schema. */
export const readClients = (
  clients: readonly ClientFile[],
  { APIKEY, workers }: Pick<ServiceSettings, 'APIKEY'> & { readonly workers: number },
  findings: Diagnostics,
): readonly NamedClient[] => {
  const names = new Map<string, string>();
  const keys = new Map<string, string>();
  if (APIKEY) keys.set(hashedKey(APIKEY.trim()), 'APIKEY');
  else findings.warn('CLIENTS', 'is set but APIKEY is not: every program on this machine may use /api without a key');
  return clients.map(({ name, key, models, routes, limits = {}, budget }, index) => {
    const at = memberPath('CLIENTS', index);
    if (!isPlainName(name))
      findings.fault(`${at}.name`, 'must be 1 to 64 letters, digits, dots, hyphens or underscores');
    const sameName = names.get(name.toLowerCase());
    if (sameName !== undefined) findings.fault(`${at}.name`, `is the name of ${sameName} too`);
    names.set(name.toLowerCase(), at);
    const given = key.trim().toLowerCase();
    const sameKey = keys.get(given);
    if (!isHashedKey(given)) {
      findings.fault(
        `${at}.key`,
        'must be sha256: and 64 hexadecimal digits; for a plain key, `junctor client hash` prints them',
      );
    } else if (sameKey !== undefined) findings.fault(`${at}.key`, `is the key of ${sameKey} too`);
    keys.set(given, at);
    refuseEmpty(models, `${at}.models`, findings);
    refuseEmpty(routes, `${at}.routes`, findings);
    for (const [number, route] of (routes ?? []).entries())
      checkRoute(route, memberPath(`${at}.routes`, number), findings);
    if (budget && budget.tokens === undefined && budget.usd === undefined)
      findings.fault(`${at}.budget`, 'must have tokens, usd or both');
    const { tokensPerMinute: tokens = workers } = limits;
    if (tokens < workers) {
      findings.warn(
        `${at}.limits.tokensPerMinute`,
        `is less than WORKERS: ${workers - tokens} of ${workers} processes grant none of it`,
      );
    }
    return {
      name,
      keyHash: given.slice(hashPrefix.length),
      ...(models && { models: models.map((glob) => glob.trim()) }),
      ...(routes && { routes }),
      limits,
      ...(budget && { budget }),
    };
  });
};

/** Whether a client has a budget in USD, which needs all prices from the first request on. */
export const hasUsdBudget = ({ clients = [] }: Pick<Config, 'clients'>): boolean =>
  clients.some(({ budget }) => budget?.usd !== undefined);

const isHashedKey = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);

/** Whether a text can name a client, a rule or a preset: such a name is a label of metrics and part of a file. */
export const isPlainName = (name: string): boolean => /^(?!\.)[A-Za-z0-9._-]{1,64}$/.test(name);

/** An empty list is ambiguous: it could allow nothing or everything. */
const refuseEmpty = (list: readonly string[] | undefined, at: string, findings: Diagnostics): void => {
  if (list?.length === 0) findings.fault(at, 'must not be empty; leave it out to allow all');
  for (const [index, text] of (list ?? []).entries()) {
    if (text.trim() === '') findings.fault(memberPath(at, index), 'must not be blank');
  }
};

const checkRoute = (route: string, at: string, findings: Diagnostics): void => {
  if (routeNames.includes(route) || route.trim() === '') return;
  if ([presetRoute, ruleRoute].some((prefix) => route.startsWith(prefix) && isPlainName(route.slice(prefix.length))))
    return;
  const [close] = closeNames(route, routeNames);
  const hint =
    close === undefined
      ? `; routes are ${routeNames.join(', ')}, ${ruleRoute}NAME, ${presetRoute}NAME`
      : `; did you mean ${close}?`;
  findings.fault(at, `is no route${hint}`);
};
