import { concat, defer, filter, map, type OperatorFunction, of } from 'rxjs';
import type { Machine } from '../model/machine.ts';
import type { ReplyContext } from '../model/protocol.ts';

/** Runs a machine over batches: one batch in per network chunk, at most one batch out. */
export const run =
  <I, O>(machine: Machine<I, O>, context: ReplyContext): OperatorFunction<readonly I[], readonly O[]> =>
  (source) =>
    defer(() => {
      const running = machine.start(context);
      const steps = map((batch: readonly I[]) => {
        const out: O[] = [];
        for (const input of batch) running.step(input, out);
        return out;
      });
      const rest = defer(() => {
        const out: O[] = [];
        running.end(out);
        return of(out);
      });
      return concat(source.pipe(steps), rest).pipe(filter((out) => out.length > 0));
    });
