import { startHelper } from '../rpc.ts';
import type { RunningTarget } from '../targets/target.ts';

/** Starts a bare forwarder, with the hand-written conversion of this pair when one is named, that computes for `spinUs` in each request; it ends with this process. */
export const startFloor = async (
  upstreamUrl: string,
  pair = '',
  spinUs = 0,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningTarget> => {
  const helper = startHelper<object, { readonly port: number }>(
    'bench-floor',
    [upstreamUrl, pair, String(spinUs)],
    env,
  );
  const { port } = await helper.ask({});
  return { pid: helper.pid, baseUrl: `http://127.0.0.1:${port}`, stop: async () => helper.stop() };
};
