import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { TelemetrySettings } from '../../config/sections/telemetry.ts';
import type { Feature } from '../../feature.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import { originOf } from '../../routing/rules/request-facts.ts';
import { within } from '../../runtime/within.ts';
import type { Upstreams } from '../../upstream/upstreams.ts';
import { attribute } from './conventions.ts';
import { DurationMetrics } from './duration-metrics.ts';
import { type Delivery, Exporter, type ExporterClock } from './exporter.ts';
import { metricsBody, type Source, tracesBody } from './otlp.ts';
import { RequestTrace, type TracedRequest } from './request-trace.ts';
import { SpanQueue } from './span-queue.ts';
import { type TelemetryFigures, telemetryMetrics } from './telemetry-metrics.ts';
import { readTraceContext } from './trace-context.ts';

/** The export of traces and metrics to a collector. */
export interface Telemetry {
  /** Starts a request's trace, or continues the client's, whose headers `header` reads by lower-case name. */
  readonly started: (request: TracedRequest, header: (name: string) => string | undefined) => RequestTrace;
  readonly figures: () => TelemetryFigures;
  /** Sends what waits, for at most a second, and ends. */
  readonly stop: () => Promise<void>;
}

interface TelemetryOptions {
  readonly settings: TelemetrySettings;
  /** Connections for the collector alone; `stop` closes them. */
  readonly upstreams: Upstreams;
  readonly version: string;
  readonly log: Pick<AppLog, 'info' | 'warn'>;
  readonly clock?: ExporterClock;
}

/** Interval between exports of metrics, in milliseconds. */
const metricsMs = 60_000;
/** Time limit of a stop that waits for the collector, in milliseconds. */
const flushMs = 1_000;

export const openTelemetry = ({
  settings,
  upstreams,
  version,
  log,
  clock = systemClock,
}: TelemetryOptions): Telemetry => {
  const { endpoint, headers, traces, metrics: exportsMetrics, ratio } = settings;
  const source: Source = {
    resource: {
      ...settings.resource,
      [attribute.serviceName]: settings.service,
      [attribute.serviceVersion]: version,
      [attribute.serviceInstance]: randomUUID(),
    },
    scope: { name: 'junctor', version },
  };
  const counts = { spansSent: 0, spansDropped: 0, metricsSent: 0, metricsDropped: 0 };
  const say = troubleLog(log, clock);
  const exporterFor = (path: string, rejectedCount: string): Exporter =>
    new Exporter({ upstreams, url: below(endpoint, path), headers, clock, rejectedCount });
  const spanExporter = exporterFor('v1/traces', 'rejectedSpans');
  const metricExporter = exporterFor('v1/metrics', 'rejectedDataPoints');

  const queue = new SpanQueue({
    clock,
    send: (spans) => spanExporter.send(tracesBody(source, spans)),
    onDropped() {
      counts.spansDropped += 1;
    },
    onDelivered(delivery, spans) {
      const sent = delivery.type === 'sent' ? Math.max(0, spans - delivery.rejected) : 0;
      counts.spansSent += sent;
      counts.spansDropped += spans - sent;
      say(delivery);
    },
  });

  const metrics = new DurationMetrics();
  const startedMs = Date.now();
  let sendingMetrics: Promise<void> | undefined;
  const sendMetrics = (): Promise<void> => {
    sendingMetrics ??= metricExporter
      .send(metricsBody(source, metrics.all(), startedMs, Date.now()))
      .then((delivery) => {
        if (delivery.type === 'sent') counts.metricsSent += 1;
        else counts.metricsDropped += 1;
        say(delivery);
      })
      .finally(() => {
        sendingMetrics = undefined;
      });
    return sendingMetrics;
  };
  let cancelMetrics = (): void => undefined;
  const scheduleMetrics = (): void => {
    cancelMetrics = clock.later(() => {
      scheduleMetrics();
      void sendMetrics();
    }, metricsMs);
  };
  if (exportsMetrics) scheduleMetrics();

  const sink = { metrics, add: traces ? queue.add.bind(queue) : () => undefined, nowMs: clock.nowMs };
  return {
    started(request, header) {
      return new RequestTrace(request, readTraceContext(header('traceparent'), header('tracestate'), ratio), sink);
    },
    figures: () => counts,
    async stop() {
      cancelMetrics();
      // An export of metrics that is under way may be older than the last requests.
      const last = exportsMetrics ? Promise.resolve(sendingMetrics).then(sendMetrics) : undefined;
      await within(flushMs, Promise.all([queue.end(), last]), clock.later);
      spanExporter.close();
      metricExporter.close();
      await upstreams.close();
    },
  };
};

/** The export as a feature. */
export const telemetryFeature = (telemetry: Telemetry): Feature => ({
  listener: {
    began(record) {
      const { id, startedAtMs, preset, namedClient, start } = record;
      const { method, path } = start.incoming;
      const { path: route } = originOf({ path, namedClient }, preset);
      const request = { id, method, route, preset, namedClient, startedAtMs };
      const trace = telemetry.started(request, (name) => start.incoming.header(name));
      record.trace = trace;
      record.listen(trace);
    },
  },
  metrics: telemetryMetrics(telemetry.figures),
  close: telemetry.stop,
});

const systemClock: ExporterClock = {
  nowMs: () => performance.now(),
  later(task, ms) {
    const timer = setTimeout(task, ms).unref();
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** The URL of a signal, below the endpoint's own path. */
const below = (endpoint: URL, path: string): URL => {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url;
};

/** Trouble is said when it begins and when it is over, but not more often, in milliseconds. */
const saidMs = 600_000;

const troubleLog = (log: Pick<AppLog, 'info' | 'warn'>, { nowMs }: Pick<ExporterClock, 'nowMs'>) => {
  let isSaid = false;
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return (delivery: Delivery): void => {
    if (delivery.type === 'sent') {
      if (isSaid) log.info('the collector takes telemetry again');
      isSaid = false;
    } else if (!isSaid && nowMs() - saidAtMs >= saidMs) {
      isSaid = true;
      saidAtMs = nowMs();
      log.warn(`telemetry is dropped, requests go on: ${delivery.problem}`);
    }
  };
};
