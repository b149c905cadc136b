import { isIPv4, isIPv6 } from 'node:net';
import { availableParallelism } from 'node:os';
import Type, { type TSchema } from 'typebox';
import { Clean, Default } from 'typebox/value';
import type { JsonObject } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import type { LogLevel } from '../../observe/log/logs.ts';
import type { Config } from '../config.ts';
import { Diagnostics } from '../diagnostics.ts';
import type { UnsetReference } from '../env.ts';
import { maxStringBytes, maxWorkers, ServiceSettings, settingSections } from '../schema.ts';
import { readClients } from './clients.ts';
import { readFleet } from './fleet.ts';
import { checkHosts, readOrigins } from './host-lists.ts';
import { readTelemetry } from './telemetry.ts';

type Settings = Omit<Config, 'providers' | 'pools' | 'router' | 'transformers' | 'secrets'>;
const complete = reader(ServiceSettings, { compiled: false });

/** Decompressed bytes allowed per byte of `bodyBytes`, so that one setting scales both. */
const decompressedPerBodyByte = 2;

/** Connections per client address, however few requests it may have. */
const minConnectionsPerClient = 1024;

/** The part of a configuration that isn't about providers and routing. Defaults stand for fields that don't match the schema. */
export const readServiceSettings = (
  source: JsonObject,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): Settings | undefined => {
  const settings = withDefaults(source);
  if (!complete.matches(settings)) {
    const readable = Object.entries(source).filter(
      ([name]) => complete.faults(withDefaults({ [name]: source[name] })).length === 0,
    );
    // A field that doesn't match is a fault already, so the result serves to find further ones.
    return readable.length < Object.keys(source).length
      ? readServiceSettings(Object.fromEntries(readable), unset, findings)
      : undefined;
  }
  const workers = processCount(settings.WORKERS);
  // A list of none is the same as no list: there is no client to serve, and requests must not need a key that can't exist.
  const clients = settings.CLIENTS?.length
    ? readClients(settings.CLIENTS, { ...settings, workers }, findings)
    : undefined;
  const fleet = settings.FLEET && readFleet(settings.FLEET, unset, findings);
  const telemetry = settings.TELEMETRY && readTelemetry(settings.TELEMETRY, unset, findings);
  return { ...configOf(settings, unset, findings), clients, fleet, telemetry };
};

const processCount = (wanted: ServiceSettings['WORKERS']): number =>
  wanted === 'auto' ? Math.min(maxWorkers, availableParallelism()) : wanted;

/** The settings of an empty source. */
export const defaultSettings = (): Settings => configOf(complete.read(withDefaults({})), [], new Diagnostics());

/** Fills in the schema's defaults and removes unknown members. */
const withDefaults = (source: JsonObject): unknown => {
  const sections = Object.fromEntries(Object.keys(settingSections).map((name) => [name, {}]));
  return Clean(ServiceSettings, Default(ServiceSettings, structuredClone({ ...sections, ...source })));
};

const configOf = (settings: ServiceSettings, unset: readonly UnsetReference[], findings: Diagnostics): Settings => {
  const { HOST, APIKEY, ALLOWED_HOSTS = [], ALLOWED_ORIGINS = [], PROXIES = [], LIMITS } = settings;
  const host = HOST.trim();
  const apiKey = APIKEY?.trim() || undefined;
  if (/[/\s]|^[^:]+:\d+$/.test(host)) {
    findings.fault('HOST', 'must be an IP address or a host name alone, such as 127.0.0.1; the port is PORT');
  }
  // A blank key must not count as none: that would open the service to everyone.
  if (!apiKey && APIKEY) findings.fault('APIKEY', 'must not be blank');
  if (!apiKey && !isLoopback(host) && !findings.hasFault('APIKEY')) {
    const open = `${JSON.stringify(host)} can be reached from other machines, so APIKEY must be set`;
    findings.fault('HOST', `is not a loopback address: ${open}, or HOST must be ${defaultSettings().host}`);
  }
  const missing = new Set(unset.map(({ path }) => path));
  /** Blank where a variable isn't set. */
  const trimmed = (name: string, list: readonly string[]): readonly string[] =>
    list.map((text, index) => (missing.has(`${name}[${index}]`) ? '' : text.trim()));
  const given = (name: string, list: readonly string[]): readonly string[] =>
    trimmed(name, list).filter((text) => text !== '');
  checkHosts(trimmed('ALLOWED_HOSTS', ALLOWED_HOSTS), findings);
  PROXIES.forEach((network, index) => {
    if (isNetwork(network.trim()) || network.trim() === '' || missing.has(`PROXIES[${index}]`)) return;
    findings.fault(`PROXIES[${index}]`, 'must be an IP address, or a network such as 10.0.0.0/8');
  });
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: settings.PORT,
    workers: processCount(settings.WORKERS),
    apiKey,
    clients: undefined,
    fleet: undefined,
    telemetry: undefined,
    log: settings.LOG,
    logLevel: logLevel(settings.LOG_LEVEL),
    allowedHosts: given('ALLOWED_HOSTS', ALLOWED_HOSTS),
    allowedOrigins: readOrigins(trimmed('ALLOWED_ORIGINS', ALLOWED_ORIGINS), findings),
    proxies: given('PROXIES', PROXIES),
    keepAlive: settings.KEEP_ALIVE,
    chatStrict: settings.CHAT_STRICT,
    learn: settings.learn,
    grammar: settings.GRAMMAR,
    limits: {
      ...LIMITS,
      decompressedBytes:
        LIMITS.decompressedBytes ?? Math.min(LIMITS.bodyBytes * decompressedPerBodyByte, maxStringBytes),
      connectionsPerClient: LIMITS.connectionsPerClient ?? Math.max(LIMITS.requestsPerClient, minConnectionsPerClient),
    },
    timeouts: settings.TIMEOUTS,
    retry: settings.RETRY,
    breaker: settings.BREAKER,
    keys: settings.KEYS,
    history: settings.HISTORY,
  };
};

/**
 * Converts fields that the environment supplies as text (`"PORT": "$PORT"`) to their types. Removes fields that are blank or
 * refer to an unset variable, so that defaults apply. APIKEY is never removed, since that would open the service.
 */
export const coerceFromEnv = (
  source: JsonObject,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): JsonObject => {
  for (const { path, name } of unset) {
    const section = path.split(/[.[]/, 1)[0] ?? '';
    if (section === 'APIKEY' || section === 'FLEET')
      findings.fault(path, `names the environment variable ${name}, which is not set`);
    else if (section === 'transformers')
      findings.warn(path, `names the environment variable ${name}, which is not set`);
    else if (section !== 'Providers') findings.warn(path, `is ignored: the environment variable ${name} is not set`);
  }
  const missing = new Set(unset.map(({ path }) => path));
  const coerced = Object.entries(source).flatMap(([name, value]) => {
    const field = textFields.get(name);
    if (!field || typeof value !== 'string') return [[name, value] as const];
    return missing.has(name) || value.trim() === '' ? [] : [[name, fromText(field, value.trim())] as const];
  });
  return Object.fromEntries(coerced);
};

/** The settings that may be text which the environment supplies (`"PORT": "$PORT"`): single values without a secret. */
export const textFields: ReadonlyMap<string, TSchema> = new Map(
  Object.entries(ServiceSettings.properties).filter(
    ([, field]) => !Type.IsObject(field) && !Type.IsArray(field) && !('secret' in field),
  ),
);

const fromText = (field: TSchema, text: string): string | number | boolean => {
  if (Type.IsString(field)) return text;
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower === 'true';
  return /^\d{1,9}$/.test(lower) ? Number(lower) : lower;
};

const logLevel = (level: ServiceSettings['LOG_LEVEL']): LogLevel => {
  if (level === 'trace') return 'debug';
  return level === 'fatal' ? 'error' : level;
};

/** Whether a text is an IP address, or a network: an address and the number of its bits that count. */
const isNetwork = (text: string): boolean => {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
  return Number(prefix ?? 0) <= bits;
};

/** Whether a host name or address, with or without brackets, is loopback. */
export const isLoopback = (host: string): boolean => {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .replace(/%.*$/s, '');
  if (isIPv4(name)) return name.startsWith('127.');
  if (!isIPv6(name)) return name === 'localhost' || name.endsWith('.localhost');
  const plain = new URL(`http://[${name}]/`).hostname.slice(1, -1);
  // A URL writes a mapped IPv4 address in hexadecimal: 127.0.0.1 as 7f00:1.
  return plain === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(plain);
};
