import type { Metrics } from '../engine/observe/metrics/metrics.ts';
import { adminEndpoint } from './endpoint.ts';
import type { DocumentedRoute } from './operation-doc.ts';
import { metricsDoc } from './operation-docs.ts';

/** `GET /metrics`: metrics in Prometheus's text format. They reveal providers and models, so they need the key. */
export const metricsRoutes = (metrics: Metrics): readonly DocumentedRoute[] => [
  {
    method: 'GET',
    path: '/metrics',
    endpoint: adminEndpoint(async () => {
      const { text, contentType } = await metrics.scrape();
      return {
        type: 'whole',
        status: 200,
        headers: { 'content-type': contentType, 'cache-control': 'no-store' },
        body: text,
      };
    }),
    doc: metricsDoc,
  },
];
