import { startHelper } from '../rpc.ts';
import type { LoadJob, LoadResult } from './job.ts';

/** The load generator, in a process of its own. */
export interface Load {
  readonly run: (job: LoadJob) => Promise<LoadResult>;
  readonly stop: () => void;
}

/** Starts it; it ends with this process. A job that takes longer than two minutes is given up. */
export const startLoad = (): Load => {
  const helper = startHelper<LoadJob, LoadResult>(new URL('./serve.ts', import.meta.url));
  return { run: (job) => helper.ask(job, 120_000), stop: helper.stop };
};
