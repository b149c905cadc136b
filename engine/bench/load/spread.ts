import type { Spread } from './job.ts';

/** Median, 99th percentile and largest of some times; zeros where there are none. */
export const spreadOf = (times: readonly number[]): Spread => {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
};
