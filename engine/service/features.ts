import { clientRoutes } from '../../admin/clients.ts';
import { fleetRoutes } from '../../admin/fleet.ts';
import { metricsRoutes } from '../../admin/metrics.ts';
import { Feeds, feedRoutes } from '../../admin/requests/feed.ts';
import { historyRoutes } from '../../admin/requests/history.ts';
import { requestRoutes } from '../../admin/requests/requests.ts';
import { sessionRoutes } from '../../admin/requests/sessions.ts';
import { usageRoutes } from '../../admin/usage.ts';
import { clientProtocols } from '../../protocols/index.ts';
import { keyVariable } from '../config/sections/providers.ts';
import { telemetrySettings } from '../config/sections/telemetry.ts';
import type { Feature } from '../feature.ts';
import { openClients } from '../features/clients/open-clients.ts';
import { variableFor } from '../features/history/curl.ts';
import { historyFolder } from '../features/history/files/file-names.ts';
import { HistorySearch } from '../features/history/files/search-history.ts';
import { numberAt } from '../features/history/history.ts';
import { openHistory } from '../features/history/open-history.ts';
import type { LoopHolds } from '../features/loop-holds.ts';
import { openMetrics } from '../features/metrics/open-metrics.ts';
import { requestLog } from '../features/request-log.ts';
import { usageFolder } from '../features/usage/bucket-files.ts';
import { openUsage } from '../features/usage/open-usage.ts';
import { usageCells } from '../features/usage/report.ts';
import { version } from '../paths.ts';
import type { RequestRecords } from '../request-record.ts';
import type { Gateway } from '../routing/gateway.ts';
import { watchLoop } from '../runtime/loop-watch.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import { upstreamStates } from '../upstream/health/show-health.ts';
import { fleetFigures, fleetState } from './fleet.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { answerMachine, type FleetQuestion, openMachines } from './fleet-views.ts';
import { type Keeper, openRecords } from './keeper.ts';
import type { ReloadableGateway } from './reloadable-gateway.ts';
import type { ProcessServices, ServicesOptions } from './services.ts';
import type { Supervision } from './workers/worker.ts';

/** Features that watch each model request. */
export type WatchingFeature = 'metrics' | 'requestLog' | 'history' | 'usage';

interface FeatureParts {
  readonly options: Pick<ServicesOptions, 'env' | 'home'> & {
    readonly supervision: Supervision | undefined;
    readonly nowMs: () => number;
    /** Watch no requests. */
    readonly withoutFeatures: readonly WatchingFeature[];
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
  const machines = fleet && openMachines(fleet, Date.now);
  const { keeper, close: closeKeeper } = openKeeper(parts);
  const telemetry = await openExport(parts);
  const { metrics, feature: counting } = openMetrics({
    losses: services.losses,
    upstreams: () => upstreamStates(current.gateway),
    active: parts.active,
    shared: peers,
    others: () => features.flatMap((feature) => feature.metrics ?? []),
  });
  const clients = await openClients({
    log: logs.app,
    keeper: keeper.clients,
    nowMs: services.steadyNowMs,
    current,
    processes: hub,
    machines: fleet?.hub,
  });
  const usage = openUsage({ keeper: keeper.usage, log: logs.app, nowMs });
  const feeds = new Feeds();
  const history = await openHistory({
    home,
    nowMs,
    log: logs.app,
    keeper: keeper.history,
    secrets: services.secrets.all,
    variableOf: (provider) => keyVariable(store.source, provider) ?? variableFor(provider),
    baseUrl,
    current,
    sessionSecret: services.sessionSecret,
    peers,
    hub,
    machines,
    active: parts.active,
    onChanged: feeds.changed,
  });
  const handOver = () => Promise.all([usage.write(), history.write(), clients.write()]);
  /** Writes what all processes have counted. */
  const write = async (): Promise<void> => {
    await Promise.all([handOver(), peers?.isShared() ? peers.ask({ kind: 'write' }) : undefined]);
    await keeper.flush().catch(() => undefined);
  };
  peers?.answer(async (question) => {
    if (question.kind === 'write') await handOver();
    else if (question.kind === 'metrics') await metrics.tellAll();
    else if (question.kind === 'apply') return (await store.reload()) ? '' : undefined;
    else return history.answer(question);
    return undefined;
  });
  /** The answers of this machine's processes to another machine. */
  const answersOfMachine = async (question: FleetQuestion): Promise<readonly string[]> => {
    if (question.kind === 'usage') {
      await write();
      return [JSON.stringify(await usageCells(usageFolder(home), question.query))];
    }
    // By this machine's clock, for all of its processes: the other one's may differ.
    const asked =
      question.kind === 'requests' ? { ...question, until: Math.min(question.until, numberAt(Date.now())) } : question;
    const [own, others = []] = await Promise.all([history.answer(asked), peers?.ask(asked)]);
    return own === undefined ? others : [own, ...others];
  };
  fleet?.present(() => ({ source: store.source, address: outerUrl(), streams: metrics.activeStreams() }));
  const stopWatching = watchLoop((hold) => {
    parts.holds.add(hold);
    metrics.held(hold);
  });
  const { requests } = history;
  const days = () => current.gateway.config.history.days;
  const kept = { search: new HistorySearch(historyFolder(home)), nowMs, write, days, requests, baseUrl, version };
  const gatewayOf = async (preset: string | undefined): Promise<Gateway> =>
    preset === undefined ? current.gateway : presets.gatewayOf(preset);
  const protocols = clientProtocols.map(({ protocol }) => protocol);
  const watching = (name: WatchingFeature, feature: Feature): Feature =>
    withoutFeatures.includes(name) ? unwatching(feature) : feature;
  features = [
    watching('metrics', { ...counting, routes: metricsRoutes(metrics) }),
    watching('requestLog', requestLog),
    {
      ...clients,
      routes: clientRoutes({ ...clients, gateway: () => current.gateway, store, keyRefusals: metrics.keyRefusals }),
    },
    watching('history', {
      ...history,
      routes: [
        ...requestRoutes({ requests, history: kept, startedAtMs, workers, clients: protocols, gatewayOf }),
        ...feedRoutes({ requests, startedAtMs, workers, home, logs, feeds }),
        ...historyRoutes(kept),
        ...sessionRoutes({ history: kept, requests }),
      ],
      stopping: () => feeds.close(),
    }),
    watching('usage', {
      ...usage,
      routes: usageRoutes({
        folder: usageFolder(home),
        nowMs,
        write,
        others: (query) => (machines?.isShared() ? machines.usage(query) : undefined),
      }),
    }),
    ...(telemetry ? [telemetry] : []),
    {
      ...(fleet && { metrics: fleetMetrics(() => fleetFigures(fleet)) }),
      routes: fleetRoutes({
        state: () => fleetState(fleet),
        answer: fleet && ((sealed) => answerMachine(fleet.sealer, Date.now(), sealed, answersOfMachine)),
      }),
    },
    { close: async () => stopWatching() },
    ...more,
    { close: closeKeeper },
  ];
  return features;
};

/** Keeps what requests leave: in the supervisor, or in this process. */
const openKeeper = ({
  options: { home, nowMs, supervision },
  services: { logs, steadyNowMs },
}: FeatureParts): { readonly keeper: Keeper; readonly close: () => Promise<void> } => {
  const shared = supervision?.peers.keeper;
  if (shared) return { keeper: shared, close: async () => undefined };
  const { join, close } = openRecords({ home, nowMs, steadyNowMs, log: logs.app });
  return { keeper: join(), close };
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
