import { defer, from, map } from 'rxjs';
import type { Metrics } from '../engine/metrics/metrics.ts';
import type { DocumentedRow } from './operation-doc.ts';
import { metricsDoc } from './operation-docs.ts';
import { wordFault } from './word-fault.ts';

/** `GET /metrics`: the service's counters, as Prometheus reads them. They tell who is asked for what, so they need the key. */
export const metricsRows = (metrics: Metrics): readonly DocumentedRow[] => [
  {
    method: 'GET',
    path: '/metrics',
    endpoint: {
      open: false,
      wordFault,
      handle: () =>
        defer(() => from(metrics.scrape())).pipe(
          map(({ text, contentType }) => ({
            type: 'whole' as const,
            status: 200,
            headers: { 'content-type': contentType, 'cache-control': 'no-store' },
            body: text,
          })),
        ),
    },
    doc: metricsDoc,
  },
];
