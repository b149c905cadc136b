import type { Distribution } from '../record/series.ts';

/*
 * OTLP's JSON. Source: opentelemetry-proto 1.x, "OTLP/HTTP", "JSON Protobuf Encoding": lower camel case, ids in hexadecimal,
 * 64-bit whole numbers as text, enumerations as numbers.
 */

/** Attributes by name; whole numbers are integers, `undefined` ones are left out. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

/** A span that has ended. Times are milliseconds since 1970. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly state: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly isError: boolean;
}

/** A histogram with the names of its attributes. */
export interface Histogram {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly attributeNames: readonly string[];
  readonly observed: Distribution;
}

/** The sender: the resource's attributes, and the program's name and version. */
export interface Source {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

const kinds = { server: 2, client: 3 } as const;
const errorStatus = 2;
const cumulative = 2;
const sampledFlag = 1;

/** The body of `POST /v1/traces`. */
export const tracesBody = ({ resource, scope }: Source, spans: readonly Span[]): string =>
  JSON.stringify({
    resourceSpans: [
      { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] },
    ],
  });

const spanOf = ({
  traceId,
  spanId,
  parentId,
  state,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  events,
  isError,
}: Span) => ({
  traceId,
  spanId,
  parentSpanId: parentId,
  traceState: state,
  flags: sampledFlag,
  name,
  kind: kinds[kind],
  startTimeUnixNano: nanoseconds(startMs),
  endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
  attributes: attributesOf(attributes),
  events: events.map((event) => ({
    name: event.name,
    timeUnixNano: nanoseconds(event.atMs),
    attributes: attributesOf(event.attributes),
  })),
  status: isError ? { code: errorStatus } : {},
});

/** The body of `POST /v1/metrics`: sums since `startMs`. */
export const metricsBody = (
  { resource, scope }: Source,
  histograms: readonly Histogram[],
  startMs: number,
  nowMs: number,
): string =>
  JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeMetrics: [{ scope, metrics: histograms.map((histogram) => metricOf(histogram, startMs, nowMs)) }],
      },
    ],
  });

const metricOf = (
  { name, unit, description, attributeNames, observed }: Histogram,
  startMs: number,
  nowMs: number,
) => ({
  name,
  unit,
  description,
  histogram: {
    aggregationTemporality: cumulative,
    dataPoints: Array.from(observed.rows(), ({ labels, value }) => ({
      attributes: attributesOf(
        Object.fromEntries(attributeNames.map((attribute, index) => [attribute, labels[index] || undefined])),
      ),
      startTimeUnixNano: nanoseconds(startMs),
      timeUnixNano: nanoseconds(nowMs),
      count: String(value.count),
      sum: value.sum,
      bucketCounts: Array.from(value.buckets, String),
      explicitBounds: observed.bounds,
    })),
  },
});

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  );

const anyValueOf = (value: string | number | boolean) => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

/** Whole nanoseconds exceed what a number holds exactly. */
const nanoseconds = (ms: number): string => {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1_000_000)).padStart(6, '0')}`;
};
