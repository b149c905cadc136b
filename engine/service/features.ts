import type { Config } from '../config/config.ts';
import type { Feature, FeatureFolder, FeatureServices } from '../feature.ts';
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
import type { RecordListener } from '../request-record.ts';
import type { OpenStore } from '../store/store-thread.ts';
import type { Persistence } from './persistence.ts';
import type { Peers } from './workers/peers.ts';

/** The features, in the order in which they are opened and listen to requests: what is kept of requests says what clients have used. */
const folders = { metrics, requestLog, history, clients, usage, telemetry, grammarWatch, fleet };

export type FeatureName = keyof typeof folders;

/** What some features need besides. */
type AllServices = FeatureServices & {
  readonly persistence: Persistence;
  /** Opens the files of the store; absent: in threads. */
  readonly openStore: OpenStore | undefined;
  readonly peers: Peers | undefined;
};

type Folder = FeatureFolder<AllServices>;

interface FeatureParts extends Omit<AllServices, 'features' | 'processes'> {
  /** Further features, after all others. */
  readonly more: readonly FeatureFolder[];
  /** Features that listen to no requests: their routes show none. */
  readonly silent: readonly FeatureName[];
}

/** The open features. */
export interface OpenFeatures {
  readonly all: () => readonly Feature[];
  readonly listeners: () => readonly RecordListener[];
  /** Those of features that aren't open among them. */
  readonly routes: () => readonly DocumentedRoute[];
  /** Opens what a configuration needs that is about to be used, and prepares all. */
  readonly prepare: (config: Config) => Promise<void>;
  /** Hands over what this process has counted. */
  readonly flush: () => Promise<unknown>;
  /** Answers a feature's question in another process; `undefined`: there is nothing to say. */
  readonly answer: (asked: unknown) => Promise<string | undefined>;
}

/** Opens the features of a process. */
export const openFeatures = async ({ more, silent, ...parts }: FeatureParts): Promise<OpenFeatures> => {
  const { peers } = parts;
  const list = [...Object.values<Folder>(folders), ...more];
  const mute = new Set(silent.map((name): Folder => folders[name]));
  const opened = new Map<Folder, Feature>();
  const all = () => list.flatMap((folder) => opened.get(folder) ?? []);
  const first = <T>(of: (feature: Feature) => T | undefined) => all().flatMap((feature) => of(feature) ?? [])[0];
  const flush = () => Promise.all(all().map((feature) => feature.write?.()));
  const services: AllServices = {
    ...parts,
    processes: peers && { isShared: peers.isShared, ask: (asked) => peers.ask({ kind: 'feature', asked }) },
    features: {
      metrics: () => all().flatMap(({ metrics = [] }) => metrics),
      families: async () => (await first(({ families }) => families?.())) ?? [],
      nodes: () => first(({ nodes }) => nodes),
      askStore: async (...asked) =>
        (first(({ askStore }) => askStore) ?? fail('unavailable', 'Nothing is kept of requests.'))(...asked),
      clientsKept(told) {
        for (const { clientsKept } of all()) clientsKept?.(told);
      },
      async write() {
        await Promise.all([flush(), peers?.isShared() ? peers.ask({ kind: 'write' }) : undefined]);
      },
      answerNode: async (asked) => first(({ question }) => question?.forNode(asked)),
    },
  };
  const prepare = async (config: Config): Promise<void> => {
    for (const folder of list)
      if (!opened.has(folder) && folder.configured(config, services)) opened.set(folder, await folder.open(services));
    await Promise.all(all().map((feature) => feature.prepare?.(config)));
  };
  await prepare(parts.startConfig);
  const routesOf = (folder: Folder) => opened.get(folder)?.routes ?? folder.closedRoutes?.(services) ?? [];
  const answer = async (asked: unknown) => first(({ question }) => question?.own(asked));
  const listeners = () => list.flatMap((folder) => (mute.has(folder) ? [] : (opened.get(folder)?.listener ?? [])));
  return { all, listeners, routes: () => list.flatMap(routesOf), prepare, flush, answer };
};
