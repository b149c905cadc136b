import { setTimeout as wait } from 'node:timers/promises';
import type { LoadJob, LoadResult, Rhythm } from '../load/job.ts';
import { type Allocations, takeAllocations } from '../measure/allocations.ts';
import { isWarm } from '../measure/figure.ts';
import { forgetPeak, readMemory } from '../measure/memory.ts';
import { cpuBetween, readCpu, readMainMs } from '../measure/process-tree.ts';
import type { UpstreamPlan } from '../upstream/plan.ts';
import type { Participant } from './participants.ts';
import type { Row, Stage } from './scene.ts';

/** What one participant did in one round. */
export interface Round {
  /** `undefined`, like the memory, where the system doesn't tell. */
  readonly cpuMs: number | undefined;
  readonly peakMb: number | undefined;
  /** Of `cpuMs`, that of the processes' main threads. */
  readonly mainMs: number | undefined;
  /** `undefined` where the probe isn't. */
  readonly allocated: Allocations | undefined;
  readonly result: LoadResult;
}

/** Requests that are repeated until their cost no longer changes. */
export interface WarmUp {
  /** Of one of its rounds. */
  readonly rhythm: Rhythm;
  /** Requests after which the compiler has done most of its work. */
  readonly least?: number;
  /** It takes all of its time: V8's own threads work on longer than the cost of a round shows. */
  readonly takesAll?: boolean;
  /** Answers that come sooner than those that are measured; absent: the same. */
  readonly plan?: UpstreamPlan;
  /** Bodies of another size than those that are measured. */
  readonly bodyBytes?: number;
}

/** How the rounds go. */
interface Turns {
  readonly plan: UpstreamPlan;
  readonly bodyBytes: number;
  readonly rhythm: Rhythm;
  /** Of the first requests after the start, which are a round of their own. */
  readonly coldRhythm: Rhythm;
  /** Before the first round, one warm-up after the other. */
  readonly warmUp: readonly WarmUp[];
  /** The longest time that one participant spends on each of them, in milliseconds. */
  readonly warmUpMs: number;
  readonly rounds: number;
  /** As in `LoadJob`. */
  readonly check?: 'form';
}

/** What a participant did. */
export interface Turn {
  /** Its first requests after the start; the upstream itself has no such round. */
  readonly cold: Round | undefined;
  readonly rounds: readonly Round[];
  /** The warm-up went on until the code was warm, not until time was up. */
  readonly isWarm: boolean;
}

/** A participant and what it did so far. */
interface Player extends Turn {
  readonly participant: Participant;
  cold: Round | undefined;
  readonly rounds: Round[];
  isWarm: boolean;
  /** What was wrong; then it does nothing more. */
  fault: string | undefined;
}

/** What is still written after the last answer, logs above all, belongs to the round too. */
export const settleMs = 60;

/**
 * Lets the participants do the same work in turns, A B C C B A A B C …, so that whatever the machine does meanwhile meets all of
 * them. All are up and warm before the first round. One that answers wrongly before, or loses the last turn of a request, does no
 * rounds: its answer here is what was wrong.
 */
export const takeTurns = async (
  stage: Stage,
  participants: readonly Participant[],
  turns: Turns,
): Promise<ReadonlyMap<string, Turn | string>> => {
  const players = participants.map(
    (participant): Player => ({ participant, cold: undefined, rounds: [], isWarm: true, fault: undefined }),
  );
  await playCold(stage, players, turns);
  for (const warmUp of turns.warmUp) await playWarmUp(stage, players.filter(isRight), warmUp, turns);
  await playRounds(stage, players.filter(isRight), turns);
  return new Map(players.map((player) => [player.participant.name, player.fault ?? player]));
};

const isRight = ({ fault }: Player): boolean => fault === undefined;

const jobOf = ({
  plan,
  bodyBytes,
  rhythm,
  check,
}: Pick<Turns, 'plan' | 'bodyBytes' | 'rhythm' | 'check'>): Omit<LoadJob, 'place'> => ({
  rhythm,
  bodyBytes,
  streamed: plan.streamed,
  text: plan,
  ...(check && { check }),
});

const oneRequest: Rhythm = { type: 'closed', clients: 1, forMs: 1, most: 1 };

const playCold = async (stage: Stage, players: readonly Player[], turns: Turns): Promise<void> => {
  const { upstream, progress } = stage;
  await upstream.plan(turns.plan);
  for (const player of players) {
    const { name, pid } = player.participant;
    progress(`${name}: first requests`);
    const kept = await upstream.keepNext();
    const rhythm = pid === undefined ? oneRequest : turns.coldRhythm;
    const round = await play(stage, player.participant, jobOf({ ...turns, rhythm }));
    if (pid !== undefined) player.cold = round;
    if (round.result.bad > 0) player.fault = wordWrong(round.result);
    // Of whichever request reached the upstream first.
    else if (turns.check === undefined && !(await kept()).includes('New turn '))
      player.fault = 'the request’s last turn got lost';
  }
};

/** A participant that warms up. */
interface WarmingUp {
  readonly player: Player;
  /** Of each round, per request. */
  readonly costs: number[];
  answered: number;
  spentMs: number;
}

/** In turns, too: one that waits while others warm up for long would begin with a collection and less compiled code. */
const playWarmUp = async (
  stage: Stage,
  players: readonly Player[],
  { least = 0, takesAll = false, ...own }: WarmUp,
  turns: Turns,
): Promise<void> => {
  const job = jobOf({ ...turns, ...own, plan: own.plan ?? turns.plan });
  await stage.upstream.plan(own.plan ?? turns.plan);
  let cold = players
    // What the upstream itself costs isn't looked at, and the others warm it up.
    .filter(({ participant }) => participant.pid !== undefined)
    .map((player): WarmingUp => ({ player, costs: [], answered: 0, spentMs: 0 }));
  while (cold.length > 0) {
    for (const each of cold) {
      const { player, costs } = each;
      stage.progress(`${player.participant.name}: warming up`);
      const beganMs = performance.now();
      const { cpuMs, result } = await play(stage, player.participant, job);
      each.spentMs += performance.now() - beganMs;
      each.answered += result.good;
      costs.push((cpuMs ?? result.seconds * 1e3) / result.good);
      if (result.bad > 0) player.fault = wordWrong(result);
      player.isWarm = isWarm(costs);
    }
    cold = cold.filter(({ player, costs, answered, spentMs }) => {
      const isDone = player.fault !== undefined || (player.isWarm && answered >= least && !takesAll);
      // Another round takes as long as one did so far.
      return !isDone && spentMs + spentMs / costs.length < turns.warmUpMs;
    });
  }
};

const playRounds = async (stage: Stage, players: readonly Player[], turns: Turns): Promise<void> => {
  await stage.upstream.plan(turns.plan);
  for (let round = 0; round < turns.rounds; round += 1) {
    for (const { participant, rounds } of round % 2 === 0 ? players : players.toReversed()) {
      // Going straight to the upstream only shows what the load generator can do: once is enough.
      if (participant.pid === undefined && round > 0) continue;
      stage.progress(`${participant.name}: round ${round + 1} of ${turns.rounds}`);
      rounds.push(await play(stage, participant, jobOf(turns)));
    }
  }
};

const notWarm = 'perhaps not warm: no three rounds of its warm-up in a row agreed within 10 %';

/** Notes on the rows of those whose warm-up was too short. */
export const withNote =
  (done: ReadonlyMap<string, Turn | string>) =>
  (row: Row): Row => {
    const turn = done.get(row.participant);
    if (typeof turn !== 'object' || turn.isWarm) return row;
    return { ...row, isCold: true, note: notWarm };
  };

/** How wrong answers are reported. */
export const wordWrong = ({ bad, reasons }: LoadResult): string => `${bad} wrong: ${reasons[0]}`;

/** One round of one participant. */
const play = async (
  { load, foreign, hasProcessorTime }: Stage,
  { pid, place }: Participant,
  job: Omit<LoadJob, 'place'>,
): Promise<Round> => {
  const run = (): Promise<LoadResult> => foreign.during(() => load.run({ ...job, place }));
  if (pid === undefined || !hasProcessorTime)
    return { cpuMs: undefined, mainMs: undefined, peakMb: undefined, allocated: undefined, result: await run() };
  forgetPeak(pid);
  await takeAllocations(pid);
  const before = readCpu(pid);
  const mainBefore = readMainMs(pid);
  const result = await run();
  await wait(settleMs);
  const cpuMs = cpuBetween(before, readCpu(pid));
  const mainMs = readMainMs(pid) - mainBefore;
  const { peakMb } = readMemory(pid);
  return { cpuMs, mainMs, peakMb, allocated: await takeAllocations(pid), result };
};
