import { Observable, type OperatorFunction, Subscriber } from 'rxjs';
import type { ReplyContext } from '../../model/context.ts';
import type { Machine } from '../../model/machine.ts';
import { bytesOf, lengthOf } from '../../model/wire/sse.ts';
import type { AnswerChunk } from '../../model/wire/sse-record.ts';
import { enterStep, inStep, isInStep } from '../../runtime/loop-watch.ts';

/** Handles the values of a stream, one after the other. A handler emits what it returns, unless that is `undefined`. */
export interface Handlers<I, O> {
  /** The name for stalls of the event loop during this stage; absent: that of the stage before. */
  readonly step?: string;
  /** Emitted before everything else. */
  readonly first?: O | undefined;
  readonly next: (input: I) => O | undefined;
  /** Called when the source completes; its result is the last value. */
  readonly end?: () => O | undefined;
  /** Called after `end`, for last values that take several ticks of the event loop. Later stages end after them. */
  readonly ending?: () => Observable<O> | undefined;
  /** Replaces the source's error by a last value, or by what it throws. If absent, errors pass. */
  readonly failed?: (error: unknown) => O | undefined;
  /** Called once at the end: on completion, error or unsubscription. Must not throw. */
  readonly finalize?: () => void;
}

/** A stage's control over its stream, outside its handlers' results. */
export interface StageControl<O> {
  /** Completes the stage as if its source had completed: at once, or after the value that is being handled. */
  readonly complete: () => void;
  /** Emits a value between two inputs, for example from a timer. */
  readonly emit: (value: O) => void;
}

/** Starts the handlers of one stage for one subscription. `context` is what the whole list works for. */
export type StreamStage<C, I, O> = (context: C, control: StageControl<O>) => Handlers<I, O>;

/** Stages of one type, some of which may be RxJS operators. An operator splits the list into two subscribers. */
export interface StageGroup<C, T> {
  readonly group: readonly (StreamStage<C, T, T> | OperatorStage<C, T>)[];
}

export interface OperatorStage<C, T> {
  readonly operator: (context: C) => OperatorFunction<T, T>;
}

/** Makes the operator that runs a list of stages for one context. */
export type StageList<C, I, O> = (context: C) => OperatorFunction<I, O>;

/** A part of a list whose types the overloads of `stages` have checked; the type of one list can't express it. */
type UncheckedPart = StreamStage<unknown, unknown, unknown> | OperatorStage<unknown, unknown>;

/**
 * Runs stages in order, in one subscriber: most streams bring small chunks, whose cost is the number of subscribers they pass.
 * Built once for all contexts. What a stage throws goes to `failed` of the stages after it, as a source's error does.
 */
export function stages<C, A, B>(a: StreamStage<C, A, B>): StageList<C, A, B>;
export function stages<C, A>(a: StageGroup<C, A>): StageList<C, A, A>;
export function stages<C, A, B, D>(
  a: StreamStage<C, A, B>,
  b: StreamStage<C, B, D>,
  c: StageGroup<C, D>,
): StageList<C, A, D>;
export function stages<C, A, B, D, E>(
  a: StreamStage<C, A, B>,
  b: StreamStage<C, B, D>,
  c: StreamStage<C, D, E>,
): StageList<C, A, E>;
export function stages<C, A, B, D, E, F>(
  a: StreamStage<C, A, B>,
  b: StreamStage<C, B, D>,
  c: StreamStage<C, D, E>,
  d: StreamStage<C, E, F>,
): StageList<C, A, F>;
export function stages<C, A, B, D, E, F, G, H, I>(
  a: StreamStage<C, A, B>,
  b: StreamStage<C, B, D>,
  c: StreamStage<C, D, E>,
  d: StreamStage<C, E, F>,
  e: StageGroup<C, F>,
  f: StreamStage<C, F, G>,
  g: StreamStage<C, G, H>,
  h: StreamStage<C, H, I>,
): StageList<C, A, I>;
export function stages(
  ...parts: readonly (UncheckedPart | { readonly group: readonly UncheckedPart[] })[]
): StageList<unknown, unknown, unknown> {
  const list = parts.flatMap((part) => ('group' in part ? part.group : [part]));
  const operators = runsOf(list);
  const [only] = operators;
  if (only && operators.length === 1) return only;
  return (context: unknown) => (source: Observable<unknown>) =>
    operators.reduce((before, operator) => operator(context)(before), source);
}

/** Makes an operator from the handlers of one stage without a context. */
export const operate = <I, O>(start: (control: StageControl<O>) => Handlers<I, O>): OperatorFunction<I, O> =>
  stages((_: undefined, control: StageControl<O>) => start(control))(undefined);

/** Joins neighbouring stages into one operator each. */
const runsOf = (list: readonly UncheckedPart[]): readonly StageList<unknown, unknown, unknown>[] => {
  const found: StageList<unknown, unknown, unknown>[] = [];
  let run: StreamStage<unknown, unknown, unknown>[] = [];
  const close = (): void => {
    if (run.length > 0) found.push(runOf(run));
    run = [];
  };
  for (const part of list) {
    if (typeof part === 'function') run.push(part);
    else {
      close();
      found.push(part.operator);
    }
  }
  close();
  return found;
};

const runOf =
  (run: readonly StreamStage<unknown, unknown, unknown>[]): StageList<unknown, unknown, unknown> =>
  (context) =>
  (source) =>
    new Observable((subscriber) => {
      new StagesSubscriber(subscriber, run, context).begin(source);
    });

/** The step of stages that have no name, and whose caller has none. */
const answerStep = 'answer';

/** A subscriber class, as RxJS's own operators have: one object instead of an observer with four closures. */
class StagesSubscriber<C> extends Subscriber<unknown> {
  /** RxJS drops its own reference on unsubscription. */
  readonly #to: Subscriber<unknown>;
  readonly #handlers: readonly Handlers<unknown, unknown>[];
  /** The first step that a stage names, which those before it belong to. */
  #step = answerStep;
  /** A stage is at work, so completion waits until its value has passed. */
  #busy = false;
  /** The last stage that has asked for completion; -1: none. */
  #completing = -1;

  constructor(to: Subscriber<unknown>, run: readonly StreamStage<C, unknown, unknown>[], context: C) {
    super(to);
    this.#to = to;
    this.#handlers = run.map((stage, at) => {
      const handlers = stage(context, new Control(this, at));
      if (this.#step === answerStep) this.#step = handlers.step ?? answerStep;
      return handlers;
    });
  }

  begin(source: Observable<unknown>): void {
    for (let at = 0; at < this.#handlers.length; at += 1) {
      const first = this.#handlers[at]?.first;
      if (first !== undefined) this.#pass(at + 1, first);
    }
    if (!this.closed) source.subscribe(this);
  }

  /** Passes a value to the stages from an index on. */
  emit(from: number, value: unknown): void {
    if (this.#step === answerStep && isInStep()) {
      this.#emit(from, value);
      return;
    }
    const before = enterStep(this.#step);
    try {
      this.#emit(from, value);
    } finally {
      enterStep(before);
    }
  }

  #emit(from: number, value: unknown): void {
    const wasBusy = this.#busy;
    this.#busy = true;
    this.#pass(from, value);
    this.#busy = wasBusy;
    if (this.#completing >= 0 && !wasBusy && !this.closed) this.#end(this.#completing);
  }

  /** Completes the stage at an index. */
  completeAt(at: number): void {
    // A completed stage takes no more values from earlier stages.
    this.#completing = Math.max(this.#completing, at);
    if (!this.#busy && !this.closed) this.#end(this.#completing);
  }

  protected override _next(value: unknown): void {
    this.emit(0, value);
  }

  protected override _complete(): void {
    const before = enterStep(this.#step);
    try {
      this.#end(0);
    } finally {
      enterStep(before);
    }
  }

  protected override _error(error: unknown): void {
    this.#busy = true;
    const before = enterStep(this.#step);
    try {
      this.#fail(0, error);
    } finally {
      enterStep(before);
    }
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    // Missing if a stage has thrown at its start.
    for (const handlers of this.#handlers ?? []) handlers.finalize?.();
  }

  #pass(from: number, value: unknown): void {
    const handlers = this.#handlers;
    let current = value;
    let at = from;
    // RxJS would report an error thrown here as unhandled.
    try {
      for (; at < handlers.length && current !== undefined; at += 1) {
        const handler = handlers[at];
        if (handler?.step !== undefined && handler.step !== this.#step) enterStep(handler.step);
        current = handler?.next(current);
      }
    } catch (error) {
      this.#fail(at + 1, error);
      return;
    }
    if (current !== undefined) this.#to.next(current);
  }

  /** Ends the stages from an index on, then the stream. */
  #end(from: number): void {
    this.#busy = true;
    for (let at = from; at < this.#handlers.length; at += 1) {
      if (this.closed) return;
      if (at < this.#completing) continue;
      const handlers = this.#handlers[at];
      if (handlers?.step !== undefined) enterStep(handlers.step);
      let output: unknown;
      let more: Observable<unknown> | undefined;
      try {
        output = handlers?.end?.();
        more = handlers?.ending?.();
      } catch (error) {
        this.#fail(at + 1, error);
        return;
      }
      if (output !== undefined) this.#pass(at + 1, output);
      if (!more) continue;
      this.#await(more, at + 1);
      return;
    }
    if (this.closed) return;
    this.#to.complete();
    this.unsubscribe();
  }

  /** Passes the last values of a stage, then ends the stages from an index on. */
  #await(values: Observable<unknown>, from: number): void {
    this.add(
      values.subscribe({
        next: (value) => inStep(this.#step, () => this.#pass(from, value)),
        error: (error) => this.#fail(from, error),
        complete: () => inStep(this.#step, () => this.#end(from)),
      }),
    );
  }

  /** Lets the stages from an index on replace an error. */
  #fail(from: number, error: unknown): void {
    let thrown = error;
    for (let at = from; at < this.#handlers.length; at += 1) {
      const handlers = this.#handlers[at];
      if (!handlers?.failed) continue;
      let output: unknown;
      try {
        output = handlers.failed(thrown);
      } catch (again) {
        thrown = again;
        continue;
      }
      if (output !== undefined) this.#pass(at + 1, output);
      this.#end(at + 1);
      return;
    }
    this.#to.error(thrown);
    this.unsubscribe();
  }
}

class Control implements StageControl<unknown> {
  readonly #subscriber: StagesSubscriber<never>;
  readonly #at: number;

  constructor(subscriber: StagesSubscriber<never>, at: number) {
    this.#subscriber = subscriber;
    this.#at = at;
  }

  complete(): void {
    this.#subscriber.completeAt(this.#at);
  }

  emit(value: unknown): void {
    this.#subscriber.emit(this.#at + 1, value);
  }
}

/**
 * Emits what long work returns. `next` does a slice of it; other requests run between two slices. A stall during a slice is reported as
 * `step`.
 */
export const inSlices = <T>(step: string, next: () => IteratorResult<undefined, T>): Observable<T> =>
  new Observable((subscriber) => {
    let due: NodeJS.Immediate;
    const run = (): void => {
      let slice: IteratorResult<undefined, T>;
      try {
        slice = inStep(step, next);
      } catch (error) {
        subscriber.error(error);
        return;
      }
      if (slice.done) {
        subscriber.next(slice.value);
        subscriber.complete();
      } else due = setImmediate(run);
    };
    due = setImmediate(run);
    return () => clearImmediate(due);
  });

/** Runs a machine over batches. Each input batch yields at most one output batch. */
export const runMachine = <I, O>(
  machine: Machine<I, O>,
  context: ReplyContext,
): OperatorFunction<readonly I[], readonly O[]> =>
  operate(() => {
    const running = machine.start(context);
    return {
      next(batch) {
        const out: O[] = [];
        for (const input of batch) running.step(input, out);
        return nonEmpty(out);
      },
      end() {
        const out: O[] = [];
        running.end(out);
        return nonEmpty(out);
      },
    };
  });

/** The batch; `undefined` if it is empty. */
export const nonEmpty = <O>(batch: readonly O[]): readonly O[] | undefined => (batch.length > 0 ? batch : undefined);

/** Collects a body into one array and emits what `make` returns for it. */
export const collectBytes = <O>(
  make: (body: Uint8Array) => O,
  { maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: number } = {},
): OperatorFunction<AnswerChunk, O> =>
  operate((control) => {
    const collected = collectedBytes(make);
    let bytes = 0;
    return {
      ...collected,
      next(chunk) {
        bytes += lengthOf(chunk);
        if (bytes >= maxBytes) control.complete();
        return collected.next(chunk);
      },
    };
  });

/** The handlers that collect a body. `failed` replaces the error of a body that breaks off; if absent, the error passes. */
export const collectedBytes = <O>(
  make: (body: Uint8Array) => O,
  { failed }: Pick<Handlers<AnswerChunk, O>, 'failed'> = {},
): Handlers<AnswerChunk, O> => {
  const chunks: AnswerChunk[] = [];
  return {
    next(chunk) {
      chunks.push(chunk);
      return undefined;
    },
    end: () => make(joinBytes(chunks)),
    ...(failed && { failed }),
  };
};

/** A body's bytes; a single chunk as it is. */
export const joinBytes = (chunks: readonly AnswerChunk[]): Uint8Array => {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  return only ? bytesOf(only) : Buffer.concat(chunks.map(bytesOf));
};
