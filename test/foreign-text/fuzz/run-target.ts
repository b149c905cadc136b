import fc from 'fast-check';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';
import { slowMs, type Target } from './targets.ts';

/** How a target is run. */
interface FuzzRun {
  readonly seed: number;
  readonly cases: number;
  /** Called before each case. */
  readonly each?: () => void;
}

/** How it went. */
interface FuzzResult {
  /** What failed, with the seed and the smallest case found; absent: nothing. */
  readonly failure: string | undefined;
  readonly slowestMs: number;
}

/** Tries a target's law on so many cases. The same seed brings the same cases. */
export const runTarget = ({ name, law }: Target, { seed, cases, each }: FuzzRun): FuzzResult => {
  let slowestMs = 0;
  const property = law((run) => {
    each?.();
    let tookMs = msOf(run);
    // The first run of all compiles code, which isn't the case's.
    if (tookMs > slowMs) tookMs = Math.min(tookMs, msOf(run));
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > slowMs) throw new Error(`took ${Math.round(tookMs)} ms`);
  });
  const details = fc.check(property, { seed, numRuns: cases });
  const failure = details.failed
    ? `${name}, seed ${seed}, path ${details.counterexamplePath}: ${wordsOf(details.errorInstance)}\n${fc.stringify(details.counterexample)}`
    : undefined;
  return { failure, slowestMs };
};

/** Processor time in milliseconds. */
const msOf = (run: () => void): number => {
  const beforeMs = cpuTimeMs();
  run();
  return cpuTimeMs() - beforeMs;
};

const wordsOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
