import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { start } from '../../service/server.ts';
import { ownPeer, PeerExchange } from '../../service/workers/peers.ts';
import { Allocated } from '../measure/allocation-probe.js';
import { answerQuestions } from '../rpc.ts';
import { configOf } from '../targets/junctor.ts';
import { SimulatedServer } from './simulated-server.ts';
import { SimulatedUpstream } from './simulated-upstream.ts';
import type { OwnAnswer, OwnQuestion, OwnSetup } from './start-own.ts';
import { Traffic } from './traffic.ts';

/*
 * The whole service in this process, from the guard to the files of log and history, between simulated sockets: what is measured is
 * its own JavaScript, without HTTP libraries and kernel.
 */
const setup: OwnSetup = JSON.parse(process.argv[2] ?? '');
const home = await mkdtemp(join(tmpdir(), 'junctor-bench-'));

/** What the service's idle connections are connected to. */
const listener = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
await new Promise((resolve) => listener.once('listening', resolve));
const address = listener.address();
const port = typeof address === 'object' && address ? address.port : 0;

const key = 'bench-key';
const config = configOf(setup.upstream, `http://127.0.0.1:${port}`, 1, { ...setup.additions, APIKEY: key });
await writeFile(join(home, 'config.json'), JSON.stringify(config));
const server = new SimulatedServer();
const upstream = new SimulatedUpstream();
const service = await start({
  env: { ...process.env, JUNCTOR_HOME: home },
  home,
  report: () => {},
  transformerFolders: setup.additions.folders ?? [],
  withoutFeatures: setup.without ?? [],
  server: server.chosen,
  openClient: upstream.openClient,
  sharing: { taken: undefined },
  supervision: {
    workers: () => ({ pid: process.pid, startedAtMs: Date.now(), restarts: 0, workers: [] }),
    restart: () => Promise.reject(new Error('This process has no supervisor.')),
    peers: ownPeer(new PeerExchange({ journal: undefined, fleet: undefined })),
  },
});

const traffic = new Traffic(setup, key, server, upstream);

/** Processor time of this thread so far. The kernel counts up to the thread's last sleep. */
const mainUs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0] ?? 0) / 1e3;

const allUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const asleepMs = 2;

answerQuestions<OwnQuestion, OwnAnswer>(async (question) => {
  if (question.type === 'stop') {
    await service.stop();
    listener.close();
    await rm(home, { recursive: true, force: true });
    return { units: 0, mainUs: 0, allUs: 0, allocated: { bytes: 0, scavenges: 0, marks: 0 }, check: undefined };
  }
  await wait(asleepMs);
  const before = { main: mainUs(), all: allUs() };
  const allocations = new Allocated();
  const units = await traffic.run(question);
  const allocated = allocations.end();
  await wait(asleepMs);
  return {
    units,
    mainUs: mainUs() - before.main,
    allUs: allUs() - before.all,
    allocated,
    check: traffic.check(),
  };
});
