import { parentPort } from 'node:worker_threads';
import { createTokenCounter } from './encoder.ts';

/* The thread that counts tokens. It receives `CountJob`s and answers each with a `CountResult`. */

/** Texts whose tokens are to be counted. */
export interface CountJob {
  readonly id: number;
  readonly texts: readonly string[];
}

/** The texts' tokens, in order; no `counts` if counting failed. */
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
