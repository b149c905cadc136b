import { parentPort } from 'node:worker_threads';
import { messageOf } from '../model/fault.ts';
import type { StageTest } from './declared.ts';
import { type TrialReport, tryStage } from './try-stage.ts';

/* The thread that tries a stage. It receives a `TrialJob`, says regularly that it isn't blocked, and answers once. */

/** A trial of a stage's file. */
export type TrialJob = Pick<StageTest, 'options' | 'request' | 'answer' | 'capture' | 'ask' | 'limitMs'> & {
  readonly stage: string;
};

export type TrialMessage =
  | { readonly type: 'alive' }
  | { readonly type: 'report'; readonly report: TrialReport }
  | { readonly type: 'unusable'; readonly message: string };

/** Interval between its messages, in milliseconds. */
const aliveMs = 100;

const say = (message: TrialMessage): void => parentPort?.postMessage(message);

parentPort?.once('message', (job: TrialJob) => {
  const alive = setInterval(() => say({ type: 'alive' }), aliveMs);
  say({ type: 'alive' });
  tryStage(job)
    .then(
      (report) => say({ type: 'report', report }),
      (error: unknown) => say({ type: 'unusable', message: messageOf(error) }),
    )
    .finally(() => clearInterval(alive));
});
