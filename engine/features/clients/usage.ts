import {
  nothingUsed,
  periodAt,
  sumUse,
  type ToldUse,
  type Used,
  type UsePeriod,
  UseSums,
} from '../../store/client-use.ts';

/** What budgets are in. */
interface Spending {
  readonly tokens: number;
  /** In nano-dollars. */
  readonly cost: number;
}

/** Counters that several machines add to. */
interface SharedCounters {
  readonly add: (id: string, by: number) => void;
  readonly total: (id: string) => number;
  /** Waits for the totals of these counters; `undefined`: they are known. */
  readonly whenKnown: (ids: readonly string[]) => Promise<void> | undefined;
  /** `restate` gives all that was added here, for when it is lost. */
  readonly onLoss: (restate: () => Iterable<readonly [id: string, sum: number]>) => void;
}

/** When the period after this time begins, in milliseconds since 1970. */
export const nextPeriodMs = (period: UsePeriod, atMs: number): number => {
  const at = new Date(atMs);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
};

/** What clients use, in all processes as far as this one knows. */
export class UsageLedger {
  readonly #nowMs: () => number;
  /** What the store had last. */
  readonly #kept = new UseSums();
  /** What this process has counted, and the store doesn't have: yet, or since it had to drop requests. */
  readonly #unkept = new UseSums();
  /** Prompts in progress, which will be used. */
  readonly #pending = new Map<string, Spending>();
  readonly #shared: SharedCounters | undefined;
  #restates = false;

  /**
   * `nowMs`: a monotonic clock, in milliseconds since 1970. `shared`: absent on a machine that is alone; `budgets`: the
   * clients with budgets, which machines count together.
   */
  constructor(
    nowMs: () => number,
    shared?: SharedCounters,
    budgets: () => Iterable<readonly [client: string, period: UsePeriod]> = () => [],
  ) {
    this.#nowMs = nowMs;
    this.#shared = shared;
    shared?.onLoss(() => (this.#restates ? this.#counters(budgets()) : []));
  }

  /** Adds to what a client has used; `budget`: the period of its budget. */
  add(client: string, used: Partial<Used>, budget?: UsePeriod): void {
    this.#unkept.addAt(this.#nowMs(), client, used);
    if (!this.#shared || budget === undefined) return;
    const ids = countersOf(client, periodAt(budget, this.#nowMs()));
    const { tokens, cost } = spendingOf({ ...nothingUsed, ...used });
    if (tokens > 0) this.#shared.add(ids.tokens, tokens);
    if (cost > 0) this.#shared.add(ids.cost, cost);
  }

  /** The store has kept requests of this process, or of none. */
  kept({ all, added, restates }: ToldUse): void {
    this.#restates = restates;
    this.#kept.setAll(all);
    this.#unkept.takeAway(added);
    for (const sums of [this.#kept, this.#unkept]) sums.turn(this.#nowMs());
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
  used(client: string, period: UsePeriod): Used {
    const name = periodAt(period, this.#nowMs());
    return sumUse(this.#kept.of(name, client), this.#unkept.of(name, client));
  }

  /** What a client has used of a budget, on all machines as far as is known here. */
  spent(client: string, budget: UsePeriod): Spending {
    const here = spendingOf(this.used(client, budget));
    if (!this.#shared) return here;
    const ids = countersOf(client, periodAt(budget, this.#nowMs()));
    // Machines together have used no less than this one, which may have counted before there were others.
    return {
      tokens: Math.max(here.tokens, this.#shared.total(ids.tokens)),
      cost: Math.max(here.cost, this.#shared.total(ids.cost)),
    };
  }

  /** Waits for what other machines have used of a budget; `undefined`: it is known. */
  whenKnown(client: string, budget: UsePeriod): Promise<void> | undefined {
    return this.#shared?.whenKnown(Object.values(countersOf(client, periodAt(budget, this.#nowMs()))));
  }

  *#counters(budgets: Iterable<readonly [string, UsePeriod]>): Generator<readonly [string, number]> {
    for (const [client, budget] of budgets) {
      const ids = countersOf(client, periodAt(budget, this.#nowMs()));
      const { tokens, cost } = spendingOf(this.used(client, budget));
      if (tokens > 0) yield [ids.tokens, tokens];
      if (cost > 0) yield [ids.cost, cost];
    }
  }

  /** Start of the next period: a time, and milliseconds from now. */
  next(period: UsePeriod): { readonly atMs: number; readonly inMs: number } {
    const nowMs = this.#nowMs();
    const atMs = nextPeriodMs(period, nowMs);
    return { atMs, inMs: atMs - nowMs };
  }
}

const spendingOf = ({ input, output, cost }: Used): Spending => ({ tokens: input + output, cost });

/** The names of the counters of a client's budget in the period `key`, which comes first. */
const countersOf = (client: string, key: string) => ({
  tokens: `${key} ${client} tokens`,
  cost: `${key} ${client} cost`,
});
