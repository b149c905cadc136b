import { fileURLToPath } from 'node:url';
import { formatFault } from '../../admin/endpoint.ts';
import { uiFilesIn } from '../../admin/ui-files.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import type { Config, TransformerEntry } from '../config/config.ts';
import { type ModuleWatch, watchModules } from '../config/custom/watch-modules.ts';
import { type Finding, formatFinding } from '../config/diagnostics.ts';
import type { Environment } from '../config/env.ts';
import { createPresets } from '../config/presets/presets.ts';
import { keyVariable } from '../config/providers.ts';
import { configFile } from '../config/read.ts';
import { keepAliveMs } from '../config/schema.ts';
import { ConfigStore } from '../config/store.ts';
import { withProvider } from '../config/validate.ts';
import { listVendorModels } from '../endpoints/upstream-models.ts';
import { listen } from '../http/listener.ts';
import { createRouter, type HttpRoute } from '../http/router.ts';
import type { Logs } from '../log/logs.ts';
import { openLogs } from '../log/open-logs.ts';
import type { Format } from '../model/transformer.ts';
import { variableFor } from '../observe/history/curl.ts';
import { createHistory } from '../observe/history/history.ts';
import { httpLog } from '../observe/http-log.ts';
import { createLossCounter } from '../observe/losses.ts';
import { createMetrics } from '../observe/metrics/metrics.ts';
import type { LossSeries } from '../observer.ts';
import { root, version } from '../paths.ts';
import { createSignatureCache } from '../reasoning/signature-cache.ts';
import { type ActivateOptions, type ActiveConfig, activateConfig, secretsOf } from '../routing/gateway.ts';
import { sameEntry, validateEntries } from '../routing/plan/build-stages.ts';
import { CountingThread } from '../routing/tokens/counting-thread.ts';
import { createPromptTokens } from '../routing/tokens/prompt-tokens.ts';
import { createUpstreamHealth, steadyNowMs } from '../upstream/health/health.ts';
import { upstreamStates } from '../upstream/health/show-health.ts';
import { type Demo, startDemo } from './demo/demo-server.ts';
import { tuneHeap } from './heap-tuning.ts';
import { httpRoutes } from './http-routes.ts';
import { ConfigError, knownVendors, type LoadedConfig, loadConfig } from './load-config.ts';
import { baseUrlOf, type ListenAddress, listenAt } from './workers/listen-address.ts';
import type { Supervision } from './workers/worker.ts';

/** Options to start the service. */
export interface StartOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders besides `home` from which custom transformers may be loaded. */
  readonly transformerFolders?: readonly string[];
  /** Additional vendors; one with the name of a built-in vendor replaces it. */
  readonly vendors?: readonly Format[];
  /** Folder of the built web interface; default: `ui/dist` next to `engine`. */
  readonly uiFolder?: string;
  /** Replaces the configured port. */
  readonly port?: number;
  /** Shares the port with other processes of the service, which listen at `taken`. Absent: exclusive. */
  readonly sharing?: { readonly taken: ListenAddress | undefined };
  /** Supervision of the service; absent: this process is the whole service and can't be restarted. */
  readonly supervision?: Supervision;
  /** Prints a line for the user who started the service. */
  readonly report: (line: string) => void;
  /** The clock of breakers and cooldowns, in milliseconds since 1970; absent: one that never goes back. */
  readonly healthNowMs?: () => number;
}

/** A running service. */
export interface Service extends Pick<LoadedConfig, 'config' | 'file'> {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  /** No provider is configured; the built-in demo answers. */
  readonly demo: boolean;
  /** Losses per field since the start. */
  readonly losses: () => readonly LossSeries[];
  /** Rejects new requests, waits for active ones for at most the configured drain time, then releases all resources. */
  readonly stop: () => Promise<void>;
  readonly logs: Pick<Logs, 'app' | 'flushSync'>;
  /** The address at which it listens. */
  readonly place: ListenAddress;
  /** All routes that it serves. */
  readonly rows: readonly HttpRoute[];
  /** Stops accepting connections, serves open ones for at most the configured drain time, then releases all resources. */
  readonly retire: () => Promise<void>;
}

const builtUi = fileURLToPath(new URL('ui/dist', root));

/** Builds the service and opens its port. Rejects with a message for users if it can't. */
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
    healthNowMs = steadyNowMs,
  } = options;
  const registry = { formats: withVendors(vendors), stages, defaultFormat };
  const { written, config, warnings, file, demo } = await loadConfig(
    home,
    env,
    knownVendors(registry.formats),
    listVendorModels(registry, env, messagesClient),
  );
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
  const health = createUpstreamHealth({ nowMs: healthNowMs, random: Math.random });
  const metrics = createMetrics({ losses: losses.series, upstreams: () => upstreamStates(active.gateway) });
  const counting = new CountingThread();
  let embedded: Promise<Demo> | undefined;
  const closeDemo = (): void => void embedded?.then((started) => started.close());
  const activateOptions: ActivateOptions = {
    async demoBaseUrl() {
      embedded ??= startDemo();
      return new URL((await embedded).baseUrl);
    },
    env,
    home,
    transformerFolders,
    registry,
    edges: {
      tokens: createPromptTokens(counting),
      log: logs.app,
      signatures: createSignatureCache(),
      losses,
      health,
      keepAliveMs,
    },
  };
  const vendorVariables = knownVendors(activateOptions.registry.formats).map(({ variable }) => variable);
  let active = await activateConfig(activateOptions, config, host);
  const warn = (findings: readonly Finding[]): void => {
    for (const warning of findings.map(formatFinding)) {
      logs.app.warn(warning);
      report(`warning: ${warning}`);
    }
  };
  // An unusable module doesn't prevent the start, since it may be fixed while the service runs.
  const entries = validateEntries(config, active.registry, () => true);
  if (entries.faults.length > 0) {
    closeDemo();
    counting.close();
    await Promise.all([active.upstreams.close(), logs.close()]);
    throw new ConfigError(file ?? configFile(home), entries.faults);
  }
  warn([...warnings, ...entries.warnings]);
  /** Whether an entry's module is already unusable in the active configuration; then another change isn't rejected for it. */
  const isBroken = (entry: TransformerEntry): boolean =>
    active.config.transformers.some((one) => {
      const loaded = active.registry.custom.get(one.at);
      return loaded !== undefined && 'problem' in loaded && sameEntry(one, entry);
    });

  const store = await ConfigStore.open({
    home,
    env,
    initial: { written, config },
    log: logs.app,
    async prepare(next) {
      // Masked before anything of the configuration can be logged.
      secrets = [...secretsOf(active.config), ...secretsOf(next)];
      const ready = await activateConfig(activateOptions, next, host, active);
      return { ...validateEntries(next, ready.registry, isBroken), apply: () => use(ready) };
    },
  });
  let modules: ModuleWatch | undefined;
  const use = (next: ActiveConfig): void => {
    const before = active;
    active = next;
    secrets = [...secretsOf(next.config), next.apiKey ?? ''];
    logs.adjust({ enabled: next.config.log, level: next.config.logLevel });
    listener.update(servingOptions(next, rows));
    metrics.reloaded('applied');
    if (before.upstreams !== next.upstreams) void before.upstreams.close();
    modules?.use(next.registry.custom);
  };

  /** Compiles a configuration without activating it: a preset's, or one to test. */
  const activateAside = async (aside: Config): Promise<ActiveConfig> => {
    // Masked before anything of the configuration can be logged.
    secrets = [...new Set([...secrets, ...secretsOf(aside)])];
    return activateConfig(activateOptions, aside, host, active);
  };
  const build = async (aside: Config) => (await activateAside(aside)).gateway;
  const presets = createPresets({
    home,
    env,
    base: () => store.written,
    build,
    check: async (preset) => validateEntries(preset, (await activateAside(preset)).registry, isBroken),
    warn: (name, findings) => warn(findings.map(({ path, message }) => ({ path: `preset ${name}: ${path}`, message }))),
  });
  const state = { draining: false };
  const singleProcess = { pid: process.pid, startedAtMs: Date.now(), restarts: 0, workers: [] };
  const rows = httpRoutes({
    home,
    version,
    startedAtMs: Date.now(),
    active: () => active,
    store,
    presets,
    logs,
    metrics,
    requests: createHistory({
      secrets: () => secrets,
      variableOf: (provider) => keyVariable(store.written, provider) ?? variableFor(provider),
      baseUrl: () => baseUrlOf(placeOf()),
    }),
    configWith: (provider) => withProvider(store.written, provider, env, vendorVariables),
    build,
    ui: uiFilesIn(uiFolder),
    health: () => state,
    supervision,
    facts: () => ({
      home,
      baseUrl: baseUrlOf(placeOf()),
      providers: active.config.providers.map(({ name }) => name),
      fleet: supervision?.fleet() ?? singleProcess,
    }),
  });
  let releasing: Promise<unknown> | undefined;
  const release = async (): Promise<void> => {
    modules?.close();
    closeDemo();
    counting.close();
    releasing ??= store.close().then(() => Promise.all([active.upstreams.close(), logs.close()]));
    await releasing;
  };

  const listener = await listen({
    ...servingOptions(active, rows),
    ...(sharing ? listenAt(config, sharing.taken) : { host, port: options.port ?? config.port }),
    hooks: tuneHeap(httpLog(logs)),
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  store.watch();
  modules = watchModules(
    active.registry.custom,
    () => store.refresh(),
    (error) => logs.app.warn('transformer modules are not watched', { error }),
  );
  const placeOf = (): ListenAddress => ({
    host,
    configuredPort: config.port,
    port: listener.port,
    addresses: listener.addresses,
  });
  const end = async (ended: Promise<void>): Promise<void> => {
    await Promise.race([ended, timeoutAfter(active.config.timeouts.drainMs)]);
    listener.close();
    await release();
  };
  return {
    config,
    file,
    demo,
    losses: losses.series,
    logs,
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

const withVendors = (rows: readonly Format[]): ReadonlyMap<string, Format> =>
  new Map([...formats, ...rows.map((row) => [row.name, row] as const)]);

const servingOptions = ({ config, apiKey }: ActiveConfig, rows: readonly HttpRoute[]) => ({
  router: createRouter(rows, formatFault),
  guard: { host: config.host, allowedHosts: config.allowedHosts },
  apiKey,
  limits: {
    bodyBytes: config.limits.bodyBytes,
    inflatedBytes: config.limits.decompressedBytes,
    bodiesBytes: config.limits.bodiesBytes,
    inflateRatio: config.limits.ratio,
    activePerAddress: config.limits.requestsPerClient,
    connectionsPerAddress: config.limits.connectionsPerClient,
  },
});

const timeoutAfter = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
