import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { formatFault } from '../../admin/endpoint.ts';
import { Feeds } from '../../admin/feed.ts';
import { uiFilesIn } from '../../admin/ui-files.ts';
import { encodeMessagesBody } from '../../protocols/index.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import { addressOf, type KeptList } from '../catalogue/vendor-lists.ts';
import { openUsageFiles } from '../clients/usage-files.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { keyVariable } from '../config/providers.ts';
import type { ConfigStore } from '../config/store.ts';
import { telemetrySettings } from '../config/telemetry.ts';
import { withProvider } from '../config/validate.ts';
import { writeAtomically } from '../config/write-atomically.ts';
import {
  describeServer,
  findLocalServers,
  type LocalServerKind,
  localServerKinds,
} from '../endpoints/local-servers.ts';
import { listVendorModels } from '../endpoints/upstream-models.ts';
import type { ChosenServer, HttpServerFacts } from '../http/choose-server.ts';
import { type Listener, listen } from '../http/listener.ts';
import { createRouter, type HttpRoute } from '../http/router.ts';
import type { Fact } from '../hub/contract.ts';
import type { Hub } from '../hub/hub.ts';
import type { Logs } from '../log/logs.ts';
import type { Format } from '../model/transformer.ts';
import { variableFor } from '../observe/history/curl.ts';
import { historyFolder } from '../observe/history/files/file-names.ts';
import { HistorySearch } from '../observe/history/files/search-history.ts';
import { type HistoryFiles, openHistoryFiles } from '../observe/history/files/write-history.ts';
import { createHistory, type History, numberAt } from '../observe/history/history.ts';
import { sessionNames, sessionSecret } from '../observe/history/session-names.ts';
import { answerHistory, shareHistory } from '../observe/history/shared-history.ts';
import { LoopHolds } from '../observe/loop-holds.ts';
import { createMetrics, type Metrics } from '../observe/metrics/metrics.ts';
import { httpLog } from '../observe/request-log.ts';
import type { Telemetry } from '../observe/telemetry/telemetry.ts';
import { openUsageCounter, type UsageCounter, usageFolder } from '../observe/usage/bucket-files.ts';
import { usageCells } from '../observe/usage/report.ts';
import type { LossSeries } from '../observer.ts';
import { root, version } from '../paths.ts';
import { watchLoop } from '../time/loop-watch.ts';
import { steadyClock } from '../time/steady-clock.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import { upstreamStates } from '../upstream/health/show-health.ts';
import { fleetFigures, fleetState } from './fleet.ts';
import { answerMachine, type FleetQuestion, openMachines } from './fleet-views.ts';
import { httpRoutes, type Waits } from './http-routes.ts';
import { knownVendors, type LoadedConfig, loadConfig } from './load-config.ts';
import { openGateway } from './reloadable-gateway.ts';
import { openServices, type ServicesOptions } from './services.ts';
import { isAlive } from './workers/find-service.ts';
import { baseUrlOf, type ListenAddress, listenAt, outerUrlOf } from './workers/listen-address.ts';
import type { Answerer } from './workers/peers.ts';

/** Builds the service and opens its port. Rejects with a message for users if it can't. */
export const start = async (options: StartOptions): Promise<Service> => {
  const {
    env,
    home,
    report,
    vendors = [],
    supervision,
    uiFolder = builtUi,
    pause = timeoutAfter,
    nowMs = Date.now,
    waits = usualWaits,
  } = options;
  const places = options.localServerKinds ?? localServerKinds;
  const registry = { formats: withVendors(vendors), stages, defaultFormat, messagesBody: encodeMessagesBody };
  const known = knownVendors(registry.formats);
  const vendorVariables = known.map(({ variable }) => variable);
  const listModels = listVendorModels(registry, env, messagesClient, waits.modelListMs);
  const listed: KeptList[] = [];
  const loaded = await loadConfig(home, env, known, async (vendor) => {
    const models = await listModels(vendor);
    const address = addressOf(new URL(vendor.baseUrl));
    if (models.length > 0) listed.push({ provider: vendor.provider, address, atMs: Date.now(), models });
    return models.map(({ id }) => id);
  });
  const { config, file, demo } = loaded;
  const peers = supervision?.peers;
  const secret = sessionSecret(home);
  const services = openServices(options, registry, config, peers, secret);
  const { logs, losses } = services;
  const { catalogue } = services.gatewayOptions.services;
  await (listed.length > 0 ? catalogue.keep(listed).catch(() => undefined) : catalogue.reload());
  const gateway = await orClose(services.close, openGateway(services, loaded, report, vendorVariables));
  const usageFiles = await openUsageFiles({
    folder: join(home, 'usage'),
    ledger: services.gatewayOptions.services.usage,
    log: logs.app,
    isUsed: () => gateway.current.gateway.config.clients !== undefined,
    isAlive,
  });
  const usageCounter = await openUsageCounter({ folder: usageFolder(home), log: logs.app, nowMs, isAlive });
  const telemetry = await telemetryOf(config, env, logs);
  const historyFiles = await openHistoryFiles({
    folder: historyFolder(home),
    bounds: () => gateway.current.gateway.config.history,
    log: logs.app,
    nowMs,
    isAlive,
  });
  let stopWatching = (): void => {};
  const release = once(() => {
    stopWatching();
    return gateway
      .close()
      .then(usageFiles.close)
      .then(usageCounter.close)
      .then(historyFiles.close)
      .then(() => telemetry?.stop())
      .then(services.close);
  });
  const { fleet } = services;
  const metrics = createMetrics({
    losses,
    upstreams: () => upstreamStates(gateway.current.gateway),
    shared: peers,
    fleet: fleet && (() => fleetFigures(fleet)),
    telemetry: telemetry?.figures,
  });
  const holds = new LoopHolds(logs.app, steadyClock.nowMs);
  stopWatching = watchLoop((hold) => {
    holds.add(hold);
    metrics.held(hold);
  });
  const telling = peers && setInterval(() => metrics.tell(), tellMs).unref();
  const state = { draining: false };
  const startedAtMs = Date.now();
  const baseUrl = (): string => baseUrlOf(placeOf(config, listener));
  const outerUrl = (): string => config.fleet?.address?.href ?? outerUrlOf(placeOf(config, listener));
  const feeds = new Feeds();
  const requests = createHistory({
    secrets: services.secrets.all,
    variableOf: (provider) => keyVariable(gateway.store.source, provider) ?? variableFor(provider),
    baseUrl,
    numbersByTime: peers !== undefined,
    sessionOf: sessionNames(secret),
    policy: () => gateway.current.gateway.config.history,
    keepers: [usageCounter, historyFiles],
    onChanged: feeds.changed,
    onCleared: historyFiles.clear,
  });
  peers?.answer(answersFrom(metrics, requests, usageCounter, historyFiles, gateway.store));
  const { hub } = services;
  const machines = fleet && openMachines(fleet, Date.now);
  requests.captures.on = existsSync(captureFile(home));
  if (requests.captures.on) logs.app.warn('all requests are captured, with prompts and answers');
  let captureKept: Promise<unknown> = Promise.resolve();
  const allRequests = shareHistory(requests, peers, machines, (on) => {
    hub?.publish({ id: captureFact, value: on ? 'on' : 'off', forMs: captureMs });
    // In the order of the switches.
    captureKept = captureKept
      .then(() => (on ? writeAtomically(captureFile(home), '') : rm(captureFile(home), { force: true })))
      .catch((error: unknown) => logs.app.warn("whether requests are captured can't be kept for a restart", { error }));
  });
  /** Makes all processes write their counts and buffered data to disk. */
  const writeAll = async (): Promise<void> => {
    const others = peers?.isShared() ? peers.ask({ kind: 'write' }) : undefined;
    await Promise.all([usageCounter.write(), historyFiles.write(), others]);
  };
  /** The answers of this machine's processes to another machine. */
  const answersOfMachine = async (question: FleetQuestion): Promise<readonly string[]> => {
    if (question.kind === 'usage') {
      await writeAll();
      return [JSON.stringify(await usageCells(usageFolder(home), question.query))];
    }
    // By this machine's clock, for all of its processes: the other one's may differ.
    const asked =
      question.kind === 'requests' ? { ...question, until: Math.min(question.until, numberAt(Date.now())) } : question;
    const [own, others = []] = await Promise.all([answerHistory(requests, asked), peers?.ask(asked)]);
    return own === undefined ? others : [own, ...others];
  };
  if (hub) followCapture(hub, requests);
  hub?.onFact(({ id }) => {
    if (id === modelsFact) void catalogue.reload();
  });
  fleet?.present(() => ({ source: gateway.store.source, address: outerUrl(), streams: metrics.activeStreams() }));
  const routes = httpRoutes({
    home,
    startedAtMs,
    gateway,
    logs,
    metrics,
    requests,
    tracer: telemetry,
    allRequests,
    configWith: (draft) => withProvider(gateway.store.source, draft, env, vendorVariables),
    ui: uiFilesIn(uiFolder),
    localServerKinds: places,
    waits,
    feeds,
    usage: {
      folder: usageFolder(home),
      nowMs,
      write: writeAll,
      others: (query) => (machines?.isShared() ? machines.usage(query) : undefined),
    },
    history: {
      search: new HistorySearch(historyFolder(home)),
      nowMs,
      write: writeAll,
      days: () => gateway.current.gateway.config.history.days,
      requests: allRequests,
      baseUrl,
      version,
    },
    modelsRefreshed: () => hub?.publish({ id: modelsFact, value: String(Date.now()), forMs: modelsMs }),
    health: () => state,
    fleet: {
      state: () => fleetState(fleet),
      answer: fleet && ((sealed) => answerMachine(fleet.sealer, Date.now(), sealed, answersOfMachine)),
    },
    supervision,
    facts: () => ({
      home,
      baseUrl: baseUrl(),
      http: listener.http,
      providers: gateway.current.gateway.config.providers.map(({ name }) => name),
      holds: holds.counts,
      fleet: supervision?.fleet() ?? { pid: process.pid, startedAtMs, restarts: 0, workers: [] },
    }),
  });
  const listener = await orClose(release, openListener(options, config, routes, logs, metrics));
  gateway.watch(({ config: next }) => {
    listener.update(servingOptions(next, routes));
    metrics.reloaded('applied');
  });
  if (demo) void reportLocalServers(places, report);
  const timeouts = () => gateway.current.gateway.config.timeouts;
  const end = async (ended: Promise<void>): Promise<void> => {
    await Promise.race([ended, pause(timeouts().drainMs)]);
    await Promise.race([listener.interrupt(), pause(lastRecordMs)]);
    listener.close();
    clearInterval(telling);
    await metrics.tellAll();
    await release();
  };
  return {
    config,
    file,
    demo,
    losses,
    logs,
    baseUrl: baseUrl(),
    http: listener.http,
    place: placeOf(config, listener),
    routes,
    retire() {
      feeds.close();
      return end(listener.retire());
    },
    async stop() {
      const { leaveMs } = timeouts();
      state.draining = true;
      feeds.close();
      listener.disableKeepAlive();
      if (leaveMs > 0) await pause(leaveMs);
      // A balancer may use its idle connections at any time. Without a balancer, nothing should delay the stop.
      await end(leaveMs > 0 ? listener.retire() : listener.drain());
    },
  };
};

/** Options to start the service. */
export interface StartOptions extends ServicesOptions {
  /** Additional vendors; one with the name of a built-in vendor replaces it. */
  readonly vendors?: readonly Format[];
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
  /** The clock of usage by hours, in milliseconds since 1970; absent: the system's. */
  readonly nowMs?: () => number;
  /** Waits this many milliseconds while the service stops; absent: uses a timer. */
  readonly pause?: (ms: number) => Promise<void>;
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
  places: readonly LocalServerKind[],
  report: (line: string) => void,
): Promise<void> => {
  const found = await findLocalServers(places);
  for (const server of found) report(`found ${describeServer(server)}`);
  if (found.length > 0) report('`junctor providers find --add` adds what was found; so does the web interface.');
};

/** Opens the telemetry export. Loads its code only if telemetry is on. */
const telemetryOf = async (config: Config, env: Environment, logs: Logs): Promise<Telemetry | undefined> => {
  const settings = telemetrySettings(config.telemetry, env, (line) => logs.app.warn(line));
  if (!settings) return undefined;
  const { openTelemetry } = await import('../observe/telemetry/telemetry.ts');
  const upstreams = createUpstreams({ ...collectorBounds, environment: env });
  return openTelemetry({ settings, upstreams, version, log: logs.app });
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

const usualWaits: Waits = { modelListMs: 2_000, countMs: 2_000, trialMs: 15_000 };

/** Time for slow clients to read the end of an interrupted answer, in milliseconds. */
const lastRecordMs = 2_000;

/** Answers questions of the service's other processes. */
const answersFrom =
  (
    metrics: Metrics,
    requests: History,
    usage: UsageCounter,
    files: HistoryFiles,
    store: Pick<ConfigStore, 'reload'>,
  ): Answerer =>
  async (question) => {
    if (question.kind === 'write') await Promise.all([usage.write(), files.write()]);
    else if (question.kind === 'metrics') await metrics.tellAll();
    else if (question.kind === 'apply') return (await store.reload()) ? '' : undefined;
    else return answerHistory(requests, question);
    return undefined;
  };

/** The fact that announces new model lists. A process that starts later reads the lists anyway. */
const modelsFact = 'models';
const modelsMs = 60_000;

/** Exists while all requests are captured, so that capturing continues after a restart. */
const captureFile = (home: string): string => join(home, 'capture-all');

/** The fact that says whether requests are captured, also to processes that start later. */
const captureFact = 'capture';
const captureMs = 30 * 86_400_000;

const followCapture = (hub: Hub, { captures }: History): void => {
  const follow = (fact: Pick<Fact, 'id' | 'value'> | undefined): void => {
    if (fact?.id === captureFact) captures.on = fact.value === 'on';
  };
  follow(hub.fact(captureFact));
  hub.onFact(follow);
};

/** Interval at which a process sends its metrics, in milliseconds. If it is killed, newer counts are lost. */
const tellMs = 1_000;

const builtUi = fileURLToPath(new URL('ui/dist', root));

const withVendors = (more: readonly Format[]): ReadonlyMap<string, Format> =>
  new Map([...formats, ...more.map((format) => [format.name, format] as const)]);

const openListener = (
  { sharing, port, server }: StartOptions,
  config: Config,
  routes: readonly HttpRoute[],
  logs: Logs,
  { keyRefused }: Metrics,
): Promise<Listener> =>
  listen({
    ...servingOptions(config, routes),
    ...(sharing ? listenAt(config, sharing.taken) : { host: config.host, port: port ?? config.port }),
    hooks: { ...httpLog(logs), busy: tuneHeap, keyRefused },
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
  limits: {
    bodyBytes: config.limits.bodyBytes,
    inflatedBytes: config.limits.decompressedBytes,
    bodiesBytes: config.limits.bodiesBytes,
    answersBytes: config.limits.answersBytes,
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

const timeoutAfter = (ms: number): Promise<void> => setTimeout(ms, undefined, { ref: false });
