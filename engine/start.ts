import { fileURLToPath } from 'node:url';
import { uiFilesIn } from '../admin/ui-files.ts';
import { wordFault } from '../admin/word-fault.ts';
import { formats, plainFormat, stages } from '../transformers/index.ts';
import type { Config } from './config/config.ts';
import { type Finding, wordFinding } from './config/findings.ts';
import type { Environment } from './config/interpolate.ts';
import { keyVariable } from './config/key-variable.ts';
import { ConfigStore } from './config/store.ts';
import { withProvider } from './config/with-provider.ts';
import { listen } from './http/listener.ts';
import { type Row, site } from './http/site.ts';
import { type InUse, type SetUpOptions, secretsOf, setUp } from './in-use.ts';
import { knownVendors } from './known-vendors.ts';
import { leanHeap } from './lean-heap.ts';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import { openLogs } from './log/index.ts';
import { createLossCounter, type LossSeries } from './loss-counter.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { Format } from './model/transformer.ts';
import { root } from './places.ts';
import { createPresets } from './presets/presets.ts';
import { requestLog } from './request-log.ts';
import { variableFor } from './requests/curl.ts';
import { createRequests } from './requests/requests.ts';
import { steadyNowMs } from './retry/steady-clock.ts';
import { createUpstreamHealth } from './retry/upstream-health.ts';
import { upstreamStates } from './retry/upstream-state.ts';
import { servedPaths } from './served-paths.ts';
import { createSignatureMemory } from './signatures/memory.ts';
import { CountingThread } from './tokens/counting-thread.ts';
import { createPromptTokens } from './tokens/prompt-tokens.ts';
import { version } from './version.ts';
import type { Supervision } from './workers/fleet.ts';
import { baseUrlOf, listenAt, type Place } from './workers/place.ts';
import { checkEntries } from './yard/check-entries.ts';

/** How the service is started. */
export interface StartOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders beside `home` from which custom transformers may be loaded. */
  readonly transformerFolders?: readonly string[];
  /** Vendors beside the built-in ones; one of the same name takes the built-in one's place. */
  readonly vendors?: readonly Format[];
  /** The folder of the built web interface; absent: `ui/dist` beside `engine`. */
  readonly uiFolder?: string;
  /** In place of the configured port. */
  readonly port?: number;
  /** Other processes of the service open the port too; `taken` is where they have it. Absent: nobody else may open it. */
  readonly sharing?: { readonly taken: Place | undefined };
  /** The service that this process is a part of; absent: it is the whole of it and can't be restarted. */
  readonly supervision?: Supervision;
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
  /** Where its port is open. */
  readonly place: Place;
  /** All that it serves. */
  readonly rows: readonly Row[];
  /** Lets other processes take new connections, serves its own until they end, for at most the configured time. */
  readonly retire: () => Promise<void>;
}

const keepAliveMs = 15_000;

const builtUi = fileURLToPath(new URL('ui/dist', root));

/** Puts the service together and opens its port. Throws an error worded for users when it can't. */
export const start = async (options: StartOptions): Promise<Service> => {
  const {
    env,
    home,
    report,
    transformerFolders = [],
    vendors = [],
    sharing,
    supervision,
    uiFolder = builtUi,
  } = options;
  const { written, config, warnings, file, demo } = await loadConfig(home, env, knownVendors(formats));
  const { host } = config;
  let secrets = secretsOf(config);
  const logs = openLogs({
    home,
    enabled: config.log,
    level: config.logLevel,
    onTrouble: report,
    secrets: () => secrets,
  });
  const losses = createLossCounter();
  const health = createUpstreamHealth({ nowMs: steadyNowMs, random: Math.random });
  const metrics = createMetrics({ losses: losses.series, upstreams: () => upstreamStates(inUse.yard) });
  const counting = new CountingThread();
  const setUpOptions: SetUpOptions = {
    env,
    home,
    transformerFolders,
    tables: { formats: withVendors(vendors), stages, plainFormat },
    edges: {
      tokens: createPromptTokens(counting),
      log: logs.app,
      signatures: createSignatureMemory(),
      losses,
      health,
      keepAliveMs,
    },
  };
  let inUse = await setUp(setUpOptions, config, host);
  const tell = (findings: readonly Finding[]): void => {
    for (const warning of findings.map(wordFinding)) {
      logs.app.warn(warning);
      report(`warning: ${warning}`);
    }
  };
  tell([...warnings, ...checkEntries(config, inUse.tables)]);

  const store = await ConfigStore.open({
    home,
    env,
    initial: { written, config },
    log: logs.app,
    async prepare(next) {
      // Before anything of it can be logged.
      secrets = [...secretsOf(inUse.config), ...secretsOf(next)];
      const ready = await setUp(setUpOptions, next, host, inUse);
      return { ...sortFindings(next, checkEntries(next, ready.tables)), apply: () => use(ready) };
    },
  });
  const use = (next: InUse): void => {
    const before = inUse;
    inUse = next;
    secrets = [...secretsOf(next.config), next.apiKey ?? ''];
    logs.adjust({ enabled: next.config.log, level: next.config.logLevel });
    listener.update(servingOptions(next, rows));
    metrics.reloaded('applied');
    if (before.upstreams !== next.upstreams) void before.upstreams.close();
  };

  /** A configuration beside the one in use: a preset's, or one that is tried out. */
  const setUpAside = async (aside: Config): Promise<InUse> => {
    // Before anything of it can be logged.
    secrets = [...new Set([...secrets, ...secretsOf(aside)])];
    return setUp(setUpOptions, aside, host, inUse);
  };
  const build = async (aside: Config) => (await setUpAside(aside)).yard;
  const presets = createPresets({
    home,
    env,
    base: () => store.written,
    build,
    check: async (preset) => sortFindings(preset, checkEntries(preset, (await setUpAside(preset)).tables)),
    warn: (name, findings) => tell(findings.map(({ path, message }) => ({ path: `preset ${name}: ${path}`, message }))),
  });
  const state = { draining: false };
  const alone = { pid: process.pid, startedAtMs: Date.now(), restarts: 0, workers: [] };
  const rows = servedPaths({
    home,
    version,
    startedAtMs: Date.now(),
    inUse: () => inUse,
    store,
    presets,
    logs,
    metrics,
    requests: createRequests({
      secrets: () => secrets,
      variableOf: (provider) => keyVariable(store.written, provider) ?? variableFor(provider),
      baseUrl: () => baseUrlOf(placeOf()),
    }),
    configWith: (provider) => withProvider(store.written, provider, env),
    build,
    ui: uiFilesIn(uiFolder),
    health: () => state,
    supervision,
    facts: () => ({
      home,
      baseUrl: baseUrlOf(placeOf()),
      providers: inUse.config.providers.map(({ name }) => name),
      fleet: supervision?.fleet() ?? alone,
    }),
  });
  let releasing: Promise<unknown> | undefined;
  const release = async (): Promise<void> => {
    demo?.close();
    counting.close();
    releasing ??= store.close().then(() => Promise.all([inUse.upstreams.close(), logs.close()]));
    await releasing;
  };

  const listener = await listen({
    ...servingOptions(inUse, rows),
    ...(sharing ? listenAt(config, sharing.taken) : { host, port: options.port ?? config.port }),
    hooks: leanHeap(requestLog(logs)),
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  store.watch();
  const placeOf = (): Place => ({
    host,
    configuredPort: config.port,
    port: listener.port,
    addresses: listener.addresses,
  });
  const end = async (ended: Promise<void>): Promise<void> => {
    await Promise.race([ended, patience(inUse.config.timeouts.drainMs)]);
    listener.close();
    await release();
  };
  return {
    config,
    file,
    demo: demo !== undefined,
    losses: losses.series,
    baseUrl: baseUrlOf(placeOf()),
    place: placeOf(),
    rows,
    retire: () => end(listener.retire()),
    stop() {
      state.draining = true;
      return end(listener.drain());
    },
  };
};

/** A module may be mended later, and the routes that need it say what is wrong with it; anything else refuses the change. */
const sortFindings = ({ transformers }: Config, findings: readonly Finding[]) => {
  const modules = new Set(transformers.flatMap(({ at, path }) => (path === undefined ? [] : [at])));
  return {
    faults: findings.filter(({ path }) => !modules.has(path)),
    warnings: findings.filter(({ path }) => modules.has(path)),
  };
};

const withVendors = (rows: readonly Format[]): ReadonlyMap<string, Format> =>
  new Map([...formats, ...rows.map((row) => [row.name, row] as const)]);

const servingOptions = ({ config, apiKey }: InUse, rows: readonly Row[]) => ({
  site: site(rows, wordFault),
  guard: { host: config.host, allowedHosts: config.allowedHosts },
  apiKey,
  limits: {
    bodyBytes: config.limits.bodyBytes,
    inflatedBytes: config.limits.decompressedBytes,
    inflateRatio: config.limits.ratio,
    activePerAddress: config.limits.requestsPerClient,
    connectionsPerAddress: config.limits.connectionsPerClient,
  },
});

const patience = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
