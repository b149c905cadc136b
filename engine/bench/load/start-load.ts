import { startHelper } from '../rpc.ts';
import type { LoadJob, LoadResult } from './job.ts';

/** The load generator, in a process of its own. */
export interface Load {
  /** `longestMs`: after which the job is given up; absent: two minutes. */
  readonly run: (job: LoadJob, longestMs?: number) => Promise<LoadResult>;
  readonly pid: number;
  readonly stop: () => void;
}

/** Starts it; it ends with this process. */
export const startLoad = (): Load => {
  const helper = startHelper<LoadJob, LoadResult>('bench-load');
  return { pid: helper.pid, run: (job, longestMs = 120_000) => helper.ask(job, longestMs), stop: helper.stop };
};
