import type { ExecutionContext } from 'ava';
import Type, { type Static } from 'typebox';
import { reader } from '../../../../engine/model/schema.ts';
import { type Script, startUpstream } from '../../../support/upstreams/upstream.ts';

const Value = Type.Union([
  Type.Object({ stringValue: Type.String() }),
  Type.Object({ intValue: Type.String() }),
  Type.Object({ doubleValue: Type.Number() }),
  Type.Object({ boolValue: Type.Boolean() }),
]);
const Attributes = Type.Array(Type.Object({ key: Type.String(), value: Value }));
const Nanoseconds = Type.String({ pattern: '^[0-9]{19}$' });
const Span = Type.Object({
  traceId: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  spanId: Type.String({ pattern: '^[0-9a-f]{16}$' }),
  parentSpanId: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16}$' })),
  traceState: Type.Optional(Type.String()),
  flags: Type.Literal(1),
  name: Type.String({ minLength: 1 }),
  kind: Type.Enum([2, 3]),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: Attributes,
  events: Type.Array(Type.Object({ name: Type.String(), timeUnixNano: Nanoseconds, attributes: Attributes })),
  status: Type.Object({ code: Type.Optional(Type.Literal(2)) }),
});
const Scope = Type.Object({ name: Type.String(), version: Type.String() });
const Resource = Type.Object({ attributes: Attributes });
const traces = reader(
  Type.Object({
    resourceSpans: Type.Array(
      Type.Object({
        resource: Resource,
        scopeSpans: Type.Array(Type.Object({ scope: Scope, spans: Type.Array(Span) })),
      }),
    ),
  }),
);
const Count = Type.String({ pattern: '^[0-9]+$' });
const metrics = reader(
  Type.Object({
    resourceMetrics: Type.Array(
      Type.Object({
        resource: Resource,
        scopeMetrics: Type.Array(
          Type.Object({
            scope: Scope,
            metrics: Type.Array(
              Type.Object({
                name: Type.String(),
                unit: Type.String(),
                histogram: Type.Object({
                  aggregationTemporality: Type.Literal(2),
                  dataPoints: Type.Array(
                    Type.Object({
                      attributes: Attributes,
                      startTimeUnixNano: Nanoseconds,
                      timeUnixNano: Nanoseconds,
                      count: Count,
                      sum: Type.Number(),
                      bucketCounts: Type.Array(Count),
                      explicitBounds: Type.Array(Type.Number()),
                    }),
                  ),
                }),
              }),
            ),
          }),
        ),
      }),
    ),
  }),
);

/** Attributes by name, as text. */
export const attributesOf = (list: Static<typeof Attributes>): Readonly<Record<string, string>> =>
  Object.fromEntries(list.map(({ key, value }) => [key, String(Object.values(value)[0])]));

/** A collector that checks each body against OTLP's JSON. */
export const startCollector = async (t: ExecutionContext, script: Script = () => ({ pieces: ['{}'] })) => {
  const collector = await startUpstream(script);
  t.teardown(collector.close);
  const bodiesAt = (path: string) => collector.requests.filter(({ url }) => url === path).map(({ body }) => body);
  const resourceSpans = () => bodiesAt('/v1/traces').flatMap((body) => traces.read(body).resourceSpans);
  return {
    url: collector.url,
    requests: collector.requests,
    resources: () => resourceSpans().map(({ resource }) => attributesOf(resource.attributes)),
    spans: () => resourceSpans().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    /** Of the last export. */
    metrics: () =>
      (metrics.read(bodiesAt('/v1/metrics').at(-1)).resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? []).map(
        (metric) => ({
          name: metric.name,
          points: metric.histogram.dataPoints.map(({ attributes, count, sum, bucketCounts, explicitBounds }) => ({
            attributes: attributesOf(attributes),
            count: Number(count),
            sum,
            isWhole:
              bucketCounts.length === explicitBounds.length + 1 &&
              bucketCounts.reduce((total, bucket) => total + Number(bucket), 0) === Number(count),
          })),
        }),
      ),
  };
};
