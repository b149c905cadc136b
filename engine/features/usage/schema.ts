import Type, { type Static } from 'typebox';
import { AnsweredNodes } from '../record/schema.ts';

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

/** Sums of requests. */
const sums = {
  requests: count(),
  errors: count('Requests whose client got an error.'),
  retries: count('Calls after the first one: at the same destination or at a fallback.'),
  losses: count('Fields that conversions lost.'),
  input: count('Tokens that were neither read from nor written to a cache.'),
  cacheRead: count(),
  cacheWrite: count(),
  output: count('Tokens of answers, reasoning included.'),
  reasoning: count('The part of `output` spent on reasoning.'),
  cost: count('Billionths of a USD, at the prices that were known when the requests ended.'),
  unpriced: count('Requests that may have cost something unknown: if any, `cost` is the least that all cost.'),
  saved: Type.Integer({
    description:
      'Billionths of a USD by which the same tokens would have cost more at `Router.default`; negative: less.',
  }),
  uncompared: count('Requests that may have cost something, for which one of both costs is unknown.'),
  uncounted: count('Requests whose tokens the upstream did not report in full.'),
};

export const UsageSums = Type.Object(sums);
export type UsageSums = Static<typeof UsageSums>;

const counts = Type.Record(Type.String(), count());

/** Histogram of durations. */
const UsageTimes = Type.Object({ firstByte: counts, duration: counts, overhead: counts });

const percentiles = (description: string) =>
  Type.Optional(
    Type.Object(
      { p50: Type.Number(), p95: Type.Number(), p99: Type.Number() },
      { description: `${description}, in milliseconds, within 12 %. Absent: unknown.` },
    ),
  );

/** Sums of requests, and their durations. */
const figures = {
  ...sums,
  firstByteMs: percentiles('From the arrival of the body to the first byte of the answer'),
  durationMs: percentiles('From the arrival of the body to the end'),
  overheadMs: percentiles("The gateway's own time to the first byte"),
};

export const UsageFigures = Type.Object(figures);
export type UsageFigures = Static<typeof UsageFigures>;

/** Sums of requests of one name, or of a part of it, in one interval; an empty name is none. */
const UsageCell = Type.Object({
  from: Type.Union([Type.String(), Type.Null()]),
  name: Type.String(),
  part: Type.Optional(Type.String()),
  sums: UsageSums,
  times: UsageTimes,
});
export type UsageCell = Static<typeof UsageCell>;

/** Another node's answer. */
export const UsageCells = Type.Immutable(Type.Array(UsageCell));

export const UsageGroup = Type.Enum(['model', 'provider', 'client', 'scenario', 'protocol', 'all']);
export type UsageGroup = Static<typeof UsageGroup>;

export const UsageInterval = Type.Enum(['5s', 'minute', 'hour', 'day', 'month', 'none']);
export type UsageInterval = Static<typeof UsageInterval>;

/** Length of a bucket: 5 seconds, a minute or an hour. */
const UsageUnit = Type.Enum(['5s', 'minute', 'hour']);

/** Question to another node about its usage, in buckets of one unit: times in milliseconds since 1970. */
export const UsageQuery = Type.Object({
  fromMs: Type.Integer(),
  toMs: Type.Integer(),
  by: UsageGroup,
  part: Type.Optional(UsageGroup),
  step: UsageInterval,
  unit: UsageUnit,
  offset: Type.Optional(Type.Integer({ description: 'Minutes by which days and months begin before those of UTC.' })),
});
export type UsageQuery = Static<typeof UsageQuery>;

/** Question to another node. */
export const UsageQuestion = Type.Object({ kind: Type.Literal('usage'), query: UsageQuery });

/** `GET /api/usage`. */
export const UsageReport = Type.Object({
  from: Type.String({ description: 'The start of the first minute or hour.' }),
  to: Type.String({ description: 'The end of the time asked for.' }),
  by: UsageGroup,
  part: Type.Optional(UsageGroup),
  step: UsageInterval,
  machines: Type.Optional(AnsweredNodes),
  total: UsageFigures,
  rows: Type.Immutable(
    Type.Array(
      Type.Object({
        from: Type.Union([Type.String(), Type.Null()], {
          description: 'The start of the 5 seconds, minute, hour, day or month in UTC; null without steps.',
        }),
        name: Type.Union([Type.String(), Type.Null()], {
          description:
            'Of a model with its provider: `provider,model`. Null: none. `other`: what is summed up beyond the bounds.',
        }),
        part: Type.Optional(
          Type.Union([Type.String(), Type.Null()], { description: 'With two splits: the name in the second one.' }),
        ),
        ...figures,
      }),
      { description: 'By time; then the highest cost first.' },
    ),
  ),
});
export type UsageReport = Static<typeof UsageReport>;
