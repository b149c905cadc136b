import type { ChartStep, UsageReport } from '../../api/usage.ts';

/** Requests, cost and times of each step; 0 where nothing was asked for. */
interface UsageOverTime {
  /** Milliseconds since 1970: the start of each step, in UTC. */
  readonly times: readonly number[];
  readonly requests: readonly number[];
  /** Billionths of a USD; null where none of a step's cost is known. */
  readonly cost: readonly (number | null)[];
  /** Percentiles of the time to the first byte, in milliseconds; null where no request had one. */
  readonly firstByte: readonly (NonNullable<UsageReport['total']['firstByteMs']> | null)[];
}

/** The length of a step, in milliseconds. */
const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const startOf = (step: ChartStep, ms: number): number => {
  if (step !== 'month') return Math.floor(ms / stepMs[step]) * stepMs[step];
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
};

const next = (step: ChartStep, ms: number): number => {
  if (step !== 'month') return ms + stepMs[step];
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
};

/** The rows of a report of all requests, by their step. */
export const usageOverTime = ({ from, to, rows }: UsageReport, step: ChartStep): UsageOverTime => {
  const byStart = new Map(rows.map((row) => [Date.parse(row.from ?? ''), row]));
  const times: number[] = [];
  for (let ms = startOf(step, Date.parse(from)); ms < Date.parse(to); ms = next(step, ms)) times.push(ms);
  const steps = times.map((ms) => byStart.get(ms));
  return {
    times,
    requests: steps.map((row) => row?.requests ?? 0),
    cost: steps.map((row) => (row?.cost === 0 && row.unpriced > 0 ? null : (row?.cost ?? 0))),
    firstByte: steps.map((row) => row?.firstByteMs ?? null),
  };
};
