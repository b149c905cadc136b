import type { JsonObject } from '../model/json.ts';
import {
  type BreakerPolicy,
  type Config,
  defaults,
  type KeyPolicy,
  type Limits,
  type LogLevel,
  type RetryPolicy,
  type Timeouts,
} from './config.ts';
import type { Findings } from './findings.ts';
import type { UnsetReference } from './interpolate.ts';
import { isLoopback } from './loopback.ts';
import type { HeadFile } from './schema.ts';

/** The part of a configuration that isn't about providers. */
export type Head = Omit<Config, 'providers' | 'router' | 'transformers'>;

/** The fields that stand for themselves, as written → as used. */
export const readHead = (written: HeadFile, unset: readonly UnsetReference[], findings: Findings): Head => {
  const host = written.HOST?.trim() ?? defaults.host;
  const apiKey = written.APIKEY?.trim() || undefined;
  // Falling back to no key at all would open the service to whoever reaches it.
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
    limits: readLimits(written.LIMITS),
    timeouts: readTimeouts(written.TIMEOUTS),
    retry: readRetry(written.RETRY),
    breaker: readBreaker(written.BREAKER),
    keys: readKeys(written.KEYS),
  };
};

/**
 * Makes up for fields that can only be text when they come from the environment (`"PORT": "$PORT"`), and takes those out
 * that are blank or name a variable that isn't set: the default then holds. An APIKEY is never taken out, since that would
 * open the service.
 */
export const settleHead = (written: JsonObject, unset: readonly UnsetReference[], findings: Findings): JsonObject => {
  for (const { path, name } of unset) {
    const section = path.split(/[.[]/, 1)[0] ?? '';
    if (section === 'APIKEY') findings.fault(path, `names the environment variable ${name}, which is not set`);
    else if (section === 'transformers')
      findings.warn(path, `names the environment variable ${name}, which is not set`);
    else if (section !== 'Providers')
      findings.warn(path, `counts as absent: the environment variable ${name} is not set`);
  }
  const missing = new Set(unset.map(({ path }) => path));
  const settled = Object.entries(written).flatMap(([name, value]) => {
    const settle = fromText.get(name);
    if (!settle || typeof value !== 'string') return [[name, value] as const];
    return missing.has(name) || value.trim() === '' ? [] : [[name, settle(value.trim())] as const];
  });
  return Object.fromEntries(settled);
};

const fromText = new Map<string, (text: string) => string | number | boolean>([
  ['HOST', (text) => text],
  ['PORT', (text) => (/^\d{1,5}$/.test(text) ? Number(text) : text)],
  ['WORKERS', (text) => (/^\d{1,5}$/.test(text) ? Number(text) : text)],
  ['LOG', (text) => (text === 'true' || text === 'false' ? text === 'true' : text)],
  ['LOG_LEVEL', (text) => text.toLowerCase()],
]);

const logLevel = (level: NonNullable<HeadFile['LOG_LEVEL']>): LogLevel => {
  if (level === 'trace') return 'debug';
  return level === 'fatal' ? 'error' : level;
};

const readLimits = (written: HeadFile['LIMITS'] = {}): Limits => {
  const { decompressedPerBodyByte, ...fixed } = defaults.limits;
  const bodyBytes = written.bodyBytes ?? fixed.bodyBytes;
  const requestsPerClient = written.requestsPerClient ?? fixed.requestsPerClient;
  return {
    bodyBytes,
    decompressedBytes: written.decompressedBytes ?? bodyBytes * decompressedPerBodyByte,
    ratio: written.ratio ?? fixed.ratio,
    jsonDepth: written.jsonDepth ?? fixed.jsonDepth,
    requestsPerClient,
    connectionsPerClient: written.connectionsPerClient ?? Math.max(requestsPerClient, fixed.requestsPerClient),
    connectionsPerProvider: written.connectionsPerProvider ?? fixed.connectionsPerProvider,
    queuePerProvider: written.queuePerProvider ?? fixed.queuePerProvider,
  };
};

const readTimeouts = (written: HeadFile['TIMEOUTS'] = {}): Timeouts => ({
  connectMs: written.connectMs ?? defaults.timeouts.connectMs,
  firstByteMs: written.firstByteMs ?? defaults.timeouts.firstByteMs,
  idleMs: written.idleMs ?? defaults.timeouts.idleMs,
  queueMs: written.queueMs ?? defaults.timeouts.queueMs,
  stageMs: written.stageMs ?? defaults.timeouts.stageMs,
  drainMs: written.drainMs ?? defaults.timeouts.drainMs,
});

const readRetry = (written: HeadFile['RETRY'] = {}): RetryPolicy => ({
  attempts: written.attempts ?? defaults.retry.attempts,
  budget: written.budget ?? defaults.retry.budget,
  floor: written.floor ?? defaults.retry.floor,
  baseMs: written.baseMs ?? defaults.retry.baseMs,
  maxMs: written.maxMs ?? defaults.retry.maxMs,
  retryAfterMs: written.retryAfterMs ?? defaults.retry.retryAfterMs,
});

const readBreaker = (written: HeadFile['BREAKER'] = {}): BreakerPolicy => ({
  faults: written.faults ?? defaults.breaker.faults,
  openMs: written.openMs ?? defaults.breaker.openMs,
});

const readKeys = (written: HeadFile['KEYS'] = {}): KeyPolicy => ({
  limitedMs: written.limitedMs ?? defaults.keys.limitedMs,
  refusedMs: written.refusedMs ?? defaults.keys.refusedMs,
});
