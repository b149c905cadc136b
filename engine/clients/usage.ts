/** The periods that usage is counted for, in UTC. */
type UsagePeriod = 'day' | 'month';

/** What a client used. */
export interface ClientUsage {
  readonly requests: number;
  /** Tokens of prompts, cached ones included. */
  readonly input: number;
  /** Tokens of answers, reasoning included. */
  readonly output: number;
}

const nothing: ClientUsage = { requests: 0, input: 0, output: 0 };

/** The usage of one period by client; `key` is `2026-01-31` or `2026-01`. */
interface PeriodUsage {
  readonly key: string;
  readonly clients: Readonly<Record<string, ClientUsage>>;
}

/** The usage that one process has counted. */
type UsageRecord = Readonly<Record<UsagePeriod, PeriodUsage>>;

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

/** Counts what clients use per day and month. */
export class UsageLedger {
  readonly #nowMs: () => number;
  readonly #own: Readonly<Record<UsagePeriod, CountedPeriod>>;
  /** What other processes have counted, by period. */
  #others: readonly UsageRecord[] = [];
  #changes = 0;
  /** Tokens of prompts in progress, which will be used. */
  readonly #pending = new Map<string, number>();

  /** `nowMs`: a clock that never goes back, in milliseconds since 1970. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#own = { day: new CountedPeriod('day', nowMs()), month: new CountedPeriod('month', nowMs()) };
  }

  /** Counts the changes of what this process has counted. */
  get changes(): number {
    return this.#changes;
  }

  /** Adds to what a client has used. */
  add(client: string, used: Partial<ClientUsage>): void {
    const nowMs = this.#nowMs();
    this.#own.day.add(client, used, nowMs);
    this.#own.month.add(client, used, nowMs);
    this.#changes += 1;
  }

  /** Tokens of a client's prompts in progress. */
  pending(client: string): number {
    return this.#pending.get(client) ?? 0;
  }

  /** Changes the tokens of a client's prompts in progress. */
  addPending(client: string, tokens: number): void {
    const pending = this.pending(client) + tokens;
    if (pending > 0) this.#pending.set(client, pending);
    else this.#pending.delete(client);
  }

  /** What a client has used in the period, in all processes as far as is known here. */
  used(client: string, period: UsagePeriod): ClientUsage {
    const own = this.#own[period];
    own.turn(this.#nowMs());
    return this.#others.reduce((sum, { [period]: other }) => {
      const theirs = other.key === own.key && Object.hasOwn(other.clients, client) ? other.clients[client] : undefined;
      return theirs ? sumOf(sum, theirs) : sum;
    }, own.of(client));
  }

  /** When the period begins anew: a time, and milliseconds from now. */
  next(period: UsagePeriod): { readonly atMs: number; readonly inMs: number } {
    const nowMs = this.#nowMs();
    const atMs = nextPeriodMs(period, nowMs);
    return { atMs, inMs: atMs - nowMs };
  }

  /** What this process has counted. */
  get record(): UsageRecord {
    const nowMs = this.#nowMs();
    return { day: this.#own.day.record(nowMs), month: this.#own.month.record(nowMs) };
  }

  /** Goes on from what an earlier process has counted. */
  resume({ day, month }: UsageRecord): void {
    this.#own.day.resume(day, this.#nowMs());
    this.#own.month.resume(month, this.#nowMs());
  }

  /** Replaces what other processes have counted. */
  learn(others: readonly UsageRecord[]): void {
    this.#others = others;
  }
}

/** The usage of the current period; emptied when the next one begins. */
class CountedPeriod {
  readonly #period: UsagePeriod;
  readonly #clients = new Map<string, ClientUsage>();
  #key: string;
  #nextMs: number;

  constructor(period: UsagePeriod, nowMs: number) {
    this.#period = period;
    this.#key = keyOf(period, nowMs);
    this.#nextMs = nextPeriodMs(period, nowMs);
  }

  get key(): string {
    return this.#key;
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
    const [oldest] = this.#clients.keys();
    if (this.#clients.size >= maxClients && !this.#clients.has(client) && oldest !== undefined)
      this.#clients.delete(oldest);
    this.#clients.set(client, sumOf(this.of(client), { ...nothing, ...used }));
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

const sumOf = (one: ClientUsage, other: ClientUsage): ClientUsage => ({
  requests: one.requests + other.requests,
  input: one.input + other.input,
  output: one.output + other.output,
});
