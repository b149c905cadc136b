import { defer, map, type OperatorFunction, takeWhile } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { FaultError } from '../model/fault.ts';
import { hideCredentials } from './hide-credentials.ts';
import type { Batch } from './read-events.ts';

/**
 * Ends the events at an `error`. While nothing has reached the client the fault is thrown instead, since the answer can
 * still have the fault's own status.
 */
export const endOnFault =
  (answered: Answered): OperatorFunction<Batch, Batch> =>
  (source) =>
    defer(() => {
      let ended = false;
      const cut = map((batch: Batch) => {
        const at = batch.findIndex((event) => event.type === 'error');
        const error = batch[at];
        if (error?.type !== 'error') return batch;
        const fault = hideCredentials(error.fault, answered);
        if (!answered.delivery.opened) throw new FaultError(fault);
        ended = true;
        return [...batch.slice(0, at), { type: 'error' as const, fault }];
      });
      return source.pipe(
        cut,
        takeWhile(() => !ended, true),
      );
    });
