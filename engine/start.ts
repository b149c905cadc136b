import { graphRows } from '../admin/graph.ts';
import { healthRows } from '../admin/health.ts';
import { rootRows } from '../admin/root.ts';
import { transformerRows } from '../admin/transformers.ts';
import { wordFault } from '../admin/word-fault.ts';
import { clientProtocols } from '../protocols/index.ts';
import { formats, plainFormat, stages } from '../transformers/index.ts';
import type { Config } from './config/config.ts';
import { wordFinding } from './config/findings.ts';
import type { KnownVendor } from './config/first-start.ts';
import type { Environment } from './config/interpolate.ts';
import { loadStages } from './custom/load-stages.ts';
import { listen } from './http/listener.ts';
import { type Row, site } from './http/site.ts';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import { openLogs } from './log/index.ts';
import { createLossCounter, type LossSeries } from './loss-counter.ts';
import type { Format } from './model/transformer.ts';
import { modelEndpoint } from './model-endpoint.ts';
import { requestLog } from './request-log.ts';
import { createSignatureMemory } from './signatures/memory.ts';
import { createTokenCounter } from './tokens/token-counter.ts';
import { createUpstreams } from './upstream/create-upstreams.ts';
import { checkEntries } from './yard/check-entries.ts';
import { buildYard, type Yard } from './yard/yard.ts';

/** How the service is started. */
export interface StartOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders beside `home` from which custom transformers may be loaded. */
  readonly transformerFolders?: readonly string[];
  /** Vendors beside the built-in ones; one of the same name takes the built-in one's place. */
  readonly vendors?: readonly Format[];
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
  /** How often each field was lost since the start. */
  readonly losses: () => readonly LossSeries[];
  /** Takes no new requests, lets those at work run to their end for at most the configured time, then lets go of everything. */
  readonly stop: () => Promise<void>;
}

/** Connections per upstream origin; each stream holds one. */
const maxConnections = 2_048;
const keepAliveMs = 15_000;

/** Puts the service together and opens its port. Throws an error worded for users when it can't. */
export const start = async ({
  env,
  home,
  report,
  port,
  transformerFolders = [],
  vendors = [],
}: StartOptions): Promise<Service> => {
  const { config, warnings, file, demo } = await loadConfig(home, env, knownVendors());
  const custom = await loadStages(config.transformers, { home, allowed: transformerFolders });
  const tables = { formats: withVendors(vendors), stages, plainFormat, custom };
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
  const yard = buildYard(config, tables, {
    upstreams,
    countTokens,
    log: logs.app,
    signatures: createSignatureMemory(),
    losses: createLossCounter(),
    keepAliveMs,
  });
  const health = { draining: false };
  const adminRows = [
    ...transformerRows(() => tables),
    ...graphRows(
      () => yard,
      clientProtocols.map(({ protocol }) => protocol),
    ),
    ...healthRows(() => health),
    ...rootRows,
  ];
  const release = async (): Promise<void> => {
    demo?.close();
    await Promise.all([upstreams.close(), logs.close()]);
  };

  const listener = await listen({
    ...servingOptions(config, [...modelRows(() => yard), ...adminRows]),
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
    losses: yard.losses.series,
    baseUrl: `http://${urlHost(listener.addresses[0] ?? config.host)}:${listener.port}`,
    async stop() {
      health.draining = true;
      await Promise.race([listener.drain(), patience(config.timeouts.drainMs)]);
      listener.close();
      await release();
    },
  };
};

const withVendors = (rows: readonly Format[]): ReadonlyMap<string, Format> =>
  new Map([...formats, ...rows.map((row) => [row.name, row] as const)]);

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
