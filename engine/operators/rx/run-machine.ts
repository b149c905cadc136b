import type { OperatorFunction } from 'rxjs';
import type { ReplyContext } from '../../model/context.ts';
import type { Machine } from '../../model/machine.ts';
import { operate } from './stages.ts';

/** Runs a machine over batches. Each input batch yields at most one output batch. */
export const runMachine = <I, O>(
  machine: Machine<I, O>,
  context: ReplyContext,
): OperatorFunction<readonly I[], readonly O[]> =>
  operate(() => {
    const running = machine.start(context);
    return {
      next(batch) {
        const out: O[] = [];
        for (const input of batch) running.step(input, out);
        return nonEmpty(out);
      },
      end() {
        const out: O[] = [];
        running.end(out);
        return nonEmpty(out);
      },
    };
  });

/** The batch; `undefined` if it is empty. */
export const nonEmpty = <O>(batch: readonly O[]): readonly O[] | undefined => (batch.length > 0 ? batch : undefined);
