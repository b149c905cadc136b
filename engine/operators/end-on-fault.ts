import { defer, map, type OperatorFunction, takeWhile } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { FaultError } from '../model/fault.ts';
import type { Batch } from './read-events.ts';

/**
 * Ends the events at an `error`. While nothing of the answer has reached the client the fault is thrown instead, since somebody
 * else may still answer, or the answer have the fault's own status.
 */
export const endOnFault =
  ({ delivery }: Answered): OperatorFunction<Batch, Batch> =>
  (source) =>
    defer(() => {
      let ended = false;
      const cut = map((batch: Batch) => {
        const at = batch.findIndex((event) => event.type === 'error');
        const error = batch[at];
        if (error?.type !== 'error') return batch;
        if (!delivery.begun) throw new FaultError(error.fault);
        ended = true;
        delivery.broken = error.fault;
        return batch.slice(0, at + 1);
      });
      return source.pipe(
        cut,
        takeWhile(() => !ended, true),
      );
    });
