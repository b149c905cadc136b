import type { MonoTypeOperatorFunction } from 'rxjs';
import { eventProblem } from '../model/checked/check-event.ts';
import type { ReplyContext } from '../model/context.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { EventOrder, noEnd } from '../model/event-order.ts';
import type { Fault } from '../model/fault.ts';
import { machine } from '../model/machine.ts';
import { runMachine } from './rx/stages.ts';

interface State {
  readonly order: EventOrder;
  /** Events so far. */
  count: number;
}

/**
 * Checks a custom stage's events and their order (`engine/model/event.ts`), on which later steps rely. The first event that breaks its type
 * or the order becomes an `error` event; `failed` gets its number, from 1. Events after the answer's end are dropped.
 */
export const validateOrder = (
  context: ReplyContext,
  failed: (what: string, at: number) => Fault,
): MonoTypeOperatorFunction<Batch> => {
  const fail = ({ order, count }: State, out: ModelEvent[], what: string): void => {
    order.end();
    out.push({ type: 'error', fault: failed(what, count) });
  };
  return runMachine(
    machine<State, ModelEvent, ModelEvent>({
      initial: () => ({ order: new EventOrder(), count: 0 }),
      step(state, event, out) {
        if (state.order.isOver) return;
        state.count += 1;
        const problem = misshapen(event) ?? state.order.problemIn(event);
        if (problem === undefined) out.push(event);
        else fail(state, out, problem);
      },
      end(state, out) {
        if (!state.order.isOver) fail(state, out, noEnd);
      },
    }),
    context,
  );
};

/** A custom module may emit anything. */
const misshapen = (event: unknown): string | undefined => {
  const problem = eventProblem(event);
  if (!problem) return undefined;
  const { path, message } = problem;
  if (path === '') return 'gave something other than an event';
  const type: unknown = Object(event).type;
  return `gave an invalid ${path === 'type' ? 'event' : type}: ${path} ${message}`;
};
