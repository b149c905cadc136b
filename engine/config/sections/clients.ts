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

/** A date, or a time with its offset, in milliseconds since 1970; `undefined` for anything else. */
const readTime = (text: string): number | undefined => {
  const atMs = timeForm.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
};

const timeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const spanForm = /^(\d{1,6})(m|h|d|w)$/;

const spanMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** What `expires` of a new client stands for: a span becomes the time at its end. All else is unchanged, and checked with the rest. */
export const expiryOf = (text: string, nowMs: number): string => {
  const [, amount, unit] = spanForm.exec(text.trim()) ?? [];
  if (amount === undefined) return text;
  const span = Number(amount) * (spanMs[unit ?? ''] ?? 0);
  return `${new Date(nowMs + span).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
};

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
  return clients.map(({ name, key, models, routes, limits = {}, budget, expires }, index) => {
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
    const expiresAtMs = expires === undefined ? undefined : readTime(expires);
    if (expires !== undefined && expiresAtMs === undefined)
      findings.fault(`${at}.expires`, 'must be a date as 2026-12-31, or a time as 2026-12-31T18:00Z');
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
      ...(expiresAtMs !== undefined && { expiresAtMs }),
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
