import type { MonoTypeOperatorFunction } from 'rxjs';
import type { ReplyContext } from '../model/context.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import { machine } from '../model/machine.ts';
import { runMachine } from './rx/stages.ts';

interface State {
  started: boolean;
  /** A block is open. */
  open: boolean;
  /** Blocks that have stopped. */
  blocks: number;
  done: boolean;
}

/**
 * Checks the order of a custom stage's events (`engine/model/event.ts`), on which later steps rely. The first event out of order
 * becomes an `error` event. Events after the answer's end are dropped.
 */
export const validateOrder = (
  context: ReplyContext,
  failed: (what: string) => Fault,
): MonoTypeOperatorFunction<Batch> => {
  const fail = (state: State, out: ModelEvent[], what: string): void => {
    state.done = true;
    out.push({ type: 'error', fault: failed(what) });
  };
  return runMachine(
    machine<State, ModelEvent, ModelEvent>({
      initial: () => ({ started: false, open: false, blocks: 0, done: false }),
      step(state, event, out) {
        if (state.done) return;
        const problem = advance(state, event);
        if (problem === undefined) out.push(event);
        else fail(state, out, problem);
      },
      end(state, out) {
        if (!state.done) fail(state, out, 'omitted the end of the answer');
      },
    }),
    context,
  );
};

/** Advances the state by an event; returns the problem if the event is out of order. */
const advance = (state: State, event: ModelEvent): string | undefined => {
  if (event.type === 'error') {
    state.done = true;
    return undefined;
  }
  if (event.type === 'message-start') {
    if (state.started) return 'started the answer twice';
    state.started = true;
    return undefined;
  }
  if (!state.started) return `gave ${event.type} before the answer has begun`;
  switch (event.type) {
    case 'message-stop':
      if (state.open) return 'ended the answer inside a block';
      state.done = true;
      return undefined;
    case 'block-start':
      if (state.open || event.index !== state.blocks) return misplaced(event);
      state.open = true;
      return undefined;
    default:
      if (!state.open || event.index !== state.blocks) return misplaced(event);
      if (event.type === 'block-stop') {
        state.open = false;
        state.blocks += 1;
      }
      return undefined;
  }
};

const misplaced = ({ type, index }: { readonly type: string; readonly index: number }): string =>
  `gave ${type} of block ${index} out of order`;
