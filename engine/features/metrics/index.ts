import { lazyRoutes } from '../../../admin/lazy-routes.ts';
import { type FeatureFolder, type FeatureServices, questionOf } from '../../feature.ts';
import { familiesQuestion } from '../../observe/families.ts';
import { watchLoop } from '../../runtime/loop-watch.ts';
import { upstreamStates } from '../../upstream/health/show-health.ts';
import type { SharedMetrics } from './metrics.ts';

interface MetricsServices extends FeatureServices {
  /** Puts the metrics of all processes together; absent: there are never others. */
  readonly peers: SharedMetrics | undefined;
}

/** Counts requests, and renders what is counted anywhere in the service. */
export const metrics: FeatureFolder<MetricsServices> = {
  configured: () => true,
  async open({ losses, current, active, peers: shared, features }) {
    const { openMetrics } = await import('./open-metrics.ts');
    const upstreams = () => upstreamStates(current.gateway);
    const { metrics: counted, feature } = openMetrics({ losses, upstreams, active, shared, others: features.metrics });
    const stopWatching = watchLoop(counted.stalled);
    return {
      ...feature,
      question: questionOf({
        shape: familiesQuestion,
        async own() {
          await counted.publishAll();
          return undefined;
        },
      }),
      routes: lazyRoutes({ metrics: 'GET /metrics' }, async () =>
        (await import('./routes.ts')).metricsOperations(counted),
      ),
      async close() {
        stopWatching();
        await feature.close?.();
      },
    };
  },
};
