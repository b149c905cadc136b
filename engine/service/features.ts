import type { Config } from '../config/config.ts';
import type { Feature, FeatureFolder, FeatureServices, FeatureSum } from '../feature.ts';
import { clientsFeature as clients } from '../features/clients/index.ts';
import { fleet } from '../features/fleet/index.ts';
import { grammarWatch } from '../features/grammar-watch/index.ts';
import { history } from '../features/history/index.ts';
import { metrics } from '../features/metrics/index.ts';
import { requestLog } from '../features/request-log/index.ts';
import { telemetry } from '../features/telemetry/index.ts';
import { usage } from '../features/usage/index.ts';
import type { DocumentedRoute } from '../http/documented-route.ts';
import { fail } from '../model/fault.ts';
import type { OpenStore } from '../store/store-thread.ts';
import type { Keeper } from './keeper.ts';
import type { Peers } from './workers/peers.ts';

/** The features, in the order in which they watch requests. */
const folders = { metrics, requestLog, clients, history, usage, telemetry, grammarWatch, fleet };

export type FeatureName = keyof typeof folders;

/** What some features need besides: the keeper, and the metrics of all processes. */
type AllServices = FeatureServices & {
  readonly keeper: Keeper;
  /** Opens the files of the store; absent: in threads. */
  readonly openStore: OpenStore | undefined;
  readonly sharedMetrics: Peers | undefined;
};

interface FeatureParts extends Omit<AllServices, 'features' | 'processes' | 'sharedMetrics'> {
  readonly peers: Peers | undefined;
  /** Further features, after all others. */
  readonly more: readonly FeatureFolder[];
  /** Features that watch no requests. */
  readonly unwatching: readonly FeatureName[];
}

/** The open features. */
export interface OpenFeatures {
  readonly all: () => readonly Feature[];
  /** Those of features that aren't open among them. */
  readonly routes: () => readonly DocumentedRoute[];
  /** Opens what a configuration needs that is about to be used, and prepares all. */
  readonly prepare: (config: Config) => Promise<void>;
  /** Hands over what this process has counted. */
  readonly handOver: () => Promise<unknown>;
  /** Answers a feature's question in another process; `undefined`: there is nothing to say. */
  readonly answer: (asked: unknown) => Promise<string | undefined>;
}

/** Opens the features of a process. */
export const openFeatures = async (parts: FeatureParts): Promise<OpenFeatures> => {
  const { peers, more, unwatching } = parts;
  const opened = new Map<FeatureFolder<AllServices>, Feature>();
  const all = (): readonly Feature[] => rows.flatMap(({ folder }) => opened.get(folder) ?? []);
  const handOver = () => Promise.all(all().map((feature) => feature.write?.()));
  const processes = peers && {
    isShared: peers.isShared,
    ask: (asked: object) => peers.ask({ kind: 'feature', asked }),
  };
  const services = { ...parts, sharedMetrics: peers, processes, features: sumOf(parts, all, handOver) };
  const rows = [
    ...Object.entries<FeatureFolder<AllServices>>(folders),
    ...more.map((folder) => ['', folder] as const),
  ].map(([name, folder]) => ({
    folder,
    watches: !unwatching.some((one) => one === name),
  }));
  const prepare = async (config: Config): Promise<void> => {
    for (const { folder, watches } of rows) {
      if (opened.has(folder) || !folder.configured(config, services)) continue;
      const feature = await folder.open(services);
      opened.set(folder, watches ? feature : withoutListener(feature));
    }
    await Promise.all(all().map((feature) => feature.prepare?.(config)));
  };
  await prepare(parts.startConfig);
  return {
    all,
    routes: () =>
      rows.flatMap(({ folder }) => (opened.get(folder) ?? { routes: folder.closedRoutes?.(services) }).routes ?? []),
    prepare,
    handOver,
    async answer(asked) {
      return first(all(), ({ question }) => question?.own(asked));
    },
  };
};

/** The feature with all but its listener: its routes show no requests. */
const withoutListener = ({ listener: _, ...others }: Feature): Feature => others;

const first = <T>(features: readonly Feature[], of: (feature: Feature) => T | undefined): T | undefined => {
  for (const feature of features) {
    const found = of(feature);
    if (found !== undefined) return found;
  }
  return undefined;
};

const sumOf = (
  { peers, keeper }: FeatureParts,
  all: () => readonly Feature[],
  handOver: () => Promise<unknown>,
): FeatureSum => {
  const nodes = () => first(all(), (feature) => feature.nodes);
  return {
    metrics: () => all().flatMap((feature) => feature.metrics ?? []),
    families: async () => (await first(all(), ({ families }) => families?.())) ?? [],
    nodes: {
      isShared: () => nodes()?.isShared() ?? false,
      ask: async (questionOf) => (await nodes()?.ask(questionOf)) ?? { heard: { known: 1, heard: 1 }, answers: [] },
    },
    async askStore(...asked) {
      const ask = first(all(), (feature) => feature.askStore);
      return ask ? ask(...asked) : fail('unavailable', 'Nothing is kept of requests.');
    },
    async write() {
      await Promise.all([handOver(), peers?.isShared() ? peers.ask({ kind: 'write' }) : undefined]);
      await keeper.flush().catch(() => undefined);
    },
    async answerNode(asked) {
      return first(all(), ({ question }) => question?.forNode(asked));
    },
  };
};
