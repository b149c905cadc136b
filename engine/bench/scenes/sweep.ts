import { wholeAnswer } from '../upstream/plan.ts';
import { floorOf, type Participant, startParticipants, stopAll } from './participants.ts';
import type { Row, Scene, Stage } from './scene.ts';
import { wordWrong } from './take-turns.ts';

/** One rate that was tried. */
interface Step {
  readonly asked: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly holds: boolean;
}

const firstRate = 200;

/** More than any gateway here takes. */
const mostRate = 102_400;

/** Steps between the last rate that holds and the first that doesn't. */
const closer = 3;

/** A rate holds if so much of it is answered in its time, and answers take at most so many times as long as at the first rate. */
const holds = { share: 0.97, times: 10, leastMs: 20 } as const;

const stepMs = ({ quick, roundMs }: Stage['settings']): number => roundMs ?? (quick ? 500 : 2_000);

/** Rising rates of requests, whether earlier ones are answered or not, until answers come later and later: the knee. */
export const sweepScene: Scene = {
  name: 'sweep',
  groups: [],
  about: 'rising rates of 1.4 KB requests, until the gateway no longer keeps up: the knee',
  seconds: (settings) => 3 + (settings.targets.length + 1) * (14 * ((stepMs(settings) * 1.3) / 1e3) + 2),
  async run(stage) {
    const [pair] = stage.settings.pairs;
    if (!pair) return [];
    stage.progress('sweep: starting');
    const { running, refused } = await startParticipants(stage, pair, { floors: [floorOf(pair)] });
    try {
      await stage.upstream.plan(wholeAnswer);
      const rows: Row[] = [];
      for (const [participant, failed] of refused)
        rows.push({ scene: 'sweep', pair: pair.name, participant, unit: 'request', failed });
      for (const participant of running) rows.push(...(await climb(stage, pair.name, participant)));
      return rows;
    } finally {
      await stopAll(running);
    }
  },
};

const climb = async (stage: Stage, pair: string, participant: Participant): Promise<readonly Row[]> => {
  const row = { scene: 'sweep', pair, participant: participant.name, unit: 'request' } as const;
  const run = (rhythm: Parameters<Stage['load']['run']>[0]['rhythm']) =>
    stage.load.run({ place: participant.place, rhythm, bodyBytes: 1_400, streamed: false, text: wholeAnswer });
  stage.progress(`sweep: ${participant.name}, warming up`);
  await run({ type: 'closed', clients: 16, forMs: stepMs(stage.settings), most: 5_000 });
  const steps: Step[] = [];
  let failed: string | undefined;
  const climbTo = async (asked: number): Promise<boolean> => {
    stage.progress(`sweep: ${participant.name}, ${asked} requests a second`);
    const result = await run({ type: 'open', perSecond: asked, forMs: stepMs(stage.settings) });
    if (result.bad > 0) failed ??= wordWrong(result);
    const perSecond = result.good / result.seconds;
    const limitMs = Math.max(holds.leastMs, (steps[0]?.p99 ?? 0) * holds.times);
    const { p50, p99 } = result.latency;
    const step = { asked, perSecond, p50, p99, holds: perSecond >= asked * holds.share && p99 <= limitMs };
    steps.push(step);
    return step.holds;
  };
  let low = 0;
  let high = firstRate;
  while (high <= mostRate && failed === undefined && (await climbTo(high))) {
    low = high;
    high *= 2;
  }
  for (let time = 0; time < closer && low > 0 && high <= mostRate && failed === undefined; time += 1) {
    const middle = Math.round((low + high) / 2);
    if (await climbTo(middle)) low = middle;
    else high = middle;
  }
  const knee = low === 0 ? `below ${firstRate} requests a second` : `${low.toLocaleString('en')} requests a second`;
  const sorted = [...steps].sort((one, other) => one.asked - other.asked);
  return [
    ...sorted.map(({ asked, perSecond, p50, p99 }): Row => ({ ...row, asked, perSecond, latencyMs: { p50, p99 } })),
    { ...row, note: `knee: ${knee}`, ...(failed !== undefined && { failed }) },
  ];
};
