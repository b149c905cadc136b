import type { UsageReport, UsageStep } from '../../api/usage.ts';

type Step = Exclude<UsageStep, 'none'>;

/** Requests and cost of each step; 0 where nothing was asked for. */
interface UsageOverTime {
  /** Milliseconds since 1970: the start of each step, in UTC. */
  readonly times: readonly number[];
  readonly requests: readonly number[];
  /** Billionths of a USD; null where none of a step's cost is known. */
  readonly cost: readonly (number | null)[];
}

const startOf = (step: Step, ms: number): number => {
  const at = new Date(ms);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (step === 'month') return Date.UTC(year, month);
  return step === 'day' ? Date.UTC(year, month, day) : Date.UTC(year, month, day, at.getUTCHours());
};

const next = (step: Step, ms: number): number => {
  const at = new Date(ms);
  if (step === 'month') return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
  return ms + (step === 'day' ? 24 : 1) * 3_600_000;
};

/** Sums up a report's rows by their step. */
export const usageOverTime = ({ from, to, rows }: UsageReport, step: Step): UsageOverTime => {
  const sums = new Map<number, { requests: number; cost: number; unpriced: number }>();
  for (let ms = startOf(step, Date.parse(from)); ms < Date.parse(to); ms = next(step, ms))
    sums.set(ms, { requests: 0, cost: 0, unpriced: 0 });
  for (const row of rows) {
    const sum = sums.get(Date.parse(row.from ?? ''));
    if (!sum) continue;
    sum.requests += row.requests;
    sum.cost += row.cost;
    sum.unpriced += row.unpriced;
  }
  const steps = [...sums.values()];
  return {
    times: [...sums.keys()],
    requests: steps.map(({ requests }) => requests),
    cost: steps.map(({ cost, unpriced }) => (cost === 0 && unpriced > 0 ? null : cost)),
  };
};
