import type { Metric } from '../../observe/metric.ts';

/** Outcomes of the exported spans and metrics. */
export interface TelemetryFigures {
  readonly spansSent: number;
  readonly spansDropped: number;
  readonly metricsSent: number;
  readonly metricsDropped: number;
}

/** Metrics of the export to a collector: spans, and whole exports of metrics. */
export const telemetryMetrics = (figures: () => TelemetryFigures): readonly Metric[] => {
  const counter = (
    name: string,
    help: string,
    values: (figures: TelemetryFigures) => Readonly<Record<'traces' | 'metrics', number>>,
  ): Metric => ({
    type: 'counter',
    name,
    help,
    labelNames: ['signal'],
    samples: () => Object.entries(values(figures())).map(([signal, value]) => ({ labels: [signal], value })),
  });
  return [
    counter('telemetry_sent_total', 'Spans, and exports of metrics, that the collector took.', (now) => ({
      traces: now.spansSent,
      metrics: now.metricsSent,
    })),
    counter('telemetry_dropped_total', 'Spans, and exports of metrics, that were dropped.', (now) => ({
      traces: now.spansDropped,
      metrics: now.metricsDropped,
    })),
  ];
};
