import { lazyRoutes } from '../../../admin/lazy-routes.ts';
import { type FeatureFolder, type OtherNodes, questionOf } from '../../feature.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { UsageCells, type UsageQuery, UsageQuestion } from './schema.ts';

const question = reader(UsageQuestion);
const cellsReader = reader(UsageCells);

/** Reports requests, tokens and cost over time. */
export const usage: FeatureFolder = {
  configured: () => true,
  open: async ({ nowMs, features }) => ({
    // The store has the flushed data of all processes, so that one answers for all.
    question: questionOf({
      shape: question,
      own: async () => undefined,
      node: {
        shape: question,
        answers: async ({ query }) => [JSON.stringify(await features.askStore('usage', query))],
      },
    }),
    routes: lazyRoutes({ report: 'GET /api/usage' }, async () =>
      (await import('./routes.ts')).usageOperations({
        nowMs,
        ask: features.askStore,
        others(query) {
          const nodes = features.nodes();
          return nodes?.isShared() ? cellsOf(nodes, query) : undefined;
        },
      }),
    ),
  }),
};

const cellsOf = async ({ ask }: OtherNodes, query: UsageQuery) => {
  const { heard, answers } = await ask(() => ({ kind: 'usage', query }));
  const cells = answers.map(({ text }) => parseJson(text)).filter((answer) => cellsReader.matches(answer));
  return { heard, cells: cells.flat() };
};
