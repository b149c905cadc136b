import { map, Observable, type OperatorFunction, Subscriber, timer } from 'rxjs';
import type { Exchange } from '../../exchange.ts';

/** A step that turns one value into the next, synchronously or as an Observable of one value. May throw. */
export type SequenceStep<In, Out> = (value: In) => Out | Observable<Out>;

/** A step of a list whose types the overloads of `sequence` have checked; the type of one list can't express it. */
type UncheckedStep = SequenceStep<unknown, unknown>;

/** Runs steps in order as a single operator, for one value. An operator per step would cost as much as most steps do. */
export function sequence<A, B>(a: SequenceStep<A, B>): OperatorFunction<A, B>;
export function sequence<A, B, C>(a: SequenceStep<A, B>, b: SequenceStep<B, C>): OperatorFunction<A, C>;
export function sequence<A, B, C, D>(
  a: SequenceStep<A, B>,
  b: SequenceStep<B, C>,
  c: SequenceStep<C, D>,
): OperatorFunction<A, D>;
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
export function sequence(...steps: readonly UncheckedStep[]): OperatorFunction<unknown, unknown> {
  return runFrom(steps, 0);
}

/** Runs the steps from index `from` on. */
const runFrom =
  (list: readonly UncheckedStep[], from: number): OperatorFunction<unknown, unknown> =>
  (source) =>
    new Observable((subscriber) => {
      source.subscribe(new SequenceSubscriber(subscriber, list, from));
    });

/** Runs the steps synchronously; only a step that returns an Observable costs a subscription. */
class SequenceSubscriber extends Subscriber<unknown> {
  readonly #to: Subscriber<unknown>;
  readonly #list: readonly UncheckedStep[];
  readonly #from: number;
  #waits = false;

  constructor(to: Subscriber<unknown>, list: readonly UncheckedStep[], from: number) {
    super(to);
    this.#to = to;
    this.#list = list;
    this.#from = from;
  }

  protected override _next(value: unknown): void {
    let current = value;
    for (let index = this.#from; index < this.#list.length; index += 1) {
      try {
        current = this.#list[index]?.(current);
      } catch (error) {
        this.#to.error(error);
        return;
      }
      if (current instanceof Observable) {
        this.#waits = true;
        current.pipe(runFrom(this.#list, index + 1)).subscribe(this.#to);
        return;
      }
    }
    this.#to.next(current);
  }

  protected override _complete(): void {
    // Otherwise the awaited step completes it.
    if (!this.#waits) this.#to.complete();
    this.unsubscribe();
  }
}

/** From this many bytes on, each step on the body blocks the event loop for some milliseconds. */
const largeBytes = 256 * 1024;

/** Yields to the event loop if the body is large. Placed between the steps that read or write a whole body. */
export const yieldIfLarge =
  <E extends Exchange>(): SequenceStep<E, E> =>
  (exchange) =>
    exchange.body.length < largeBytes ? exchange : timer(0).pipe(map(() => exchange));

/**
 * `mergeMap` for a source of exactly one value, at a fraction of its cost. Ignores further values. Unsubscribes from the source
 * when the inner stream ends. Errors with what `project` throws.
 */
export const flatMapOne =
  <I, O>(project: (value: I) => Observable<O>): OperatorFunction<I, O> =>
  (source) =>
    new Observable<O>((subscriber) => {
      source.subscribe(new FlatMapOneSubscriber(subscriber, project));
    });

class FlatMapOneSubscriber<I, O> extends Subscriber<I> {
  readonly #to: Subscriber<O>;
  readonly #project: (value: I) => Observable<O>;
  #hasInner = false;

  constructor(to: Subscriber<O>, project: (value: I) => Observable<O>) {
    super(to);
    this.#to = to;
    this.#project = project;
  }

  protected override _next(value: I): void {
    if (this.#hasInner) return;
    this.#hasInner = true;
    let inner: Observable<O>;
    try {
      inner = this.#project(value);
    } catch (error) {
      this.#to.error(error);
      return;
    }
    inner.subscribe(this.#to);
  }

  protected override _complete(): void {
    if (!this.#hasInner) this.#to.complete();
    this.unsubscribe();
  }
}
