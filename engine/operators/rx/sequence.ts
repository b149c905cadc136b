import { map, Observable, type OperatorFunction, Subscriber, timer } from 'rxjs';
import type { Exchange } from '../../exchange.ts';
import { enterStep } from '../../runtime/loop-watch.ts';

/**
 * A step that turns one value into the next: synchronously, or as an Observable of one value; the last step's may emit many. May
 * throw.
 */
export type SequenceStep<In, Out> = (value: In) => Out | Observable<Out>;

/** A step of a list whose types the overloads of `sequence` have checked; the type of one list can't express it. */
type UncheckedStep = SequenceStep<unknown, unknown>;

/**
 * Runs steps in order as a single operator, for one value. An operator per step would cost as much as most steps do. Unsubscribes
 * from the source when the awaited step ends.
 */
export function sequence<A, B>(a: SequenceStep<A, B>): OperatorFunction<A, B>;
export function sequence<A, B, C>(a: SequenceStep<A, B>, b: SequenceStep<B, C>): OperatorFunction<A, C>;
export function sequence<A, B, C, D>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
): OperatorFunction<A, D>;
export function sequence<A, B, C, D, E>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
  d: SequenceStep<D, E>,
): OperatorFunction<A, E>;
export function sequence<A, B, C, D, E, F>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
  d: SequenceStep<D, E>,
  e: SequenceStep<E, F>,
): OperatorFunction<A, F>;
export function sequence<A, B, C, D, E, F, G>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
  d: SequenceStep<D, E>,
  e: SequenceStep<E, F>,
  f: SequenceStep<F, G>,
): OperatorFunction<A, G>;
export function sequence<A, B, C, D, E, F, G, H>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
  d: SequenceStep<D, E>,
  e: SequenceStep<E, F>,
  f: SequenceStep<F, G>,
  g: SequenceStep<G, H>,
): OperatorFunction<A, H>;
export function sequence<A, B, C, D, E, F, G, H, I, J>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
  d: SequenceStep<D, E>,
  e: SequenceStep<E, F>,
  f: SequenceStep<F, G>,
  g: SequenceStep<G, H>,
  h: SequenceStep<H, I>,
  i: SequenceStep<I, J>,
): OperatorFunction<A, J>;
export function sequence(...steps: readonly UncheckedStep[]): OperatorFunction<unknown, unknown> {
  return (source) =>
    new Observable((subscriber) => {
      if (!(source instanceof Known)) source.subscribe(new SequenceSubscriber(subscriber, steps, 0));
      else if (!runSteps(subscriber, steps, 0, source.value)) subscriber.complete();
    });
}

/** One value that is there already. A sequence takes it without a subscription. */
export class Known<T> extends Observable<T> {
  readonly value: T;

  constructor(value: T) {
    super((subscriber) => {
      subscriber.next(value);
      subscriber.complete();
    });
    this.value = value;
  }
}

/**
 * Runs the steps from an index on, synchronously; only a step that returns an Observable costs a subscription. Returns whether there is
 * one, which completes `to` then.
 */
const runSteps = (to: Subscriber<unknown>, list: readonly UncheckedStep[], from: number, value: unknown): boolean => {
  let current = value;
  for (let next = from; next < list.length; ) {
    try {
      current = list[next]?.(current);
    } catch (error) {
      to.error(error);
      return false;
    }
    next += 1;
    if (current instanceof Observable) {
      current.subscribe(next === list.length ? to : new SequenceSubscriber(to, list, next));
      return true;
    }
  }
  to.next(current);
  return false;
};

/** Runs the steps for the source's value. Ignores what follows a value whose step waits. */
class SequenceSubscriber extends Subscriber<unknown> {
  readonly #to: Subscriber<unknown>;
  readonly #list: readonly UncheckedStep[];
  readonly #from: number;
  #waits = false;

  /** Runs the steps from index `from` on. */
  constructor(to: Subscriber<unknown>, list: readonly UncheckedStep[], from: number) {
    super(to);
    this.#to = to;
    this.#list = list;
    this.#from = from;
  }

  protected override _next(value: unknown): void {
    if (!this.#waits) this.#waits = runSteps(this.#to, this.#list, this.#from, value);
  }

  protected override _complete(): void {
    // Otherwise the awaited step completes it.
    if (!this.#waits) this.#to.complete();
    this.unsubscribe();
  }
}

/** A step whose time is watched under a name, as far as it runs synchronously. */
export const named =
  <In, Out>(name: string, step: SequenceStep<In, Out>): SequenceStep<In, Out> =>
  (value) => {
    const before = enterStep(name);
    try {
      return step(value);
    } finally {
      enterStep(before);
    }
  };

/** A step that only some values take. */
export const onlyIf =
  <T>(applies: (value: T) => boolean, step: SequenceStep<T, T>): SequenceStep<T, T> =>
  (value) =>
    applies(value) ? step(value) : value;

/** From this many bytes on, each step on the body blocks the event loop for some milliseconds. */
const largeBytes = 256 * 1024;

/** Yields to the event loop if the body is large. Placed between the steps that read or write a whole body. */
export const yieldIfLarge =
  <E extends Exchange>(): SequenceStep<E, E> =>
  (exchange) =>
    exchange.body.length < largeBytes ? exchange : timer(0).pipe(map(() => exchange));
