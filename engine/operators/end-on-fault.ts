import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ModelEvent } from '../model/event.ts';
import { FaultError } from '../model/fault.ts';
import { each } from './each.ts';
import { hideCredentials } from './hide-credentials.ts';
import type { Batch } from './read-events.ts';

/**
 * Ends the events at an `error`. While nothing of the answer has reached the client the fault is thrown instead, since somebody
 * else may still answer, or the answer have the fault's own status.
 */
export const endOnFault = (answered: Answered): MonoTypeOperatorFunction<Batch> =>
  each((last) => ({
    next(batch) {
      const at = batch.findIndex(isError);
      const error = batch[at];
      if (error?.type !== 'error') return batch;
      const fault = hideCredentials(error.fault, answered);
      if (!answered.delivery.begun) throw new FaultError(fault);
      answered.delivery.broken = fault;
      last();
      return [...batch.slice(0, at), { type: 'error', fault }];
    },
  }));

const isError = ({ type }: ModelEvent): boolean => type === 'error';
