import type { MonoTypeOperatorFunction } from 'rxjs';
import { eventProblem } from '../model/checked/check-event.ts';
import type { ReplyContext } from '../model/context.ts';
import type { Batch, Block, ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import { machine } from '../model/machine.ts';
import { runMachine } from './rx/stages.ts';

interface State {
  started: boolean;
  /** The type of the open block. */
  open: Block['type'] | undefined;
  /** Blocks that have stopped. */
  blocks: number;
  done: boolean;
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
  const fail = (state: State, out: ModelEvent[], what: string): void => {
    state.done = true;
    out.push({ type: 'error', fault: failed(what, state.count) });
  };
  return runMachine(
    machine<State, ModelEvent, ModelEvent>({
      initial: () => ({ started: false, open: undefined, blocks: 0, done: false, count: 0 }),
      step(state, event, out) {
        if (state.done) return;
        state.count += 1;
        const problem = misshapen(event) ?? advance(state, event);
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
      if (state.open !== undefined) return 'ended the answer inside a block';
      state.done = true;
      return undefined;
    case 'block-start':
      if (state.open !== undefined || event.index !== state.blocks) return misplaced(event);
      state.open = event.block.type;
      return undefined;
    default:
      if (state.open === undefined || event.index !== state.blocks) return misplaced(event);
      if (event.type === 'block-stop') {
        state.open = undefined;
        state.blocks += 1;
        return undefined;
      }
      return deltas[event.type].includes(state.open) ? undefined : `gave ${event.type} in a ${state.open} block`;
  }
};

/** The blocks in which each delta may stand. */
const deltas: Readonly<Record<Extract<ModelEvent['type'], `${string}-delta`>, readonly Block['type'][]>> = {
  'text-delta': ['text', 'refusal'],
  'thinking-delta': ['thinking'],
  'signature-delta': ['thinking'],
  'citation-delta': ['text'],
  'input-delta': ['tool-call'],
  'opaque-delta': ['opaque'],
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

const misplaced = ({ type, index }: { readonly type: string; readonly index: number }): string =>
  `gave ${type} of block ${index} out of order`;
