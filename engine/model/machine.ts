import type { ReplyContext } from './context.ts';

/**
 * A stream conversion as a state machine: initial state, step, end. It uses no clock and no random numbers, keeps everything
 * in the state, and doesn't throw: unreadable input becomes an `error` event. Throwing would lose the valid events before it
 * in the same chunk.
 */
export interface MachineSpec<S, I, O, C = ReplyContext> {
  readonly initial: (context: C) => S;
  /** Appends the output for `input` to `out`. May change `state`, which belongs to one request. */
  readonly step: (state: S, input: I, out: O[]) => void;
  /** Appends the remaining output after the input has ended normally. */
  readonly end?: (state: S, out: O[]) => void;
  /** Whether the input is complete, so that its end is regular. Absent: unknown. */
  readonly settled?: (state: S) => boolean;
  /** Appends output that shows progress during a long silence. */
  readonly progress?: (state: S, out: O[]) => void;
}

/** A machine running for one request. */
export interface Running<I, O> {
  readonly step: (input: I, out: O[]) => void;
  readonly end: (out: O[]) => void;
  readonly settled?: () => boolean;
  readonly progress?: (out: O[]) => void;
}

/** A stream conversion; started once per request. */
export interface Machine<I, O, C = ReplyContext> {
  readonly start: (context: C) => Running<I, O>;
}

export const machine = <S, I, O, C = ReplyContext>(spec: MachineSpec<S, I, O, C>): Machine<I, O, C> => ({
  start: (context) => new SpecRun(spec, spec.initial(context)),
});

class SpecRun<S, I, O, C> implements Running<I, O> {
  readonly #spec: MachineSpec<S, I, O, C>;
  readonly #state: S;

  constructor(spec: MachineSpec<S, I, O, C>, state: S) {
    this.#spec = spec;
    this.#state = state;
  }

  step(input: I, out: O[]): void {
    this.#spec.step(this.#state, input, out);
  }

  end(out: O[]): void {
    this.#spec.end?.(this.#state, out);
  }

  settled(): boolean {
    return this.#spec.settled?.(this.#state) ?? false;
  }

  progress(out: O[]): void {
    this.#spec.progress?.(this.#state, out);
  }
}

/** Composes two machines: the second converts the output of the first. */
export const chain = <I, M, O, C = ReplyContext>(
  first: Machine<I, M, C>,
  second: Machine<M, O, C>,
): Machine<I, O, C> => ({
  start: (context) => new ChainRun(first.start(context), second.start(context)),
});

class ChainRun<I, M, O> implements Running<I, O> {
  readonly #before: Running<I, M>;
  readonly #after: Running<M, O>;

  constructor(before: Running<I, M>, after: Running<M, O>) {
    this.#before = before;
    this.#after = after;
  }

  step(input: I, out: O[]): void {
    const between: M[] = [];
    this.#before.step(input, between);
    for (const item of between) this.#after.step(item, out);
  }

  end(out: O[]): void {
    const between: M[] = [];
    this.#before.end(between);
    for (const item of between) this.#after.step(item, out);
    this.#after.end(out);
  }

  /** What completes the input of either completes the whole: a second machine may have no sign of its own. */
  settled(): boolean {
    return (this.#after.settled?.() ?? false) || (this.#before.settled?.() ?? false);
  }
}

/** Runs a machine over a whole input. */
export const runWhole = <I, O, C>(machine: Machine<I, O, C>, context: C, inputs: Iterable<I>): O[] => {
  const out: O[] = [];
  const running = machine.start(context);
  for (const input of inputs) running.step(input, out);
  running.end(out);
  return out;
};
