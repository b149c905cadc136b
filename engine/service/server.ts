import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { formatFault } from '../../admin/endpoint.ts';
import { clientProtocols, olderRouters } from '../../protocols/index.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { defaultFormat, formats, shipped, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import { envOverridesIn, shownName } from '../config/env.ts';
import type { KnownVendor } from '../config/files/first-run.ts';
import type { Inspect } from '../config/judge.ts';
import { configFile } from '../config/read.ts';
import { withProvider } from '../config/validate.ts';
import type { LocalServerKind } from '../endpoints/local-servers.ts';
import type { FeatureFolder } from '../feature.ts';
import { otherAtLocalhost } from '../http/bind.ts';
import type { ChosenServer, HttpServerFacts } from '../http/choose-server.ts';
import { type Listener, listen } from '../http/listener.ts';
import { createRouter, type HttpRoute } from '../http/router.ts';
import type { Format } from '../model/transformer.ts';
import type { Logs } from '../observe/log/logs.ts';
import type { LossSeries } from '../observe/loss-counter.ts';
import { root } from '../paths.ts';
import { RequestRecords } from '../request-record.ts';
import { addressOf, type KeptList } from '../routing/catalogue/vendor-lists.ts';
import { inspectDraft } from '../routing/inspect.ts';
import { type Later, later, within } from '../runtime/within.ts';
import { type FeatureName, type OpenFeatures, openFeatures } from './features.ts';
import { httpLog } from './http-log.ts';
import { httpRoutes, type Waits } from './http-routes.ts';
import { ConfigError, knownVendors, type LoadedConfig, loadConfig } from './load-config.ts';
import { openGateway, type ReloadableGateway } from './reloadable-gateway.ts';
import { openServices, type ProcessServices, type ServicesOptions } from './services.ts';
import { baseUrlOf, type ListenAddress, listenAt, outerUrlOf } from './workers/listen-address.ts';
import type { Answerer } from './workers/peers.ts';
import type { WorkerSet } from './workers/worker-set.ts';

/** Builds the service and opens its port. Rejects with a message for users if it can't. */
export const start = async (options: StartOptions): Promise<Service> => {
  const { env, home, report, supervision, nowMs = Date.now, waits = usualWaits, uiFolder = builtUi } = options;
  const { localServerKinds } = options;
  const startedAtMs = Date.now();
  const { registry, known } = registryWith(options.vendors);
  const vendorVariables = known.map(({ variable }) => variable);
  const { loaded, listed } = await loadWithModels(options, registry, known, waits);
  const { config, file, demo } = loaded;
  const services = await openServices(options, registry, config, supervision?.peers);
  const { logs, catalogue } = services;
  await (listed.length > 0 ? catalogue.keep(listed).catch(() => undefined) : catalogue.reload());
  const gateway = await orClose(services.close, openGateway(services, loaded, report, vendorVariables));
  const active = (): Config => gateway.current.gateway.config;
  const place = (): ListenAddress => placeOf(config, listener);
  const baseUrl = (): string => baseUrlOf(place());
  const set = (): WorkerSet => supervision?.workers() ?? { pid: process.pid, startedAtMs, restarts: 0, workers: [] };
  const records = new RequestRecords();
  const { features, release } = await openAll(
    {
      ...services,
      ...gateway,
      env,
      home,
      nowMs,
      openStore: options.openStore,
      startConfig: config,
      gatewayOf: async (preset) => (preset === undefined ? gateway.current.gateway : gateway.presets.gatewayOf(preset)),
      protocols: clientProtocols.map(({ protocol }) => protocol),
      secrets: services.secrets.all,
      active: records.active,
      startedAtMs,
      baseUrl,
      outerUrl: () => config.fleet?.address?.href ?? outerUrlOf(place()),
      workers: () => set().workers.length,
      peers: supervision?.peers,
      more: options.features ?? [],
      silent: options.withoutFeatures ?? [],
    },
    gateway,
    services,
  );
  supervision?.peers.answer(answererOf(features, services, gateway, configFile(home, env)));
  const listen = (): void => records.listen(features.listeners());
  listen();
  const state = { draining: false };
  const providers = () => active().providers.map(({ name }) => shownName(active().referred, name));
  const routes = httpRoutes({
    home,
    startedAtMs,
    gateway,
    logs,
    features,
    records,
    configWith: (draft) => withProvider(gateway.store.source, draft, env, vendorVariables),
    uiFolder,
    localServerKinds,
    waits,
    modelsRefreshed: services.modelsRefreshed,
    health: () => ({ ...state, hasStaleModules: gateway.store.staleModules.length > 0 }),
    supervision,
    facts: () => ({
      home,
      baseUrl: baseUrl(),
      http,
      providers: providers(),
      overrides: envOverridesIn(env),
      stalls: services.stalls.counts,
      processes: set(),
    }),
  });
  const listener = await orClose(release, openListener(options, config, routes(), logs, features));
  const { http } = listener;
  for (const { listening } of features.all()) listening?.();
  gateway.watch({
    prepare: features.prepare,
    applied(next) {
      listen();
      listener.update(servingOptions(next.config, routes()));
      for (const { reloaded } of features.all()) reloaded?.(next);
    },
  });
  if (demo) void reportLocalServers(localServerKinds, report);
  // With a port taken over, an earlier process has looked already.
  if (options.sharing?.taken === undefined) void reportOther(listener, logs, report);
  const ends = ending({ options, listener, features, state, timeouts: () => active().timeouts, release });
  const facts = {
    config,
    file,
    demo,
    losses: services.losses,
    logs,
    baseUrl: baseUrl(),
    http,
    routes: routes(),
    place: place(),
  };
  return { ...facts, ...ends };
};

/** Opens the features; `release` closes them, the gateway and the services. */
const openAll = async (
  parts: Parameters<typeof openFeatures>[0],
  gateway: ReloadableGateway,
  services: ProcessServices,
): Promise<{ readonly features: OpenFeatures; readonly release: () => Promise<void> }> => {
  let features: OpenFeatures | undefined;
  const release = once(async () => {
    for (const { close } of features?.all() ?? []) await close?.();
    await gateway.close();
    await services.close();
  });
  features = await orClose(release, openFeatures(parts));
  return { features, release };
};

/** Answers what other processes of the service ask. */
const answererOf =
  (
    features: OpenFeatures,
    { catalogue }: Pick<ProcessServices, 'catalogue'>,
    { store }: Pick<ReloadableGateway, 'store'>,
    file: string,
  ): Answerer =>
  async (question) => {
    switch (question.kind) {
      case 'feature':
        return features.answer(question.asked);
      case 'write':
        await features.flush();
        return undefined;
      case 'models':
        await catalogue.reload();
        return undefined;
      case 'apply':
        return (await store.reload()) ? '' : undefined;
      case 'judge': {
        const { faults } = await store.checkFile();
        return faults.length === 0 ? '' : new ConfigError(file, faults).message;
      }
      default:
        return question satisfies never;
    }
  };

interface EndingParts {
  readonly options: Pick<StartOptions, 'after'>;
  readonly listener: Listener;
  readonly features: OpenFeatures;
  /** Reported by the health endpoints. */
  readonly state: { draining: boolean };
  readonly timeouts: () => Config['timeouts'];
  readonly release: () => Promise<void>;
}

/** The two ways in which a service ends. */
const ending = (parts: EndingParts): Pick<Service, 'stop' | 'retire'> => {
  const { listener, features, state, timeouts, release } = parts;
  const { after = later } = parts.options;
  const stopping = (): void => {
    for (const feature of features.all()) feature.stopping?.();
  };
  const end = async (ended: Promise<void>): Promise<void> => {
    await within(timeouts().drainMs, ended, after);
    await within(lastRecordMs, listener.interrupt(), after);
    listener.close();
    await release();
  };
  return {
    retire() {
      stopping();
      return end(listener.retire());
    },
    async stop() {
      const { leaveMs } = timeouts();
      state.draining = true;
      stopping();
      listener.disableKeepAlive();
      if (leaveMs > 0) await new Promise<void>((resolve) => after(resolve, leaveMs));
      // A balancer may use its idle connections at any time. Without a balancer, nothing should delay the stop.
      await end(leaveMs > 0 ? listener.retire() : listener.drain());
    },
  };
};

const registryWith = (vendors: readonly Format[] = []) => {
  const all = new Map([...formats, ...vendors.map((format) => [format.name, format] as const)]);
  const registry = { formats: all, stages, shipped, defaultFormat, olderRouters };
  return { registry, known: knownVendors(all) };
};

/** Loads the configuration; on a first start, with the models that the vendors list now, which are kept. */
const loadWithModels = async (
  { home, env, transformerFolders = [] }: Pick<StartOptions, 'home' | 'env' | 'transformerFolders'>,
  registry: ReturnType<typeof registryWith>['registry'],
  known: ReturnType<typeof knownVendors>,
  { modelListMs }: Waits,
): Promise<{ readonly loaded: LoadedConfig; readonly listed: readonly KeptList[] }> => {
  const listed: KeptList[] = [];
  const inspect: Inspect = (draft, source) =>
    inspectDraft(draft, source, { home, transformerFolders, registry }, () => true);
  const listModels = async (vendor: KnownVendor): Promise<readonly string[]> => {
    const { listVendorModels } = await import('../endpoints/upstream-models.ts');
    const models = await listVendorModels(registry, env, messagesClient, modelListMs)(vendor);
    const address = addressOf(new URL(vendor.baseUrl));
    if (models.length > 0) listed.push({ provider: vendor.provider, address, atMs: Date.now(), models });
    return models.map(({ id }) => id);
  };
  const loaded = await loadConfig(home, env, known, listModels, inspect);
  return { loaded, listed };
};

/** Options to start the service. */
export interface StartOptions extends ServicesOptions {
  /** Additional vendors; one with the name of a built-in vendor replaces it. */
  readonly vendors?: readonly Format[];
  /** Additional features. */
  readonly features?: readonly FeatureFolder[];
  /** Features that watch no requests, so that the cost of each can be measured; absent: all watch. */
  readonly withoutFeatures?: readonly FeatureName[];
  /** Default: 2 s each, 15 s for a test of a provider. */
  readonly waits?: Waits;
  /** Folder of the built web interface; default: `ui/dist` next to `engine`. */
  readonly uiFolder?: string;
  /** Addresses at which to look for model servers on this machine; default: their usual ports. */
  readonly localServerKinds?: readonly LocalServerKind[];
  /** Replaces the configured port. */
  readonly port?: number;
  /** Absent: chosen by the environment. */
  readonly server?: ChosenServer;
  /** Shares the port with other processes of the service, which listen at `taken`. Absent: the port is exclusive. */
  readonly sharing?: { readonly taken: ListenAddress | undefined };
  /** The timer of the waits while the service stops; absent: the system's. */
  readonly after?: Later;
}

/** A running service. */
export interface Service extends Pick<LoadedConfig, 'config' | 'file'> {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  readonly http: HttpServerFacts;
  /** No provider is configured; the built-in demo answers. */
  readonly demo: boolean;
  /** Losses per field since the start. */
  readonly losses: () => readonly LossSeries[];
  /**
   * Reports that it isn't ready, and stops accepting connections after `leaveMs`. Serves open connections for at most `drainMs`,
   * ends the remaining requests with a fault, then releases all resources.
   */
  readonly stop: () => Promise<void>;
  readonly logs: Pick<Logs, 'app' | 'flushSync'>;
  /** The address at which it listens. */
  readonly place: ListenAddress;
  /** All routes that it serves. */
  readonly routes: readonly HttpRoute[];
  /** Stops accepting connections, serves open ones for at most the configured drain time, then releases all resources. */
  readonly retire: () => Promise<void>;
}

/** Prints the model servers on this machine if no provider is configured. Writes no file. */
const reportLocalServers = async (
  places: readonly LocalServerKind[] | undefined,
  report: (line: string) => void,
): Promise<void> => {
  const { describeServer, findLocalServers } = await import('../endpoints/local-servers.ts');
  const found = await findLocalServers(places);
  for (const server of found) report(`found ${describeServer(server)}`);
  if (found.length > 0) report('`junctor providers find --add` adds what was found; so does the web interface.');
};

/** Prints and logs that `localhost` may lead to another program. */
const reportOther = async (
  { addresses, port }: Listener,
  logs: Pick<Logs, 'app'>,
  report: (line: string) => void,
): Promise<void> => {
  const other = await otherAtLocalhost(addresses, port);
  if (other === undefined) return;
  logs.app.warn(other);
  report(`warning: ${other}`);
};

const usualWaits: Waits = { modelListMs: 2_000, countMs: 2_000, trialMs: 15_000 };

/** Time for slow clients to read the end of an interrupted answer, in milliseconds. */
const lastRecordMs = 2_000;

const builtUi = fileURLToPath(new URL('ui/dist', root));

const openListener = (
  { sharing, port, server }: StartOptions,
  config: Config,
  routes: readonly HttpRoute[],
  logs: Logs,
  features: OpenFeatures,
): Promise<Listener> =>
  listen({
    ...servingOptions(config, routes),
    ...(sharing ? listenAt(config, sharing.taken) : { host: config.host, port: port ?? config.port }),
    hooks: {
      ...httpLog(logs),
      busy: tuneHeap,
      keyRefused(reason) {
        for (const feature of features.all()) feature.keyRefused?.(reason);
      },
    },
    server,
  });

/** Heap growth between collections while many requests are active, in percent of the live heap. */
const growthPercent = 25;

/**
 * Makes V8 collect garbage earlier while many requests are active. Objects of long streams survive into the old generation,
 * which V8 otherwise lets grow to two to four times the live heap. With few requests, earlier collections only cost time (10 %
 * for bodies of 100 KB). V8 reads the flag after each collection; 0 restores its default heuristic.
 */
const tuneHeap = (isBusy: boolean): void => setFlagsFromString(`--heap-growing-percent=${isBusy ? growthPercent : 0}`);

const servingOptions = (config: Config, routes: readonly HttpRoute[]) => ({
  router: createRouter(routes, formatFault),
  guard: { host: config.host, allowedHosts: config.allowedHosts, allowedOrigins: config.allowedOrigins },
  apiKey: config.apiKey,
  clients: config.clients,
  proxies: config.proxies,
  keepAlive: config.keepAlive,
  limits: config.limits,
});

const placeOf = ({ host, port: configuredPort }: Config, { port, addresses }: Listener): ListenAddress => ({
  host,
  configuredPort,
  port,
  addresses,
});

/** Closes the parts opened so far if the next one can't be opened. */
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
