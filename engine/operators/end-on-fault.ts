import { defer, map, type OperatorFunction, takeWhile } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { FaultError } from '../model/fault.ts';
import type { Batch } from './read-events.ts';

/**
 * Ends the events at an `error`. While nothing has reached the client the fault is thrown instead, since the answer can
 * still have the fault's own status.
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
        if (!delivery.opened) throw new FaultError(error.fault);
        ended = true;
        return batch.slice(0, at + 1);
      });
      return source.pipe(
        cut,
        takeWhile(() => !ended, true),
      );
    });
