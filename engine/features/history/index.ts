import { laterRoutes } from '../../../admin/later-routes.ts';
import { keyVariable } from '../../config/sections/providers.ts';
import { type FeatureFolder, type FeatureServices, questionOf } from '../../feature.ts';
import { reader } from '../../model/schema.ts';
import { version } from '../../paths.ts';
import type { OpenStore } from '../../store/store-thread.ts';
import { Feeds } from './api/feeds.ts';
import { variableFor } from './curl.ts';
import type { HistoryKeeper } from './hand-over-lines.ts';
import { numberAt } from './history.ts';
import { openHistory } from './open-history.ts';
import { HistoryQuestion, HistoryReading } from './questions.ts';

interface HistoryServices extends FeatureServices {
  readonly keeper: { readonly history: HistoryKeeper };
  readonly openStore: OpenStore | undefined;
}

const question = reader(HistoryQuestion);
const reading = reader(HistoryReading);

/** The model requests: those in flight, recent and kept ones, and their captures. */
export const history: FeatureFolder<HistoryServices> = {
  configured: () => true,
  async open(services) {
    const { logs, keeper, store, processes, features } = services;
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
      keeper: keeper.history,
      variableOf: (provider) => keyVariable(store.source, provider) ?? variableFor(provider),
      processes: processes,
      nodes: features.nodes,
      onChanged: feeds.changed,
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
      routes: laterRoutes(rows, async () => {
        const { historyApiRoutes } = await import('./api/history-api.ts');
        const all = await requests();
        const kept = { ...services, stored: await stored(), requests: all, version };
        return historyApiRoutes(kept, { ...services, requests: all, feeds });
      }),
      stopping: () => feeds.close(),
    };
  },
};

/** In the order of `historyApiRoutes`. */
const rows = [
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
