import type { OperatorFunction } from 'rxjs';
import type { Machine } from '../model/machine.ts';
import type { ReplyContext } from '../model/protocol.ts';
import { each } from './each.ts';

/** Runs a machine over batches: one batch in per network chunk, at most one batch out. */
export const run = <I, O>(
  machine: Machine<I, O>,
  context: ReplyContext,
): OperatorFunction<readonly I[], readonly O[]> =>
  each(() => {
    const running = machine.start(context);
    return {
      next(batch) {
        const out: O[] = [];
        for (const input of batch) running.step(input, out);
        return filled(out);
      },
      end() {
        const out: O[] = [];
        running.end(out);
        return filled(out);
      },
    };
  });

/** Nothing in the place of a batch in which there is nothing. */
export const filled = <O>(batch: readonly O[]): readonly O[] | undefined => (batch.length > 0 ? batch : undefined);
