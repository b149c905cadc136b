import type { ChartStep, UsageReport } from '../../api/usage.ts';

/** The starts of a report's steps in local time, in milliseconds since 1970: also of those in which nothing was asked for. */
export const usageSteps = ({ from, to }: Pick<UsageReport, 'from' | 'to'>, step: ChartStep): readonly number[] => {
  const end = Date.parse(to);
  const starts: number[] = [];
  for (let ms = startOf(step, Date.parse(from)); ms < end; ms = next(step, ms)) starts.push(ms);
  return starts;
};

/** How far local time is ahead of UTC now, in minutes: days and months of a report begin by it. */
export const offsetMinutes = (): number => -new Date().getTimezoneOffset();

const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const startOf = (step: ChartStep, ms: number): number => {
  const ahead = step === 'day' || step === 'month' ? offsetMinutes() * 60_000 : 0;
  const local = new Date(ms + ahead);
  const start =
    step === 'month'
      ? Date.UTC(local.getUTCFullYear(), local.getUTCMonth())
      : Math.floor(local.getTime() / stepMs[step]) * stepMs[step];
  return start - ahead;
};

// A day longer than any month is within the next one.
const next = (step: ChartStep, ms: number): number =>
  step === 'month' ? startOf(step, ms + 32 * stepMs.day) : ms + stepMs[step];
