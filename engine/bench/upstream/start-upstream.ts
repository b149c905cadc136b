import { type Helper, startHelper } from '../rpc.ts';
import type { UpstreamPlan } from './plan.ts';

/** What the simulated upstream is told and asked. */
export type UpstreamQuestion =
  | { readonly type: 'place' }
  | { readonly type: 'plan'; readonly plan: UpstreamPlan }
  /** The body of the next request will be kept. */
  | { readonly type: 'keep-next' }
  | { readonly type: 'kept' };

export interface UpstreamAnswer {
  readonly port: number;
  /** The body that was kept; empty when none came. */
  readonly kept: string;
}

/** The simulated upstream, in a process of its own. */
export interface Upstream extends Pick<Helper<UpstreamQuestion, UpstreamAnswer>, 'pid' | 'stop'> {
  /** `http://127.0.0.1:41234`. */
  readonly baseUrl: string;
  readonly plan: (plan: UpstreamPlan) => Promise<void>;
  /** Keeps the next request's body; gives back how to read it. */
  readonly keepNext: () => Promise<() => Promise<string>>;
}

/** Starts it on a free port; it ends with this process. */
export const startUpstream = async (): Promise<Upstream> => {
  const helper = startHelper<UpstreamQuestion, UpstreamAnswer>('bench-upstream');
  const { port } = await helper.ask({ type: 'place' });
  return {
    pid: helper.pid,
    stop: helper.stop,
    baseUrl: `http://127.0.0.1:${port}`,
    plan: async (plan) => void (await helper.ask({ type: 'plan', plan })),
    async keepNext() {
      await helper.ask({ type: 'keep-next' });
      return async () => (await helper.ask({ type: 'kept' })).kept;
    },
  };
};
