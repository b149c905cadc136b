import { lazyRoutes } from '../../../admin/lazy-routes.ts';
import { keyVariable } from '../../config/sections/providers.ts';
import { type FeatureFolder, type FeatureServices, questionOf } from '../../feature.ts';
import { reader } from '../../model/schema.ts';
import { version } from '../../paths.ts';
import type { OpenStore } from '../../store/store-thread.ts';
import { Feeds } from './api/feeds.ts';
import { variableFor } from './curl.ts';
import type { HistoryWriter } from './flush-lines.ts';
import { numberAt } from './history.ts';
import { openHistory } from './open-history.ts';
import { HistoryQuestion, HistoryReading } from './questions.ts';

interface HistoryServices extends FeatureServices {
  readonly persistence: { readonly history: HistoryWriter };
  readonly openStore: OpenStore | undefined;
}

const question = reader(HistoryQuestion);
const reading = reader(HistoryReading);

/** The model requests: those in flight, recent and kept ones, and their captures. */
export const history: FeatureFolder<HistoryServices> = {
  configured: () => true,
  async open(services) {
    const { logs, persistence, store, processes, features } = services;
    const feeds = new Feeds();
    const {
      requests,
      stored: openStored,
      answer,
      followOthers,
      ...feature
    } = await openHistory({
      ...services,
      log: logs.app,
      writer: persistence.history,
      variableOf: (provider) => keyVariable(store.source, provider) ?? variableFor(provider),
      processes: processes,
      nodes: features.nodes,
      onChanged: feeds.changed,
      onKept: features.clientsKept,
    });
    const stored = () => openStored(features.write);
    if (processes?.isShared()) void followOthers();
    return {
      ...feature,
      askStore: async (...asked) => (await stored()).ask(...asked),
      question: questionOf({
        shape: question,
        own: answer,
        node: {
          shape: reading,
          async answers(asked) {
            // By this node's clock, for all of its processes: the other one's may differ.
            const here =
              asked.kind === 'requests' ? { ...asked, until: Math.min(asked.until, numberAt(Date.now())) } : asked;
            const [own, others = []] = await Promise.all([answer(here), processes?.ask(here)]);
            return own === undefined ? others : [own, ...others];
          },
        },
      }),
      routes: lazyRoutes(places, async () => {
        const { historyOperations } = await import('./api/history-api.ts');
        const all = await requests();
        const kept = { ...services, stored: await stored(), requests: all, version };
        return historyOperations(kept, { ...services, requests: all, feeds });
      }),
      stopping: () => feeds.close(),
    };
  },
};

const places = {
  requests: 'GET /api/requests',
  clearRequests: 'DELETE /api/requests',
  request: 'GET /api/requests/:id',
  captureFile: 'GET /api/requests/:id/capture',
  replay: 'POST /api/requests/:id/replay',
  activity: 'GET /api/activity',
  capture: 'GET /api/capture',
  switchCapture: 'POST /api/capture',
  feed: 'GET /api/feed',
  history: 'GET /api/history',
  facets: 'GET /api/history/facets',
  histogram: 'GET /api/history/histogram',
  failures: 'GET /api/history/failures',
  sums: 'GET /api/history/sums',
  extent: 'GET /api/history/extent',
  clearHistory: 'DELETE /api/history',
  export: 'GET /api/history/export',
  sessions: 'GET /api/sessions',
  session: 'GET /api/sessions/:id',
} as const;
