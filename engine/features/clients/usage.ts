import Type, { type Static } from 'typebox';
import { BoundedMap } from '../../runtime/memoize.ts';

/** The periods that usage is counted for, in UTC. */
type UsagePeriod = 'day' | 'month';

/** What a client used. */
interface ClientUsage {
  readonly requests: number;
  /** Tokens of prompts, cached ones included. */
  readonly input: number;
  /** Tokens of answers, reasoning included. */
  readonly output: number;
  /** What its answers cost, in nano-dollars, as far as that is known. */
  readonly cost: number;
  /** Requests whose cost isn't known. */
  readonly unpriced: number;
}

const nothing: ClientUsage = { requests: 0, input: 0, output: 0, cost: 0, unpriced: 0 };

/** What budgets are in. */
interface Spending {
  readonly tokens: number;
  /** In nano-dollars. */
  readonly cost: number;
}

const Used = Type.Object({
  requests: Type.Integer({ minimum: 0 }),
  input: Type.Integer({ minimum: 0 }),
  output: Type.Integer({ minimum: 0 }),
  // Older versions don't count these.
  cost: Type.Optional(Type.Integer({ minimum: 0 })),
  unpriced: Type.Optional(Type.Integer({ minimum: 0 })),
});

/** The usage of one period by client; `key` is `2026-01-31` or `2026-01`. */
const PeriodUsage = Type.Object({ key: Type.String(), clients: Type.Record(Type.String(), Used) });
type PeriodUsage = Static<typeof PeriodUsage>;

/** What clients used in a day and a month. */
export const ClientUsageRecord = Type.Object({ day: PeriodUsage, month: PeriodUsage });
export type ClientUsageRecord = Static<typeof ClientUsageRecord>;

/** Counters that several machines add to. */
interface SharedCounters {
  readonly add: (id: string, by: number) => void;
  readonly total: (id: string) => number;
  /** Waits for the totals of these counters; `undefined`: they are known. */
  readonly whenKnown: (ids: readonly string[]) => Promise<void> | undefined;
  /** `restate` gives all that was added here, for when it is lost. */
  readonly onLoss: (restate: () => Iterable<readonly [id: string, sum: number]>) => void;
}

/** The name of the period that a time lies in. */
const keyOf = (period: UsagePeriod, atMs: number): string =>
  new Date(atMs).toISOString().slice(0, period === 'day' ? 'yyyy-mm-dd'.length : 'yyyy-mm'.length);

/** When the period after this time begins, in milliseconds since 1970. */
export const nextPeriodMs = (period: UsagePeriod, atMs: number): number => {
  const at = new Date(atMs);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
};

/** Clients counted per period. A configuration has fewer, but it may change without end; the oldest gives way. */
const maxClients = 5_000;

/** What clients use, in all processes as far as this one knows. */
export class UsageLedger {
  readonly #nowMs: () => number;
  /** What the process that keeps the usage knew last. */
  #all: ClientTotals;
  /** What it is adding. */
  #sent: ClientTotals | undefined;
  /** What it doesn't know yet. */
  #added: ClientTotals;
  /** Prompts in progress, which will be used. */
  readonly #pending = new Map<string, Spending>();
  readonly #shared: SharedCounters | undefined;
  #restates = false;

  /**
   * `nowMs`: a clock that never goes back, in milliseconds since 1970. `shared`: absent on a machine that is alone; `budgets`: the
   * clients with budgets, which machines count together.
   */
  constructor(
    nowMs: () => number,
    shared?: SharedCounters,
    budgets: () => Iterable<readonly [client: string, period: UsagePeriod]> = () => [],
  ) {
    this.#nowMs = nowMs;
    this.#all = new ClientTotals(nowMs);
    this.#added = new ClientTotals(nowMs);
    this.#shared = shared;
    shared?.onLoss(() => (this.#restates ? this.#counters(budgets()) : []));
  }

  /** Adds to what a client has used; `budget`: the period of its budget. */
  add(client: string, used: Partial<ClientUsage>, budget?: UsagePeriod): void {
    this.#added.addTo(client, used);
    if (!this.#shared || budget === undefined) return;
    const ids = countersOf(client, keyOf(budget, this.#nowMs()));
    const { tokens, cost } = spendingOf({ ...nothing, ...used });
    if (tokens > 0) this.#shared.add(ids.tokens, tokens);
    if (cost > 0) this.#shared.add(ids.cost, cost);
  }

  /** What a client's prompts in progress will use. */
  pending(client: string): Spending {
    return this.#pending.get(client) ?? { tokens: 0, cost: 0 };
  }

  /** Counts a prompt in progress until the returned function is called. */
  addPending(client: string, prompt: Spending): () => void {
    const change = (sign: 1 | -1): void => {
      const { tokens, cost } = this.pending(client);
      const pending = { tokens: tokens + sign * prompt.tokens, cost: cost + sign * prompt.cost };
      if (pending.tokens > 0 || pending.cost > 0) this.#pending.set(client, pending);
      else this.#pending.delete(client);
    };
    change(1);
    return () => change(-1);
  }

  /** What a client has used in the period, in all processes as far as is known here. */
  used(client: string, period: UsagePeriod): ClientUsage {
    return [this.#all, this.#sent, this.#added].reduce<ClientUsage>(
      (sum, totals) => (totals ? sumOf(sum, totals.of(client, period)) : sum),
      nothing,
    );
  }

  /** What a client has used of a budget, on all machines as far as is known here. */
  spent(client: string, budget: UsagePeriod): Spending {
    const here = spendingOf(this.used(client, budget));
    if (!this.#shared) return here;
    const ids = countersOf(client, keyOf(budget, this.#nowMs()));
    // Machines together have used no less than this one, which may have counted before there were others.
    return {
      tokens: Math.max(here.tokens, this.#shared.total(ids.tokens)),
      cost: Math.max(here.cost, this.#shared.total(ids.cost)),
    };
  }

  /** Waits for what other machines have used of a budget; `undefined`: it is known. */
  whenKnown(client: string, budget: UsagePeriod): Promise<void> | undefined {
    return this.#shared?.whenKnown(Object.values(countersOf(client, keyOf(budget, this.#nowMs()))));
  }

  *#counters(budgets: Iterable<readonly [string, UsagePeriod]>): Generator<readonly [string, number]> {
    for (const [client, budget] of budgets) {
      const ids = countersOf(client, keyOf(budget, this.#nowMs()));
      const { tokens, cost } = spendingOf(this.used(client, budget));
      if (tokens > 0) yield [ids.tokens, tokens];
      if (cost > 0) yield [ids.cost, cost];
    }
  }

  /** Start of the next period: a time, and milliseconds from now. */
  next(period: UsagePeriod): { readonly atMs: number; readonly inMs: number } {
    const nowMs = this.#nowMs();
    const atMs = nextPeriodMs(period, nowMs);
    return { atMs, inMs: atMs - nowMs };
  }

  /** Adds what is new to what `keeper` keeps, and takes over what other processes have added. One call at a time. */
  async exchange(
    keep: (used: ClientUsageRecord) => Promise<{ readonly all: ClientUsageRecord; readonly restates: boolean }>,
  ): Promise<void> {
    const sent = this.#added;
    this.#sent = sent;
    this.#added = new ClientTotals(this.#nowMs);
    try {
      const { all, restates } = await keep(sent.record);
      const known = new ClientTotals(this.#nowMs);
      known.add(all);
      this.#all = known;
      this.#restates = restates;
    } catch (error) {
      this.#added.add(sent.record);
      throw error;
    } finally {
      this.#sent = undefined;
    }
  }
}

/** Sums of what clients use in the current day and month. */
export class ClientTotals {
  readonly #nowMs: () => number;
  readonly #periods: Readonly<Record<UsagePeriod, CountedPeriod>>;

  /** `nowMs`: a clock that never goes back, in milliseconds since 1970. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#periods = { day: new CountedPeriod('day', nowMs()), month: new CountedPeriod('month', nowMs()) };
  }

  addTo(client: string, used: Partial<ClientUsage>): void {
    const nowMs = this.#nowMs();
    this.#periods.day.add(client, used, nowMs);
    this.#periods.month.add(client, used, nowMs);
  }

  /** Adds sums of the same day or month; others are over. Whether there are any. */
  add({ day, month }: ClientUsageRecord): boolean {
    const nowMs = this.#nowMs();
    this.#periods.day.resume(day, nowMs);
    this.#periods.month.resume(month, nowMs);
    return [day, month].some(({ clients }) => Object.keys(clients).length > 0);
  }

  of(client: string, period: UsagePeriod): ClientUsage {
    const counted = this.#periods[period];
    counted.turn(this.#nowMs());
    return counted.of(client);
  }

  get record(): ClientUsageRecord {
    const nowMs = this.#nowMs();
    return { day: this.#periods.day.record(nowMs), month: this.#periods.month.record(nowMs) };
  }
}

/** The usage of the current period; emptied when the next one begins. */
class CountedPeriod {
  readonly #period: UsagePeriod;
  readonly #clients = new BoundedMap<string, ClientUsage>(maxClients);
  #key: string;
  #nextMs: number;

  constructor(period: UsagePeriod, nowMs: number) {
    this.#period = period;
    this.#key = keyOf(period, nowMs);
    this.#nextMs = nextPeriodMs(period, nowMs);
  }

  turn(nowMs: number): void {
    if (nowMs < this.#nextMs) return;
    this.#clients.clear();
    this.#key = keyOf(this.#period, nowMs);
    this.#nextMs = nextPeriodMs(this.#period, nowMs);
  }

  of(client: string): ClientUsage {
    return this.#clients.get(client) ?? nothing;
  }

  add(client: string, used: Partial<ClientUsage>, nowMs: number): void {
    this.turn(nowMs);
    this.#clients.set(client, sumOf(this.of(client), used));
  }

  record(nowMs: number): PeriodUsage {
    this.turn(nowMs);
    return { key: this.#key, clients: Object.fromEntries(this.#clients) };
  }

  resume({ key, clients }: PeriodUsage, nowMs: number): void {
    this.turn(nowMs);
    if (key === this.#key) for (const [client, used] of Object.entries(clients)) this.add(client, used, nowMs);
  }
}

const sumOf = (one: ClientUsage, other: Partial<ClientUsage>): ClientUsage => ({
  requests: one.requests + (other.requests ?? 0),
  input: one.input + (other.input ?? 0),
  output: one.output + (other.output ?? 0),
  cost: one.cost + (other.cost ?? 0),
  unpriced: one.unpriced + (other.unpriced ?? 0),
});

const spendingOf = ({ input, output, cost }: ClientUsage): Spending => ({ tokens: input + output, cost });

/** The names of the counters of a client's budget in the period `key`, which comes first. */
const countersOf = (client: string, key: string) => ({
  tokens: `${key} ${client} tokens`,
  cost: `${key} ${client} cost`,
});
