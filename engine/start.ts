import { healthRows } from '../admin/health.ts';
import { rootRows } from '../admin/root.ts';
import { wordFault } from '../admin/word-fault.ts';
import { clientProtocols } from '../protocols/index.ts';
import { formats, plainFormat, stages } from '../transformers/index.ts';
import type { Config } from './config/config.ts';
import { wordFinding } from './config/findings.ts';
import type { KnownVendor } from './config/first-start.ts';
import type { Environment } from './config/interpolate.ts';
import { listen } from './http/listener.ts';
import { type Row, site } from './http/site.ts';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import { openLogs } from './log/index.ts';
import { modelEndpoint } from './model-endpoint.ts';
import { requestLog } from './request-log.ts';
import { createTokenCounter } from './tokens/token-counter.ts';
import { createUpstreams } from './upstream/create-upstreams.ts';
import { checkEntries } from './yard/check-entries.ts';
import { buildYard, type Yard } from './yard/yard.ts';

/** How the service is started. */
export interface StartOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** In place of the configured port. */
  readonly port?: number;
  /** Takes lines for the person who starts the service. */
  readonly report: (line: string) => void;
}

/** A running service. */
export interface Service extends Pick<LoadedConfig, 'config' | 'file'> {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  /** The embedded upstream answers. */
  readonly demo: boolean;
  /** Takes no new requests, lets those at work run to their end for at most the configured time, then lets go of everything. */
  readonly stop: () => Promise<void>;
}

/** Connections per upstream origin; each stream holds one. */
const maxConnections = 2_048;
const keepAliveMs = 15_000;

/** Puts the service together and opens its port. Throws an error worded for users when it can't. */
export const start = async ({ env, home, port, report }: StartOptions): Promise<Service> => {
  const { config, warnings, file, demo } = await loadConfig(home, env, knownVendors());
  const tables = { formats, stages, plainFormat };
  const secrets = [config.apiKey ?? '', ...config.providers.map(({ apiKey }) => apiKey)];
  const logs = openLogs({
    home,
    enabled: config.log,
    level: config.logLevel,
    onTrouble: report,
    secrets: () => secrets,
  });
  for (const warning of [...warnings, ...checkEntries(config, tables)].map(wordFinding)) {
    logs.app.warn(warning);
    report(`warning: ${warning}`);
  }
  const upstreams = createUpstreams({ ...config.timeouts, connections: maxConnections, environment: env });
  const countTokens = createTokenCounter().count;
  const yard = buildYard(config, tables, { upstreams, countTokens, log: logs.app, keepAliveMs });
  const health = { draining: false };
  const release = async (): Promise<void> => {
    demo?.close();
    await Promise.all([upstreams.close(), logs.close()]);
  };

  const listener = await listen({
    ...servingOptions(config, [...modelRows(() => yard), ...healthRows(() => health), ...rootRows]),
    host: config.host,
    port: port ?? config.port,
    hooks: requestLog(logs),
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  return {
    config,
    file,
    demo: demo !== undefined,
    baseUrl: `http://${urlHost(listener.addresses[0] ?? config.host)}:${listener.port}`,
    async stop() {
      health.draining = true;
      await Promise.race([listener.drain(), patience(config.timeouts.drainMs)]);
      listener.close();
      await release();
    },
  };
};

const knownVendors = (): readonly KnownVendor[] =>
  [...formats.values()].flatMap(({ name, firstStart }) => (firstStart ? [{ provider: name, ...firstStart }] : []));

const modelRows = (yard: () => Yard): readonly Row[] =>
  clientProtocols.flatMap(({ protocol, paths }) => {
    const endpoint = modelEndpoint(protocol, yard);
    return paths.map((path): Row => ({ method: 'POST', path, endpoint }));
  });

const servingOptions = ({ host, allowedHosts, apiKey, limits }: Config, rows: readonly Row[]) => ({
  site: site(rows, wordFault),
  guard: { host, allowedHosts },
  apiKey,
  limits: {
    bodyBytes: limits.bodyBytes,
    inflatedBytes: limits.decompressedBytes,
    inflateRatio: limits.ratio,
    activePerAddress: limits.requestsPerClient,
  },
});

const patience = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

const urlHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);
