import { isCost } from '../../catalogue/cost.ts';
import type { EndedRequest } from '../history/show-ended.ts';
import { TimeScale } from '../history/traffic.ts';
import { noUsage, type UsageRow, type UsageSums, type UsageTimes } from './schema.ts';

/** Rows of an hour in one process; what comes beyond is summed up by protocol, under `otherName`. */
const maxRows = 1_000;

/** The name for what is summed up beyond a bound. */
export const otherName = 'other';

/** The most that one request counts: an upstream's figures may be any number, and sums must stay exact. */
const most = 2 ** 32;

const hourMs = 3_600_000;

/** The name of the hour that a time lies in: `2026-01-31T08`, in UTC. */
export const hourOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 'yyyy-mm-ddThh'.length);

/** The month of an hour or day: `2026-01`. */
export const monthOf = (hour: string): string => hour.slice(0, 'yyyy-mm'.length);

/** The start of an hour, in milliseconds since 1970. */
export const hourStartMs = (hour: string): number => Date.parse(`${hour}:00:00Z`);

/** The start of the hour that a time lies in, in milliseconds since 1970. */
export const floorToHour = (atMs: number): number => Math.floor(atMs / hourMs) * hourMs;

/** What a request that ended adds to the sums. */
export type CountedRequest = Pick<
  EndedRequest,
  'protocol' | 'scenario' | 'provider' | 'model' | 'namedClient' | 'usage' | 'cost' | 'defaultCost'
> &
  Pick<EndedRequest, 'calls' | 'isFailed' | 'mayCost' | 'firstByteMs' | 'durationMs' | 'overheadMs'>;

type Sums = { -readonly [Name in keyof UsageSums]: UsageSums[Name] };
type Row = { -readonly [Name in keyof UsageRow]: UsageRow[Name] } & { readonly times: UsageTimes };

/** Of the times of requests: from 0.1 ms to 10,000 s. */
export const usageScale = new TimeScale(0.1, 20, 8);

export const noTimes = (): UsageTimes => ({ firstByte: {}, duration: {}, overhead: {} });

/** Adds sums to others. */
export const addSums = (to: Sums, from: UsageSums): void => {
  let name: keyof UsageSums;
  for (name in noUsage) to[name] += from[name];
};

/** One hour's requests of this process. */
export class UsageHour {
  readonly hour: string;
  /** Milliseconds since 1970. */
  readonly endMs: number;
  readonly #rows = new Map<string, Row>();
  #changes = 0;

  constructor(atMs: number) {
    this.hour = hourOf(atMs);
    this.endMs = floorToHour(atMs) + hourMs;
  }

  /** Counts the changes. */
  get changes(): number {
    return this.#changes;
  }

  get rows(): readonly UsageRow[] {
    return [...this.#rows.values()];
  }

  /** Whether the hour is over. */
  hasEnded(nowMs: number): boolean {
    return nowMs >= this.endMs;
  }

  add(request: CountedRequest): void {
    const row = this.#rowOf(request);
    const { usage, cost, defaultCost, calls, mayCost } = request;
    row.requests += 1;
    if (request.isFailed) row.errors += 1;
    if (calls > 1) row.retries += calls - 1;
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
    this.#changes += 1;
  }

  #rowOf({ protocol, scenario = '', provider = '', model = '', namedClient: client = '' }: CountedRequest): Row {
    const key = `${protocol}\n${scenario}\n${provider}\n${client}\n${model}`;
    const found = this.#rows.get(key);
    if (found) return found;
    const isFull = this.#rows.size >= maxRows;
    return isFull
      ? this.#open(protocol, {
          protocol,
          scenario: otherName,
          provider: otherName,
          model: otherName,
          client: otherName,
        })
      : this.#open(key, { protocol, scenario, provider, model, client });
  }

  #open(key: string, names: Omit<UsageRow, keyof UsageSums | 'times'>): Row {
    const known = this.#rows.get(key);
    if (known) return known;
    const row = { ...names, ...noUsage, times: noTimes() };
    this.#rows.set(key, row);
    return row;
  }
}

const addTime = (counts: Record<string, number>, ms: number | undefined): void => {
  if (ms === undefined) return;
  const timeClass = usageScale.classOf(ms);
  counts[timeClass] = (counts[timeClass] ?? 0) + 1;
};

/** A count that an upstream reported; anything that is no count is 0. */
const tokens = (count: number | undefined): number =>
  count !== undefined && count > 0 ? Math.min(most, Math.round(count)) : 0;
