import Type from 'typebox';
import { adminEndpoint, ServiceFault } from '../../../admin/endpoint.ts';
import type { RouteOperation } from '../../http/documented-route.ts';
import type { Metrics } from './metrics.ts';

/** `GET /metrics`: metrics in Prometheus's text format. They reveal providers and models, so they need the key. */
export const metricsOperations = (metrics: Metrics): Readonly<Record<'metrics', RouteOperation>> => ({
  metrics: {
    endpoint: adminEndpoint(async () => {
      const { text, contentType } = await metrics.scrape();
      return {
        type: 'whole',
        status: 200,
        headers: { 'content-type': contentType, 'cache-control': 'no-store' },
        body: text,
      };
    }),
    doc: {
      summary: 'Counters, in the text format of Prometheus',
      group: 'operation',
      answers: { 200: { description: 'The counters.', content: { 'text/plain': Type.String() } } },
      fault: ServiceFault,
    },
  },
});
