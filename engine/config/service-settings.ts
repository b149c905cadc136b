import { isIPv4, isIPv6 } from 'node:net';
import type { LogLevel } from '../log/logs.ts';
import type { JsonObject } from '../model/json/json.ts';
import {
  type BreakerPolicy,
  type Config,
  defaults,
  type KeyPolicy,
  type Limits,
  type RetryPolicy,
  type Timeouts,
} from './config.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { UnsetReference } from './env.ts';
import { mostTextBytes, type ServiceSettingsFile } from './schema.ts';

/** The part of a configuration that isn't about providers and routing. */
type ServiceSettings = Omit<Config, 'providers' | 'router' | 'transformers'>;

/** Reads the service settings from the source and fills in defaults. */
export const readServiceSettings = (
  written: ServiceSettingsFile,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): ServiceSettings => {
  const host = written.HOST?.trim() ?? defaults.host;
  const apiKey = written.APIKEY?.trim() || undefined;
  // A blank key must not count as none: that would open the service to everyone.
  if (!apiKey && written.APIKEY) findings.fault('APIKEY', 'must not be blank');
  if (!apiKey && !isLoopback(host)) {
    const open = `${JSON.stringify(host)} can be reached from other machines, so APIKEY must be set`;
    findings.fault('HOST', `is not a loopback address: ${open}, or HOST be ${defaults.host}`);
  }
  const missing = new Set(unset.map(({ path }) => path));
  const allowed = (written.ALLOWED_HOSTS ?? []).filter((_, index) => !missing.has(`ALLOWED_HOSTS[${index}]`));
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: written.PORT ?? defaults.port,
    workers: written.WORKERS ?? defaults.workers,
    apiKey,
    log: written.LOG ?? defaults.log,
    logLevel: logLevel(written.LOG_LEVEL ?? defaults.logLevel),
    allowedHosts: allowed.map((name) => name.trim()).filter((name) => name !== ''),
    chatStrict: written.CHAT_STRICT ?? defaults.chatStrict,
    limits: readLimits(written.LIMITS),
    timeouts: readTimeouts(written.TIMEOUTS),
    retry: readRetry(written.RETRY),
    breaker: readBreaker(written.BREAKER),
    keys: readKeys(written.KEYS),
  };
};

/**
 * Converts fields that the environment supplies as text (`"PORT": "$PORT"`) to their types. Removes fields that are blank or
 * refer to an unset variable, so that defaults apply. APIKEY is never removed, since that would open the service.
 */
export const coerceFromEnv = (
  written: JsonObject,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): JsonObject => {
  for (const { path, name } of unset) {
    const section = path.split(/[.[]/, 1)[0] ?? '';
    if (section === 'APIKEY') findings.fault(path, `names the environment variable ${name}, which is not set`);
    else if (section === 'transformers')
      findings.warn(path, `names the environment variable ${name}, which is not set`);
    else if (section !== 'Providers')
      findings.warn(path, `counts as absent: the environment variable ${name} is not set`);
  }
  const missing = new Set(unset.map(({ path }) => path));
  const coerced = Object.entries(written).flatMap(([name, value]) => {
    const convert = fromText.get(name);
    if (!convert || typeof value !== 'string') return [[name, value] as const];
    return missing.has(name) || value.trim() === '' ? [] : [[name, convert(value.trim())] as const];
  });
  return Object.fromEntries(coerced);
};

const flagOf = (text: string): string | boolean => (text === 'true' || text === 'false' ? text === 'true' : text);

const fromText = new Map<string, (text: string) => string | number | boolean>([
  ['HOST', (text) => text],
  ['PORT', (text) => (/^\d{1,5}$/.test(text) ? Number(text) : text)],
  ['WORKERS', (text) => (/^\d{1,5}$/.test(text) ? Number(text) : text)],
  ['LOG', flagOf],
  ['LOG_LEVEL', (text) => text.toLowerCase()],
  ['CHAT_STRICT', flagOf],
]);

const logLevel = (level: NonNullable<ServiceSettingsFile['LOG_LEVEL']>): LogLevel => {
  if (level === 'trace') return 'debug';
  return level === 'fatal' ? 'error' : level;
};

const readLimits = (written: ServiceSettingsFile['LIMITS'] = {}): Limits => {
  const { decompressedPerBodyByte, ...fixed } = defaults.limits;
  const bodyBytes = written.bodyBytes ?? fixed.bodyBytes;
  const requestsPerClient = written.requestsPerClient ?? fixed.requestsPerClient;
  return {
    bodyBytes,
    decompressedBytes: written.decompressedBytes ?? Math.min(bodyBytes * decompressedPerBodyByte, mostTextBytes),
    bodiesBytes: written.bodiesBytes ?? fixed.bodiesBytes,
    ratio: written.ratio ?? fixed.ratio,
    jsonDepth: written.jsonDepth ?? fixed.jsonDepth,
    requestsPerClient,
    connectionsPerClient: written.connectionsPerClient ?? Math.max(requestsPerClient, fixed.requestsPerClient),
    connectionsPerProvider: written.connectionsPerProvider ?? fixed.connectionsPerProvider,
    queuePerProvider: written.queuePerProvider ?? fixed.queuePerProvider,
    recordBytes: written.recordBytes ?? fixed.recordBytes,
    replyBytes: written.replyBytes ?? fixed.replyBytes,
    decompressedReplyBytes: written.decompressedReplyBytes ?? fixed.decompressedReplyBytes,
  };
};

const readTimeouts = (written: ServiceSettingsFile['TIMEOUTS'] = {}): Timeouts => ({
  connectMs: written.connectMs ?? defaults.timeouts.connectMs,
  firstByteMs: written.firstByteMs ?? defaults.timeouts.firstByteMs,
  idleMs: written.idleMs ?? defaults.timeouts.idleMs,
  queueMs: written.queueMs ?? defaults.timeouts.queueMs,
  stageMs: written.stageMs ?? defaults.timeouts.stageMs,
  drainMs: written.drainMs ?? defaults.timeouts.drainMs,
});

const readRetry = (written: ServiceSettingsFile['RETRY'] = {}): RetryPolicy => ({
  attempts: written.attempts ?? defaults.retry.attempts,
  budget: written.budget ?? defaults.retry.budget,
  floor: written.floor ?? defaults.retry.floor,
  baseMs: written.baseMs ?? defaults.retry.baseMs,
  maxMs: written.maxMs ?? defaults.retry.maxMs,
  waitMs: written.waitMs ?? defaults.retry.waitMs,
});

const readBreaker = (written: ServiceSettingsFile['BREAKER'] = {}): BreakerPolicy => ({
  faults: written.faults ?? defaults.breaker.faults,
  openMs: written.openMs ?? defaults.breaker.openMs,
});

const readKeys = (written: ServiceSettingsFile['KEYS'] = {}): KeyPolicy => ({
  limitedMs: written.limitedMs ?? defaults.keys.limitedMs,
  refusedMs: written.refusedMs ?? defaults.keys.refusedMs,
});

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
