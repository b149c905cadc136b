import { performance } from 'node:perf_hooks';
import type { Batch } from '../model/event.ts';
import { messageOf } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Loss } from '../model/loss.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Halves, SentCall, StageTest, Tried } from './declared.ts';
import { cutEverywhere } from './every-cut.ts';
import { leaveEverywhere } from './every-leave.ts';
import { joined } from './given.ts';
import { runTrial } from './run-trial.ts';
import { openTrial, type Trial } from './trial.ts';

/** A stage's behaviour, checked. */
export interface TrialReport {
  readonly stage: string;
  readonly request: { readonly before: ModelRequest; readonly after: ModelRequest | null };
  readonly call: Halves<SentCall> | null;
  /** The events, each run of deltas as one. */
  readonly events: Halves<Batch>;
  readonly calls: readonly { readonly kind: 'next' | 'ask'; readonly to: string | null }[];
  /** The error that the client gets. */
  readonly fault: string | null;
  readonly losses: readonly Loss[];
  readonly log: readonly { readonly text: string; readonly fields: JsonObject }[];
  /** At how many places the answer was cut, and at how many points it was left. */
  readonly cuts: number;
  readonly leaves: number;
  /** Milliseconds that the stage adds to a request, and microseconds to a delta of its answer; medians. */
  readonly cost: { readonly requestMs: number; readonly deltaUs: number } | null;
  /** Problems, a line each. */
  readonly problems: readonly string[];
}

/** The most time for all cuts, and for all leaves, in milliseconds. */
const maxMs = 10_000;

/** Tries a stage. Rejects if it can't be used, or a whole run of it fails. */
export const tryStage = async (test: StageTest): Promise<TrialReport> => {
  const trial = await openTrial(test);
  const { tried, failure } = await runTrial(trial);
  const problems: string[] = failure ? [failure.message] : [];
  const attempt = async (work: (mayGoOn: () => boolean) => Promise<number>): Promise<number> => {
    if (failure) return 0;
    const endMs = performance.now() + maxMs;
    try {
      return await work(() => performance.now() < endMs);
    } catch (error) {
      problems.push(messageOf(error));
      return 0;
    }
  };
  const cuts = await attempt((mayGoOn) => cutEverywhere(trial, mayGoOn));
  const leaves = await attempt((mayGoOn) => leaveEverywhere(trial, mayGoOn));
  return { ...shown(tried), cuts, leaves, cost: problems.length > 0 ? null : await costOf(trial), problems };
};

const shown = ({ stage, request, call, events, calls, fault, losses, log }: Tried) => ({
  stage,
  request: { before: request.before, after: request.after ?? null },
  call: call ?? null,
  events: { before: joined(events.before), after: joined(events.after) },
  calls: calls.map(({ kind, to }) => ({ kind, to: to ?? null })),
  fault: fault ? `${fault.kind}: ${fault.message}` : null,
  losses,
  log,
});

/** Deltas of an answer that is timed, and how often it is. */
const deltas = 200;
const times = 15;

/** Time that a stage adds to a request, and to a delta of its answer. */
const costOf = async (trial: Trial): Promise<TrialReport['cost']> => {
  const bare = { ...trial, gateway: trial.bare };
  const [short, long] = [answerOf(1), answerOf(deltas + 1)];
  const addedMs = async (events: Batch): Promise<number> =>
    (await medianMs({ ...trial, answer: [events] })) - (await medianMs({ ...bare, answer: [events] }));
  // The first runs compile.
  await addedMs(long);
  const shortMs = await addedMs(short);
  const longMs = await addedMs(long);
  return { requestMs: Math.max(0, shortMs), deltaUs: Math.max(0, ((longMs - shortMs) / deltas) * 1_000) };
};

const answerOf = (count: number): Batch => [
  { type: 'message-start', id: 'answer', model: 'model' },
  { type: 'block-start', index: 0, block: { type: 'text' } },
  ...Array.from({ length: count }, () => ({ type: 'text-delta', index: 0, text: 'word ' }) as const),
  { type: 'block-stop', index: 0 },
  { type: 'message-stop', finish: 'end', usage: {} },
];

const medianMs = async (trial: Trial): Promise<number> => {
  const took: number[] = [];
  const endMs = performance.now() + maxMs / 4;
  while (took.length < times && performance.now() < endMs) {
    const fromMs = performance.now();
    await runTrial(trial);
    took.push(performance.now() - fromMs);
  }
  return took.sort((one, other) => one - other)[Math.floor(took.length / 2)] ?? 0;
};
