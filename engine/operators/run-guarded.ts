import { concat, defer, filter, type MonoTypeOperatorFunction, map, of } from 'rxjs';
import type { ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Machine, Running } from '../model/machine.ts';
import type { ReplyContext } from '../model/protocol.ts';
import type { Batch } from './read-events.ts';

/**
 * Runs a stage's machine. One that throws, against the rule for machines, ends the answer in an `error` event behind all that
 * it gave before.
 */
export const runGuarded =
  (
    machine: Machine<ModelEvent, ModelEvent>,
    context: ReplyContext,
    failed: (error: unknown) => Fault,
  ): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      let running: Running<ModelEvent, ModelEvent> | undefined;
      let broken = false;
      const guarded = (work: (running: Running<ModelEvent, ModelEvent>, out: ModelEvent[]) => void): Batch => {
        const out: ModelEvent[] = [];
        if (broken) return out;
        try {
          running ??= machine.start(context);
          work(running, out);
        } catch (error) {
          broken = true;
          out.push({ type: 'error', fault: failed(error) });
        }
        return out;
      };
      const steps = map((batch: Batch) =>
        guarded((running, out) => {
          for (const event of batch) running.step(event, out);
        }),
      );
      const rest = defer(() => of(guarded((running, out) => running.end(out))));
      return concat(source.pipe(steps), rest).pipe(filter((out) => out.length > 0));
    });
