import { startHelper } from '../rpc.ts';
import type { RunningTarget } from '../targets/target.ts';

/** Starts a bare forwarder, with the hand-written conversion of this pair when one is named; it ends with this process. */
export const startFloor = async (
  upstreamUrl: string,
  pair = '',
  env: Readonly<Record<string, string>> = {},
): Promise<RunningTarget> => {
  const helper = startHelper<object, { readonly port: number }>('bench-floor', [upstreamUrl, pair], env);
  const { port } = await helper.ask({});
  return { pid: helper.pid, baseUrl: `http://127.0.0.1:${port}`, stop: async () => helper.stop() };
};
