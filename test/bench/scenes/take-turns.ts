import { setTimeout as wait } from 'node:timers/promises';
import type { LoadResult, Rhythm } from '../load/job.ts';
import { type Allocations, takeAllocations } from '../measure/allocations.ts';
import { forgetPeak, readMemory } from '../measure/memory.ts';
import { cpuBetween, readCpu } from '../measure/process-tree.ts';
import type { UpstreamPlan } from '../upstream/plan.ts';
import type { Participant } from './participants.ts';
import type { Stage } from './scene.ts';

/** What one participant did in one round. */
export interface Round {
  readonly cpuMs: number;
  readonly peakMb: number;
  /** `undefined` where the probe isn't. */
  readonly allocated: Allocations | undefined;
  readonly result: LoadResult;
}

/** What makes the compiler do its work, as quickly as may be. */
export interface WarmUp {
  readonly rhythm: Rhythm;
  /** Answers that come sooner than those that are measured; without it, the same. */
  readonly plan?: UpstreamPlan;
  /** Bodies of another size than those that are measured. */
  readonly bodyBytes?: number;
}

/** How the rounds go. */
interface Turns {
  readonly plan: UpstreamPlan;
  readonly bodyBytes: number;
  readonly rhythm: Rhythm;
  /** Before the first round, one after the other, for each; what they do isn't counted. */
  readonly warmUp: readonly WarmUp[];
  readonly rounds: number;
}

/** What is still written after the last answer, logs above all, belongs to the round too. */
const settleMs = 60;

/**
 * Lets the participants do the same work in turns: A B C A B C …, so that whatever the machine does meanwhile meets all of them.
 * One that answers wrongly while warming up, or lets its requests' last turn go missing, does no rounds: its answer here is
 * what was wrong.
 */
export const takeTurns = async (
  { load, upstream, progress }: Stage,
  participants: readonly Participant[],
  { plan, bodyBytes, rhythm, warmUp, rounds }: Turns,
): Promise<ReadonlyMap<string, readonly Round[] | string>> => {
  const done = new Map<string, Round[] | string>();
  const jobFor = (answers: UpstreamPlan) => ({ bodyBytes, streamed: answers.streamed, text: answers });
  for (const { rhythm, plan: answers = plan, bodyBytes: bytes = bodyBytes } of warmUp) {
    await upstream.plan(answers);
    for (const { name, place } of participants) {
      if (typeof done.get(name) === 'string') continue;
      progress(`${name}: warming up`);
      const kept = await upstream.keepNext();
      const { bad, reasons } = await load.run({ ...jobFor(answers), bodyBytes: bytes, place, rhythm });
      const arrived = (await kept()).includes('New turn 0: ');
      done.set(name, bad > 0 ? `${bad} wrong: ${reasons[0]}` : arrived ? [] : 'the request’s last turn got lost');
    }
  }
  await upstream.plan(plan);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, place, pid } of participants) {
      const before = done.get(name);
      // Going straight to the upstream only shows what the load generator can do: once is enough.
      if (typeof before !== 'object' || (pid === undefined && round > 0)) continue;
      progress(`${name}: round ${round + 1} of ${rounds}`);
      before.push(await measure(pid, () => load.run({ ...jobFor(plan), place, rhythm })));
    }
  }
  return done;
};

const measure = async (pid: number | undefined, run: () => Promise<LoadResult>): Promise<Round> => {
  if (pid === undefined) return { cpuMs: 0, peakMb: 0, allocated: undefined, result: await run() };
  forgetPeak(pid);
  await takeAllocations(pid);
  const before = readCpu(pid);
  const result = await run();
  await wait(settleMs);
  const cpuMs = cpuBetween(before, readCpu(pid));
  const { peakMb } = readMemory(pid);
  return { cpuMs, peakMb, allocated: await takeAllocations(pid), result };
};
