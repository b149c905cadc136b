import { parentPort } from 'node:worker_threads';
import { createTokenCounter } from './token-counter.ts';

/*
 * The thread that counts texts. It gets `CountJob`s, one after the other, and answers each with a `CountResult`.
 */

/** Texts to be counted. */
export interface CountJob {
  readonly id: number;
  readonly texts: readonly string[];
}

/** Their tokens, in the same order; without `counts` they could not be counted. */
export interface CountResult {
  readonly id: number;
  readonly counts?: readonly number[];
}

const { countText } = createTokenCounter();

const answer = ({ id, texts }: CountJob): CountResult => {
  try {
    return { id, counts: texts.map(countText) };
  } catch {
    return { id };
  }
};

parentPort?.on('message', (job: CountJob) => parentPort?.postMessage(answer(job)));
