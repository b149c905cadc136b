import type { FeatureName } from '../../service/features.ts';
import { start } from '../../service/server.ts';
import { ownPeer, PeerExchange } from '../../service/workers/peers.ts';

/*
 * The gateway in one process, as the command runs it, without the features that the arguments name: they watch no requests.
 */
const names: readonly FeatureName[] = ['metrics', 'requestLog', 'history'];
const withoutFeatures = process.argv.slice(2).map((arg) => {
  const name = names.find((each) => each === arg);
  if (!name) throw new Error(`${arg} is no feature that can be left out.`);
  return name;
});
const { JUNCTOR_HOME: home = '' } = process.env;

const service = await start({
  env: process.env,
  home,
  report: (line) => void process.stderr.write(`${line}\n`),
  withoutFeatures,
  sharing: { taken: undefined },
  supervision: {
    workers: () => ({ pid: process.pid, startedAtMs: Date.now(), restarts: 0, workers: [] }),
    restart: () => Promise.reject(new Error('This process has no supervisor.')),
    peers: ownPeer(new PeerExchange({ journal: undefined, fleet: undefined })),
  },
});
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
process.stdout.write(`${service.baseUrl}\n`);
