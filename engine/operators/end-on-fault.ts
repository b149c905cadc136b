import type { Answered } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { FaultError } from '../model/fault.ts';
import { hideCredentials } from './hide-credentials.ts';
import { nameDestination } from './render-faults.ts';
import type { StreamStage } from './rx/stages.ts';

/**
 * Ends the events at an `error` event. While nothing of the answer has reached the client the fault is thrown instead: a retry
 * or fallback may still answer, and otherwise the answer can have the fault's own status.
 */
export const endOnFault = (): StreamStage<Answered, Batch, Batch> => (answered, control) => ({
  next(batch) {
    const at = batch.findIndex(isError);
    const error = batch[at];
    if (error?.type !== 'error') return batch;
    const hidden = hideCredentials(error.fault, answered.call.headers);
    if (!answered.progress.begun) throw new FaultError(hidden);
    const fault = nameDestination(hidden, answered);
    answered.progress.broken = fault;
    answered.observer.fault(fault);
    control.complete();
    return [...batch.slice(0, at), { type: 'error', fault }];
  },
});

const isError = ({ type }: ModelEvent): boolean => type === 'error';
