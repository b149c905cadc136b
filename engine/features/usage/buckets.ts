import { type RequestRecord, seriesOf } from '../../request-record.ts';
import { isCost } from '../../routing/catalogue/catalogue.ts';
import { TimeScale } from '../record/series.ts';
import { noUsage, type UsageRow, type UsageSums, type UsageTimes, type UsageUnit } from './schema.ts';

/** Rows of a bucket in one process; what comes beyond is summed up by protocol, under `otherName`. */
const usualRows = 1_000;

/** The name for what is summed up beyond a bound. */
export const otherName = 'other';

/** The most that one request counts: an upstream's figures may be any number, and sums must stay exact. */
const most = 2 ** 32;

const unitMs = { '5s': 5_000, minute: 60_000, hour: 3_600_000 } as const satisfies Record<UsageUnit, number>;

/** The length of a bucket's name. */
export const nameLength = {
  '5s': 'yyyy-mm-ddThh:mm:ss'.length,
  minute: 'yyyy-mm-ddThh:mm'.length,
  hour: 'yyyy-mm-ddThh'.length,
} as const satisfies Record<UsageUnit, number>;

/** The name of the bucket that a time lies in, in UTC: `2026-01-31T08:05:20`, `2026-01-31T08:05`, or `2026-01-31T08` for an hour. */
export const bucketOf = (unit: UsageUnit, atMs: number): string =>
  new Date(floorTo(unit, atMs)).toISOString().slice(0, nameLength[unit]);

/** The hour of a bucket: `2026-01-31T08`. */
export const hourOf = (bucket: string): string => bucket.slice(0, nameLength.hour);

/** The day of a bucket: `2026-01-31`. */
export const dayOf = (bucket: string): string => bucket.slice(0, 'yyyy-mm-dd'.length);

/** The month of a bucket or day: `2026-01`. */
export const monthOf = (bucket: string): string => bucket.slice(0, 'yyyy-mm'.length);

/** The start of a bucket, in milliseconds since 1970. */
export const bucketStartMs = (bucket: string): number =>
  Date.parse(bucket.length === nameLength.hour ? `${bucket}:00Z` : `${bucket}Z`);

/** The start of the bucket that a time lies in, in milliseconds since 1970. */
export const floorTo = (unit: UsageUnit, atMs: number): number => Math.floor(atMs / unitMs[unit]) * unitMs[unit];

/** What a request that ended adds to the sums. */
export type CountedRequest = Pick<
  RequestRecord,
  'series' | 'protocol' | 'scenario' | 'provider' | 'model' | 'namedClient' | 'usage' | 'cost' | 'defaultCost'
> &
  Pick<RequestRecord, 'calls' | 'isFailed' | 'lossCount' | 'mayCost' | 'firstByteMs' | 'durationMs' | 'overheadMs'>;

type Sums = { -readonly [Name in keyof UsageSums]: UsageSums[Name] };
type RowNames = Omit<UsageRow, keyof UsageSums | 'times'>;
type Row = RowNames & Sums & { readonly times: UsageTimes };

/** Of the times of requests: from 0.1 ms to 10,000 s. */
export const usageScale = new TimeScale(0.1, 20, 8);

export const noTimes = (): UsageTimes => ({ firstByte: {}, duration: {}, overhead: {} });

/** Adds sums to others. */
export const addSums = (to: Sums, from: Partial<UsageSums>): void => {
  let name: keyof UsageSums;
  for (name in noUsage) to[name] += from[name] ?? 0;
};

/** Adds times to others. */
export const addTimes = (to: UsageTimes, from: UsageTimes): void => {
  let name: keyof UsageTimes;
  for (name in to) {
    for (const [timeClass, count] of Object.entries(from[name]))
      to[name][timeClass] = (to[name][timeClass] ?? 0) + count;
  }
};

/** One process's requests of 5 seconds, a minute or an hour. */
export class UsageBucket {
  readonly name: string;
  readonly #endMs: number;
  readonly #maxRows: number;
  readonly #rows = new Map<string, Row>();
  #requests = 0;

  /** The bucket that a time lies in. `maxRows`: how many rows have names of their own. */
  constructor(unit: UsageUnit, atMs: number, maxRows: number = usualRows) {
    this.name = bucketOf(unit, atMs);
    this.#endMs = floorTo(unit, atMs) + unitMs[unit];
    this.#maxRows = maxRows;
  }

  /** How many requests it counts. */
  get requests(): number {
    return this.#requests;
  }

  get rows(): readonly UsageRow[] {
    return [...this.#rows.values()];
  }

  /** Whether its time is over. */
  hasEnded(nowMs: number): boolean {
    return nowMs >= this.#endMs;
  }

  /** Adds the rows of another bucket. */
  fold(rows: readonly UsageRow[]): this {
    for (const from of rows) {
      const row = this.#rowOf(from);
      addSums(row, from);
      if (from.times) addTimes(row.times, from.times);
      this.#requests += from.requests;
    }
    return this;
  }

  add(request: CountedRequest): void {
    const row = this.#rows.get(request.series) ?? this.#rowOf(namesOf(request));
    const { usage, cost, defaultCost, calls, mayCost } = request;
    row.requests += 1;
    if (request.isFailed) row.errors += 1;
    if (calls > 1) row.retries += calls - 1;
    row.losses += request.lossCount;
    row.input += tokens(usage?.input);
    row.cacheRead += tokens(usage?.cacheRead);
    row.cacheWrite += tokens(usage?.cacheWrite);
    row.output += tokens(usage?.output);
    row.reasoning += tokens(usage?.reasoning);
    if (isCost(cost)) row.cost += Math.round(cost);
    else if (mayCost) row.unpriced += 1;
    if (isCost(cost) && isCost(defaultCost)) row.saved += Math.round(defaultCost) - Math.round(cost);
    else if (mayCost) row.uncompared += 1;
    const prompt = usage?.input ?? usage?.cacheRead ?? usage?.cacheWrite;
    if (mayCost && (prompt === undefined || usage?.output === undefined)) row.uncounted += 1;
    addTime(row.times.firstByte, request.firstByteMs);
    addTime(row.times.duration, request.durationMs);
    addTime(row.times.overhead, request.overheadMs);
    this.#requests += 1;
  }

  #rowOf(names: RowNames): Row {
    const known = this.#rows.get(keyOf(names));
    if (known) return known;
    return this.#rows.size < this.#maxRows ? this.#open(names) : this.#otherRow(names);
  }

  #otherRow({ protocol }: RowNames): Row {
    const names = { protocol, scenario: otherName, provider: otherName, model: otherName, client: otherName };
    return this.#rows.get(keyOf(names)) ?? this.#open(names);
  }

  #open({ protocol, scenario, provider, model, client }: RowNames): Row {
    const row = { protocol, scenario, provider, model, client, ...noUsage, times: noTimes() };
    this.#rows.set(keyOf(row), row);
    return row;
  }
}

/** The current bucket, created if the last one has ended. */
export const currentOf = (list: UsageBucket[], unit: UsageUnit, nowMs: number): UsageBucket => {
  const last = list.at(-1);
  if (last && !last.hasEnded(nowMs)) return last;
  const next = new UsageBucket(unit, nowMs);
  list.push(next);
  return next;
};

const namesOf = ({
  protocol,
  scenario = '',
  provider = '',
  model = '',
  namedClient = '',
}: CountedRequest): RowNames => ({
  protocol,
  scenario,
  provider,
  model,
  client: namedClient,
});

const keyOf = ({ protocol, scenario, provider, model, client }: RowNames): string =>
  seriesOf(protocol, scenario, provider, client, model);

const addTime = (counts: Record<string, number>, ms: number | undefined): void => {
  if (ms === undefined) return;
  const timeClass = usageScale.classOf(ms);
  counts[timeClass] = (counts[timeClass] ?? 0) + 1;
};

/** A count that an upstream reported; anything that is no count is 0. */
const tokens = (count: number | undefined): number =>
  count !== undefined && count > 0 ? Math.min(most, Math.round(count)) : 0;
