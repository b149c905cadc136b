import type { ReplyContext } from './protocol.ts';

/**
 * A stream conversion as a value: an initial state, a step, an end. It reads no clock and draws no random number, keeps all
 * it knows in the state, and does not throw: what it can't read becomes an `error` event in its place, or else the good
 * events before it in the same chunk would be lost.
 */
export interface MachineSpec<S, I, O> {
  readonly initial: (context: ReplyContext) => S;
  /** Appends to `out` what `input` brings about. May change `state`, which belongs to one request alone. */
  readonly step: (state: S, input: I, out: O[]) => void;
  /** Appends what is still owed once the input has ended well. */
  readonly end?: (state: S, out: O[]) => void;
}

/** A machine at work on one request. */
export interface Running<I, O> {
  readonly step: (input: I, out: O[]) => void;
  readonly end: (out: O[]) => void;
}

/** A stream conversion, ready to be started once per request. */
export interface Machine<I, O> {
  readonly start: (context: ReplyContext) => Running<I, O>;
}

export const machine = <S, I, O>(spec: MachineSpec<S, I, O>): Machine<I, O> => ({
  start(context) {
    const state = spec.initial(context);
    return {
      step: (input, out) => spec.step(state, input, out),
      end: (out) => spec.end?.(state, out),
    };
  },
});

/** Two machines as one: what the first one gives, the second one takes at once. */
export const chain = <I, M, O>(first: Machine<I, M>, second: Machine<M, O>): Machine<I, O> => ({
  start(context) {
    const before = first.start(context);
    const behind = second.start(context);
    const pass = (between: readonly M[], out: O[]): void => {
      for (const one of between) behind.step(one, out);
    };
    return {
      step(input, out) {
        const between: M[] = [];
        before.step(input, between);
        pass(between, out);
      },
      end(out) {
        const between: M[] = [];
        before.end(between);
        pass(between, out);
        behind.end(out);
      },
    };
  },
});

/** Runs a machine over a whole input at once. */
export const runWhole = <I, O>(machine: Machine<I, O>, context: ReplyContext, inputs: Iterable<I>): O[] => {
  const out: O[] = [];
  const running = machine.start(context);
  for (const input of inputs) running.step(input, out);
  running.end(out);
  return out;
};
