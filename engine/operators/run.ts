import { concat, defer, filter, map, type OperatorFunction, of, pipe } from 'rxjs';
import type { ModelEvent } from '../model/event.ts';
import type { Machine } from '../model/machine.ts';
import type { ReplyContext } from '../model/protocol.ts';
import type { Stage } from '../model/transformer.ts';

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

/** Runs machines over batches, one behind the other. */
export const runAll = <E>(
  machines: readonly Machine<E, E>[],
  context: ReplyContext,
): OperatorFunction<readonly E[], readonly E[]> =>
  machines.reduce<OperatorFunction<readonly E[], readonly E[]>>(
    (before, machine) => pipe(before, run(machine, context)),
    (source) => source,
  );

/** The stages' way back: the last one in the list meets the answer first. */
export const eventHalves = (stages: readonly Stage[]): readonly Machine<ModelEvent, ModelEvent>[] =>
  stages.flatMap((stage) => stage.events ?? []).reverse();
