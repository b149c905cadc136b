import { cpus } from 'node:os';
import { figureOf, median } from '../measure/figure.ts';
import { cpuBetween, readCpu, readOwnCpuMs, treeOf } from '../measure/process-tree.ts';
import { wholeAnswer } from '../upstream/plan.ts';
import { pairs } from '../wire.ts';
import { type Participant, startParticipants, stopAll } from './participants.ts';
import type { Row, Scene, Stage } from './scene.ts';

interface Measured {
  readonly cpuUs: number;
  readonly perSecond: number;
  /** Requests a second of its busiest process. */
  readonly capacity: number;
}

/**
 * One worker beside two. Load generator and upstream run on the same cores, so that wall time alone says little on a small
 * machine: the capacity is what the gateway could do if its busiest process had a core to itself.
 */
export const workersScene: Scene = {
  name: 'workers',
  needsProcessorTime: true,
  groups: [],
  needsCores: 4,
  about: '1.4 KB requests of 64 clients, with one worker and with two',
  seconds: ({ targets, quick }) => 3 + targets.length * (quick ? 8 : 20),
  async run(stage) {
    const [pair] = stage.settings.pairs.length === 1 ? stage.settings.pairs : pairs;
    if (!pair) return [];
    await stage.upstream.plan(wholeAnswer);
    stage.progress('workers: starting');
    const [one, two] = await Promise.all(
      [1, 2].map((workers) => startParticipants(stage, pair, { floors: [], workers })),
    );
    const all = [...(one?.running ?? []), ...(two?.running ?? [])];
    try {
      const found = new Map<Participant, Measured[]>(all.map((each) => [each, []]));
      for (const each of all) await run(stage, each, stage.settings.quick ? 700 : 1_500, 9_000);
      for (let round = 0; round < (stage.settings.quick ? 2 : 5); round += 1) {
        for (const [each, list] of found) list.push(await measure(stage, each));
      }
      return [...found].map(([each, list]): Row => {
        const workers = two?.running.includes(each) ? 2 : 1;
        const single = found.get(one?.running.find(({ name }) => name === each.name) ?? each) ?? list;
        const cpuUs = figureOf(list.map((measured) => measured.cpuUs));
        const scaled = list.map(({ capacity }, round) => capacity / (single[round]?.capacity ?? capacity));
        const walls = list.map(({ perSecond }, round) => perSecond / (single[round]?.perSecond ?? perSecond));
        return {
          scene: 'workers',
          pair: pair.name,
          participant: `${each.name} ×${workers}`,
          unit: 'request',
          ...(cpuUs && { cpuUs }),
          perSecond: median(list.map(({ perSecond }) => perSecond)),
          capacity: median(list.map(({ capacity }) => capacity)),
          ...(workers === 2 && {
            scaling: median(scaled),
            note:
              `capacity × ${median(scaled).toFixed(2)}, requests a second of wall time × ${median(walls).toFixed(2)}; ` +
              `load generator and upstream ran on the same ${cpus().length} cores`,
          }),
        };
      });
    } finally {
      await stopAll(all);
    }
  },
};

const run = (stage: Stage, { name, place }: Participant, forMs: number, least: number) => {
  stage.progress(`workers: ${name}`);
  return stage.load.run({
    place,
    rhythm: { type: 'closed', clients: 64, forMs, least },
    bodyBytes: 1_400,
    streamed: false,
    text: wholeAnswer,
  });
};

const measure = async (stage: Stage, participant: Participant): Promise<Measured> => {
  const root = participant.pid ?? 0;
  const tree = treeOf(root);
  const before = readCpu(root);
  const eachBefore = tree.map(readOwnCpuMs);
  const { good, seconds } = await run(stage, participant, 800, 1);
  const busiestMs = Math.max(...tree.map((pid, at) => readOwnCpuMs(pid) - (eachBefore[at] ?? 0)));
  return {
    cpuUs: (cpuBetween(before, readCpu(root)) * 1e3) / good,
    perSecond: good / seconds,
    capacity: (good * 1e3) / busiestMs,
  };
};
