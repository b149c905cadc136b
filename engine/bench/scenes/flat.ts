import type { LoadJob } from '../load/job.ts';
import { figureOf, ratioOf } from '../measure/figure.ts';
import { readMemory } from '../measure/memory.ts';
import { cpuBetween, readCpu } from '../measure/process-tree.ts';
import { streamedAnswer, type UpstreamPlan, wholeAnswer } from '../upstream/plan.ts';
import { type Pair, pairs } from '../wire.ts';
import { type Participant, startParticipants, stopAll } from './participants.ts';
import type { Row, Scene, Stage } from './scene.ts';

/** The same thing, once small and once ten times as large; cost per unit must be the same. */
interface Growth {
  readonly scene: string;
  readonly small: string;
  readonly unit: 'delta' | 'request';
  readonly plans: readonly [UpstreamPlan, UpstreamPlan];
  readonly bodyBytes: readonly [number, number];
  /** Requests of a round. */
  readonly requests: readonly [number, number];
  /** Rounds before those that count: the compiler's. */
  readonly warmUpRounds: number;
}

const growths: readonly Growth[] = [
  {
    scene: 'flat-deltas',
    small: '2,000 deltas',
    unit: 'delta',
    plans: [streamedAnswer({ deltas: 2_000, perWrite: 10 }), streamedAnswer({ deltas: 20_000, perWrite: 10 })],
    bodyBytes: [1_400, 1_400],
    requests: [40, 4],
    warmUpRounds: 2,
  },
  {
    scene: 'flat-bodies',
    small: 'a tenth of the body',
    unit: 'request',
    plans: [wholeAnswer, wholeAnswer],
    bodyBytes: [100_000, 1_000_000],
    requests: [150, 15],
    warmUpRounds: 10,
  },
];

/** That nothing grows with use: cost by length of stream and by size of body, memory over many requests. */
export const flatScene: Scene = {
  name: 'flat',
  needsProcessorTime: true,
  groups: ['flat-deltas', 'flat-bodies', 'flat-memory'],
  about: 'cost per delta of a long and a short stream, per byte of a large and a small body; memory over many requests',
  seconds: ({ targets, quick }) => 3 + targets.length * (quick ? 30 : 60),
  async run(stage) {
    const [pair] = stage.settings.pairs.length === 1 ? stage.settings.pairs : pairs;
    if (!pair) return [];
    stage.progress('flat: starting');
    const { running } = await startParticipants(stage, pair, { floors: [] });
    try {
      const rows: Row[] = [];
      for (const participant of running) {
        for (const growth of growths) rows.push(await grow(stage, pair, participant, growth));
        rows.push(await fill(stage, pair, participant));
      }
      return rows;
    } finally {
      await stopAll(running);
    }
  },
};

const runOn = (
  stage: Stage,
  { place }: Participant,
  plan: UpstreamPlan,
  bodyBytes: number,
  requests: number,
  clients = 1,
) => {
  const rhythm = { type: 'closed', clients, forMs: 30_000, most: requests } as const;
  const job: LoadJob = { place, rhythm, bodyBytes, streamed: plan.streamed, text: plan };
  return stage.load.run(job);
};

const grow = async (stage: Stage, pair: Pair, participant: Participant, growth: Growth): Promise<Row> => {
  const { scene, small, unit, plans, bodyBytes, requests, warmUpRounds } = growth;
  const root = participant.pid ?? 0;
  const costs: [number[], number[]] = [[], []];
  let failed: string | undefined;
  const rounds = stage.settings.quick ? 3 : 7;
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    stage.progress(`${scene}: ${participant.name}, round ${Math.max(0, round) + 1} of ${rounds}`);
    for (const size of [0, 1] as const) {
      await stage.upstream.plan(plans[size]);
      const before = readCpu(root);
      const { good, bad, reasons } = await runOn(stage, participant, plans[size], bodyBytes[size], requests[size]);
      const cpuUs = cpuBetween(before, readCpu(root)) * 1e3;
      if (bad > 0) failed ??= reasons[0];
      if (round >= 0) costs[size].push(cpuUs / good / (unit === 'delta' ? plans[size].deltas : bodyBytes[size]));
    }
  }
  const ratio = ratioOf(costs[1], costs[0]);
  const cpuUs = figureOf(costs[1].map((us) => us * (unit === 'delta' ? 1 : bodyBytes[1])));
  return {
    scene,
    pair: pair.name,
    participant: participant.name,
    unit,
    ...(cpuUs && { cpuUs }),
    ...(ratio && { ratio: { to: small, ...ratio } }),
    ...(failed !== undefined && { failed }),
  };
};

/** Requests between two looks at the memory. */
const manyRequests = 3_000;

const fill = async (stage: Stage, pair: Pair, participant: Participant): Promise<Row> => {
  await stage.upstream.plan(wholeAnswer);
  const root = participant.pid ?? 0;
  const looks = stage.settings.quick ? 3 : 6;
  const seen: number[] = [];
  for (let look = 0; look < looks; look += 1) {
    stage.progress(`flat-memory: ${participant.name}, ${look + 1} of ${looks}`);
    await runOn(stage, participant, wholeAnswer, 1_400, manyRequests, 32);
    seen.push(readMemory(root).rssMb);
  }
  const half = Math.floor(looks / 2);
  const early = Math.max(...seen.slice(0, half));
  const late = Math.max(...seen.slice(half));
  return {
    scene: 'flat-memory',
    pair: pair.name,
    participant: participant.name,
    unit: 'process',
    peakMb: late,
    ratio: { to: 'the first half', median: late / early, low: late / early, high: late / early },
    note: `MB after each ${manyRequests} requests: ${seen.map((mb) => mb.toFixed(0)).join(', ')}`,
  };
};
