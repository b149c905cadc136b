import type { MonoTypeOperatorFunction } from 'rxjs';
import type { ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Machine, Running } from '../model/machine.ts';
import type { ReplyContext } from '../model/protocol.ts';
import { each } from './each.ts';
import type { Batch } from './read-events.ts';
import { filled } from './run.ts';

/**
 * Runs a stage's machine. One that throws, against the rule for machines, ends the answer in an `error` event behind all that
 * it gave before.
 */
export const runGuarded = (
  machine: Machine<ModelEvent, ModelEvent>,
  context: ReplyContext,
  failed: (error: unknown) => Fault,
): MonoTypeOperatorFunction<Batch> =>
  each(() => {
    let running: Running<ModelEvent, ModelEvent> | undefined;
    let broken = false;
    const guarded = (work: (running: Running<ModelEvent, ModelEvent>, out: ModelEvent[]) => void) => {
      const out: ModelEvent[] = [];
      if (broken) return undefined;
      try {
        running ??= machine.start(context);
        work(running, out);
      } catch (error) {
        broken = true;
        out.push({ type: 'error', fault: failed(error) });
      }
      return filled(out);
    };
    return {
      next: (batch) =>
        guarded((running, out) => {
          for (const event of batch) running.step(event, out);
        }),
      end: () => guarded((running, out) => running.end(out)),
    };
  });
