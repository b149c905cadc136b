import { laterRoutes } from '../../admin/later-routes.ts';
import { Feeds } from '../../admin/requests/feeds.ts';
import { clientProtocols } from '../../protocols/index.ts';
import type { Config } from '../config/config.ts';
import { configFile } from '../config/read.ts';
import { keyVariable } from '../config/sections/providers.ts';
import { telemetrySettings } from '../config/sections/telemetry.ts';
import type { Feature } from '../feature.ts';
import type { ClientFeature, ClientsOptions } from '../features/clients/open-clients.ts';
import { variableFor } from '../features/history/curl.ts';
import { numberAt } from '../features/history/history.ts';
import { openHistory } from '../features/history/open-history.ts';
import type { LoopHolds } from '../features/loop-holds.ts';
import { openMetrics } from '../features/metrics/open-metrics.ts';
import { requestLog } from '../features/request-log.ts';
import { fail } from '../model/fault.ts';
import { version } from '../paths.ts';
import type { RequestRecords } from '../request-record.ts';
import type { CurrentGateway, Gateway } from '../routing/gateway.ts';
import { loadOnce } from '../runtime/load-once.ts';
import { watchLoop } from '../runtime/loop-watch.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { OpenStore } from '../store/store-thread.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import { upstreamStates } from '../upstream/health/show-health.ts';
import type { Fleet } from './fleet.ts';
import type { FleetQuestion } from './fleet-views.ts';
import { type Keeper, openRecords } from './keeper.ts';
import { ConfigError } from './load-config.ts';
import type { ReloadableGateway } from './reloadable-gateway.ts';
import type { ProcessServices, ServicesOptions } from './services.ts';
import type { Supervision } from './workers/worker.ts';

/** Features that watch each model request. */
export type WatchingFeature = 'metrics' | 'requestLog' | 'history';

interface FeatureParts {
  readonly options: Pick<ServicesOptions, 'env' | 'home'> & {
    readonly supervision: Supervision | undefined;
    readonly nowMs: () => number;
    /** Watch no requests. */
    readonly withoutFeatures: readonly WatchingFeature[];
    /** Opens the files of the store; absent: in threads. */
    readonly openStore?: OpenStore | undefined;
  };
  readonly services: ProcessServices;
  readonly gateway: ReloadableGateway;
  /** Get each time during which a step held the event loop. */
  readonly holds: LoopHolds;
  /** The requests in flight. */
  readonly active: RequestRecords['active'];
  /** Start of the service, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The service's URL for this machine, once it listens. */
  readonly baseUrl: () => string;
  /** The same for other machines. */
  readonly outerUrl: () => string;
  /** Number of serving processes. */
  readonly workers: () => number;
}

/** Opens the features of a process, in the order in which they watch requests. Those that aren't configured aren't loaded. */
export const openFeatures = async (parts: FeatureParts, more: readonly Feature[] = []): Promise<readonly Feature[]> => {
  let features: readonly Feature[] = [];
  const { options, services, gateway, startedAtMs, baseUrl, outerUrl, workers } = parts;
  const { home, nowMs, supervision, withoutFeatures } = options;
  const { logs, hub, fleet } = services;
  const { current, store, presets } = gateway;
  const peers = supervision?.peers;
  const machines = fleet && (await import('./fleet-views.ts')).openMachines(fleet, Date.now);
  const { keeper, close: closeKeeper } = openKeeper(parts);
  const telemetry = await openExport(parts);
  const { metrics, feature: counting } = openMetrics({
    losses: services.losses,
    upstreams: () => upstreamStates(current.gateway),
    active: parts.active,
    shared: peers,
    others: () => features.flatMap((feature) => feature.metrics ?? []),
  });
  const clients = await laterClients({
    log: logs.app,
    keeper: keeper.clients,
    nowMs: services.steadyNowMs,
    current,
    limits: hub,
    budgets: fleet?.hub,
  });
  const feeds = new Feeds();
  const history = await openHistory({
    home,
    nowMs,
    log: logs.app,
    keeper: keeper.history,
    openStore: options.openStore,
    secrets: services.secrets.all,
    variableOf: (provider) => keyVariable(store.source, provider) ?? variableFor(provider),
    baseUrl,
    current,
    sessionSecret: services.sessionSecret,
    peers,
    machines,
    active: parts.active,
    onChanged: feeds.changed,
  });
  const handOver = () => Promise.all([history.write(), clients.write()]);
  /** Writes what all processes have counted. */
  const write = async (): Promise<void> => {
    await Promise.all([handOver(), peers?.isShared() ? peers.ask({ kind: 'write' }) : undefined]);
    await keeper.flush().catch(() => undefined);
  };
  peers?.answer(async (question) => {
    if (question.kind === 'write') await handOver();
    else if (question.kind === 'metrics') await metrics.tellAll();
    else if (question.kind === 'models') await services.catalogue.reload();
    else if (question.kind === 'apply') return (await store.reload()) ? '' : undefined;
    else if (question.kind === 'judge') {
      const { faults } = await store.checkFile();
      return faults.length === 0 ? '' : new ConfigError(configFile(home, options.env), faults).message;
    } else return history.answer(question);
    return undefined;
  });
  if (peers?.isShared()) void history.followOthers();
  /** The answers of this machine's processes to another machine. */
  const answersOfMachine = async (question: FleetQuestion): Promise<readonly string[]> => {
    if (question.kind === 'usage') {
      return [JSON.stringify(await (await history.stored(write)).ask('usage', question.query))];
    }
    // By this machine's clock, for all of its processes: the other one's may differ.
    const asked =
      question.kind === 'requests' ? { ...question, until: Math.min(question.until, numberAt(Date.now())) } : question;
    const [own, others = []] = await Promise.all([history.answer(asked), peers?.ask(asked)]);
    return own === undefined ? others : [own, ...others];
  };
  const stopWatching = watchLoop((hold) => {
    parts.holds.add(hold);
    metrics.held(hold);
  });
  const gatewayOf = async (preset: string | undefined): Promise<Gateway> =>
    preset === undefined ? current.gateway : presets.gatewayOf(preset);
  const protocols = clientProtocols.map(({ protocol }) => protocol);
  const watching = (name: WatchingFeature, feature: Feature): Feature =>
    withoutFeatures.includes(name) ? unwatching(feature) : feature;
  features = [
    watching('metrics', {
      ...counting,
      routes: laterRoutes(['GET /metrics'], async () =>
        (await import('../../admin/metrics.ts')).metricsRoutes(metrics),
      ),
    }),
    watching('requestLog', requestLog),
    {
      ...clients.feature,
      routes: laterRoutes(
        ['GET /api/clients', 'POST /api/clients', 'PATCH /api/clients/:name', 'DELETE /api/clients/:name'],
        async () => {
          const { clientRoutes } = await import('../../admin/clients.ts');
          const { keyRefusals } = metrics;
          return clientRoutes({ ...(await clients.load()), gateway: () => current.gateway, store, keyRefusals });
        },
      ),
    },
    watching('history', {
      ...history,
      routes: laterRoutes(historyRows, async () => {
        const { historyApiRoutes } = await import('../../admin/requests/history-api.ts');
        const requests = await history.requests();
        const kept = { stored: await history.stored(write), nowMs, requests, baseUrl, version };
        return historyApiRoutes(kept, {
          requests,
          startedAtMs,
          workers,
          clients: protocols,
          gatewayOf,
          home,
          logs,
          feeds,
        });
      }),
      stopping: () => feeds.close(),
    }),
    {
      routes: laterRoutes(['GET /api/usage'], async () =>
        (await import('../../admin/usage.ts')).usageRoutes({
          nowMs,
          stored: await history.stored(write),
          others: (query) => (machines?.isShared() ? machines.usage(query) : undefined),
        }),
      ),
    },
    ...(telemetry ? [telemetry] : []),
    await laterGrammar(current),
    {
      ...(await fleetFeature(fleet, answersOfMachine)),
      listening: () =>
        fleet?.present(() => ({ source: store.source, address: outerUrl(), streams: metrics.activeStreams() })),
    },
    { close: async () => stopWatching() },
    ...more,
    { close: closeKeeper },
  ];
  return features;
};

/** Keeps what requests leave: in the supervisor, or in this process. */
const openKeeper = ({
  options: { home, nowMs, supervision, openStore },
  services: { logs, steadyNowMs },
}: FeatureParts): { readonly keeper: Keeper; readonly close: () => Promise<void> } => {
  const shared = supervision?.peers.keeper;
  if (shared) return { keeper: shared, close: async () => undefined };
  const { join, close } = openRecords({ home, nowMs, steadyNowMs, log: logs.app, openStore });
  return { keeper: join(), close };
};

/** The endpoints that read the history, in the order of `historyApiRoutes`. */
const historyRows = [
  'GET /api/requests',
  'DELETE /api/requests',
  'GET /api/requests/:id',
  'GET /api/activity',
  'GET /api/capture',
  'POST /api/capture',
  'GET /api/requests/:id/capture',
  'POST /api/requests/:id/replay',
  'GET /api/feed',
  'GET /api/history',
  'GET /api/history/counts',
  'GET /api/history/facets',
  'GET /api/history/histogram',
  'GET /api/history/failures',
  'GET /api/history/sums',
  'GET /api/history/extent',
  'DELETE /api/history',
  'GET /api/history/export',
  'GET /api/sessions',
  'GET /api/sessions/:id',
];

/**
 * Clients with keys of their own. The code is loaded before the first configuration that has any is used: no request of a client is
 * admitted without its limits.
 */
const laterClients = async (
  options: ClientsOptions,
): Promise<{
  readonly feature: Feature;
  readonly load: () => Promise<ClientFeature>;
  readonly write: () => Promise<void>;
}> => {
  let loaded: ClientFeature | undefined;
  const load = loadOnce(async () => {
    const { openClients } = await import('../features/clients/open-clients.ts');
    loaded = await openClients(options);
    return loaded;
  });
  const prepare = async ({ clients }: Pick<Config, 'clients'>): Promise<unknown> => clients && load();
  await prepare(options.current.gateway.config);
  const notLoaded = (): never => fail('unavailable', 'The limits of clients are not loaded.');
  const feature: Feature = {
    prepare,
    admit: (request) => (loaded ?? notLoaded()).admit(request),
    close: async () => loaded?.close(),
  };
  return { feature, load, write: async () => loaded?.write() };
};

/** Counts and logs what breaks the rules of wire formats. The code is loaded before the first configuration that watches them is used. */
const laterGrammar = async (current: CurrentGateway): Promise<Feature> => {
  let loaded: Pick<Feature, 'follow' | 'metrics'> = {};
  const load = loadOnce(async () => {
    const { grammarWatch } = await import('../features/grammar-watch.ts');
    loaded = grammarWatch(steadyClock.nowMs);
  });
  const prepare = async ({ grammar }: Pick<Config, 'grammar'>): Promise<unknown> =>
    grammar === 'watch' ? load() : undefined;
  await prepare(current.gateway.config);
  return {
    prepare,
    follow: { violated: (...said) => loaded.follow?.violated?.(...said) },
    get metrics() {
      return loaded.metrics ?? [];
    },
  };
};

/** What other machines ask, and what is shown of them. Without `FLEET`, the code isn't loaded. */
const fleetFeature = async (
  fleet: Fleet | undefined,
  answer: (question: FleetQuestion) => Promise<readonly string[]>,
): Promise<Feature> => {
  if (!fleet) {
    return {
      routes: laterRoutes(['GET /api/fleet'], async () => {
        const { fleetRoutes } = await import('../../admin/fleet.ts');
        return fleetRoutes({ state: () => ({ store: null, drift: false, members: [] }), answer: undefined });
      }),
    };
  }
  const [{ fleetRoutes }, { fleetFigures, fleetState }, { fleetMetrics }, { answerMachine }] = await Promise.all([
    import('../../admin/fleet.ts'),
    import('./fleet.ts'),
    import('./fleet-metrics.ts'),
    import('./fleet-views.ts'),
  ]);
  return {
    metrics: fleetMetrics(() => fleetFigures(fleet)),
    routes: fleetRoutes({
      state: () => fleetState(fleet),
      answer: (sealed) => answerMachine(fleet.sealer, Date.now(), sealed, answer),
    }),
  };
};

/** The feature with all but what watches requests: its routes show none. */
const unwatching = ({ follow: _follow, watch: _watch, ...others }: Feature): Feature => others;

/** Opens the telemetry export. Loads its code only if telemetry is on. */
const openExport = async ({ options, services, gateway }: FeatureParts): Promise<Feature | undefined> => {
  const { env } = options;
  const { app } = services.logs;
  const settings = telemetrySettings(gateway.current.gateway.config.telemetry, env, (line) => app.warn(line));
  if (!settings) return undefined;
  const { openTelemetry, telemetryFeature } = await import('../features/telemetry/telemetry.ts');
  const upstreams = createUpstreams({ ...collectorBounds, environment: env });
  return telemetryFeature(openTelemetry({ settings, upstreams, version, log: app }));
};

/** Timeouts of connections to a collector. The exporter's own deadline for an answer is shorter. */
const collectorBounds = {
  connectMs: 5_000,
  firstByteMs: 20_000,
  idleMs: 20_000,
  callMs: 0,
  connections: 2,
  queue: 2,
  queueMs: 20_000,
  decompressedBytes: 1 << 20,
};
