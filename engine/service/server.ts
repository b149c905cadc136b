import { fileURLToPath } from 'node:url';
import { formatFault } from '../../admin/endpoint.ts';
import { uiFilesIn } from '../../admin/ui-files.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import { keyVariable } from '../config/providers.ts';
import { withProvider } from '../config/validate.ts';
import { listVendorModels } from '../endpoints/upstream-models.ts';
import { type Listener, listen } from '../http/listener.ts';
import { createRouter, type HttpRoute } from '../http/router.ts';
import type { Logs } from '../log/logs.ts';
import type { Format } from '../model/transformer.ts';
import { variableFor } from '../observe/history/curl.ts';
import { createHistory } from '../observe/history/history.ts';
import { httpLog } from '../observe/http-log.ts';
import { createMetrics } from '../observe/metrics/metrics.ts';
import type { LossSeries } from '../observer.ts';
import { root } from '../paths.ts';
import { upstreamStates } from '../upstream/health/show-health.ts';
import { tuneHeap } from './heap-tuning.ts';
import { httpRoutes } from './http-routes.ts';
import { knownVendors, type LoadedConfig, loadConfig } from './load-config.ts';
import { openGateway } from './reloadable-gateway.ts';
import { openServices, type ServicesOptions } from './services.ts';
import { baseUrlOf, type ListenAddress, listenAt } from './workers/listen-address.ts';
import type { Supervision } from './workers/worker.ts';

/** Builds the service and opens its port. Rejects with a message for users if it can't. */
export const start = async (options: StartOptions): Promise<Service> => {
  const { env, home, report, vendors = [], supervision, uiFolder = builtUi } = options;
  const registry = { formats: withVendors(vendors), stages, defaultFormat };
  const known = knownVendors(registry.formats);
  const loaded = await loadConfig(home, env, known, listVendorModels(registry, env, messagesClient));
  const { config, file, demo } = loaded;
  const services = openServices(options, registry, config);
  const { logs, losses } = services;
  const gateway = await orClose(services.close, openGateway(services, loaded, report));
  const release = once(() => gateway.close().then(services.close));
  const metrics = createMetrics({ losses, upstreams: () => upstreamStates(gateway.active()) });
  const state = { draining: false };
  const startedAtMs = Date.now();
  const baseUrl = (): string => baseUrlOf(placeOf(config, listener));
  const requests = createHistory({
    secrets: () => services.secrets.all,
    variableOf: (provider) => keyVariable(gateway.store.written, provider) ?? variableFor(provider),
    baseUrl,
  });
  const vendorVariables = known.map(({ variable }) => variable);
  const routes = httpRoutes({
    home,
    startedAtMs,
    gateway,
    logs,
    metrics,
    requests,
    configWith: (provider) => withProvider(gateway.store.written, provider, env, vendorVariables),
    ui: uiFilesIn(uiFolder),
    health: () => state,
    supervision,
    facts: () => ({
      home,
      baseUrl: baseUrl(),
      providers: gateway.active().config.providers.map(({ name }) => name),
      fleet: supervision?.fleet() ?? { pid: process.pid, startedAtMs, restarts: 0, workers: [] },
    }),
  });
  const listener = await orClose(release, openListener(options, config, routes, logs));
  gateway.watch(({ config: next }) => {
    listener.update(servingOptions(next, routes));
    metrics.reloaded('applied');
  });
  const end = async (ended: Promise<void>): Promise<void> => {
    await Promise.race([ended, timeoutAfter(gateway.active().config.timeouts.drainMs)]);
    listener.close();
    await release();
  };
  return {
    config,
    file,
    demo,
    losses,
    logs,
    baseUrl: baseUrl(),
    place: placeOf(config, listener),
    routes,
    retire: () => end(listener.retire()),
    stop() {
      state.draining = true;
      return end(listener.drain());
    },
  };
};

/** Options to start the service. */
export interface StartOptions extends ServicesOptions {
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
  readonly routes: readonly HttpRoute[];
  /** Stops accepting connections, serves open ones for at most the configured drain time, then releases all resources. */
  readonly retire: () => Promise<void>;
}

const builtUi = fileURLToPath(new URL('ui/dist', root));

const withVendors = (more: readonly Format[]): ReadonlyMap<string, Format> =>
  new Map([...formats, ...more.map((format) => [format.name, format] as const)]);

const openListener = (
  { sharing, port }: StartOptions,
  config: Config,
  routes: readonly HttpRoute[],
  logs: Logs,
): Promise<Listener> =>
  listen({
    ...servingOptions(config, routes),
    ...(sharing ? listenAt(config, sharing.taken) : { host: config.host, port: port ?? config.port }),
    hooks: tuneHeap(httpLog(logs)),
  });

const servingOptions = (config: Config, routes: readonly HttpRoute[]) => ({
  router: createRouter(routes, formatFault),
  guard: { host: config.host, allowedHosts: config.allowedHosts },
  apiKey: config.apiKey,
  limits: {
    bodyBytes: config.limits.bodyBytes,
    inflatedBytes: config.limits.decompressedBytes,
    bodiesBytes: config.limits.bodiesBytes,
    inflateRatio: config.limits.ratio,
    activePerAddress: config.limits.requestsPerClient,
    connectionsPerAddress: config.limits.connectionsPerClient,
  },
});

const placeOf = ({ host, port: configuredPort }: Config, { port, addresses }: Listener): ListenAddress => ({
  host,
  configuredPort,
  port,
  addresses,
});

/** Closes what is open already if the next part can't be opened. */
const orClose = <T>(close: () => Promise<void>, opened: Promise<T>): Promise<T> =>
  opened.catch(async (error: unknown) => {
    await close();
    throw error;
  });

const once = (task: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => {
    done ??= task();
    return done;
  };
};

const timeoutAfter = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
