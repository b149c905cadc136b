import { map, timer } from 'rxjs';
import type { Exchange } from '../exchange.ts';
import type { Step } from './steps.ts';

/** A body of so many bytes keeps the event loop for some milliseconds at each of its steps. */
const largeBytes = 256 * 1024;

/** Stands between the steps that read and write a whole body: where it is a large one, others get their turn in between. */
export const breathe =
  <E extends Exchange>(): Step<E, E> =>
  (exchange) =>
    exchange.body.length < largeBytes ? exchange : timer(0).pipe(map(() => exchange));
