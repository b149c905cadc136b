import { Observable, type OperatorFunction, Subscriber } from 'rxjs';

/** One step of a request's preparation: gives what the next step needs, at once or when it has it. What it throws is the fault. */
export type Step<In, Out> = (value: In) => Out | Observable<Out>;

type AnyStep = Step<unknown, unknown>;

/** Steps in a row as one operator, for one value: an operator for each would cost as much as what most of them do. */
export function steps<A, B>(...list: readonly [Step<A, B>]): OperatorFunction<A, B>;
export function steps<A, B, C>(...list: readonly [Step<A, B>, Step<B, C>]): OperatorFunction<A, C>;
export function steps<A, B, C, D, E, F>(
  ...list: readonly [Step<A, B>, Step<B, C>, Step<C, D>, Step<D, E>, Step<E, F>]
): OperatorFunction<A, F>;
export function steps<A, B, C, D, E, F, G>(
  ...list: readonly [Step<A, B>, Step<B, C>, Step<C, D>, Step<D, E>, Step<E, F>, Step<F, G>]
): OperatorFunction<A, G>;
export function steps<A, B, C, D, E, F, G, H>(
  ...list: readonly [Step<A, B>, Step<B, C>, Step<C, D>, Step<D, E>, Step<E, F>, Step<F, G>, Step<G, H>]
): OperatorFunction<A, H>;
export function steps<A, B, C, D, E, F, G, H, I>(
  ...list: readonly [Step<A, B>, Step<B, C>, Step<C, D>, Step<D, E>, Step<E, F>, Step<F, G>, Step<G, H>, Step<H, I>]
): OperatorFunction<A, I>;
export function steps<A, B, C, D, E, F, G, H, I, J>(
  ...list: readonly [
    Step<A, B>,
    Step<B, C>,
    Step<C, D>,
    Step<D, E>,
    Step<E, F>,
    Step<F, G>,
    Step<G, H>,
    Step<H, I>,
    Step<I, J>,
  ]
): OperatorFunction<A, J>;
export function steps(...list: readonly Step<never, unknown>[]): OperatorFunction<never, unknown> {
  // The declarations above are the border: each step is given what the one before it gave, which one list can't say.
  const loose = list as readonly AnyStep[];
  return follow(loose, 0);
}

/** The steps from `from` on. */
const follow =
  (list: readonly AnyStep[], from: number): OperatorFunction<unknown, unknown> =>
  (source) =>
    new Observable((subscriber) => {
      source.subscribe(new Walk(subscriber, list, from));
    });

/** Goes through the steps at once; only one that waits costs a subscription. */
class Walk extends Subscriber<unknown> {
  readonly #to: Subscriber<unknown>;
  readonly #list: readonly AnyStep[];
  readonly #from: number;
  #waits = false;

  constructor(to: Subscriber<unknown>, list: readonly AnyStep[], from: number) {
    super(to);
    this.#to = to;
    this.#list = list;
    this.#from = from;
  }

  protected override _next(value: unknown): void {
    let given = value;
    for (let index = this.#from; index < this.#list.length; index += 1) {
      try {
        given = this.#list[index]?.(given);
      } catch (error) {
        this.#to.error(error);
        return;
      }
      if (given instanceof Observable) {
        this.#waits = true;
        given.pipe(follow(this.#list, index + 1)).subscribe(this.#to);
        return;
      }
    }
    this.#to.next(given);
  }

  protected override _complete(): void {
    // Else the end comes from what is waited for.
    if (!this.#waits) this.#to.complete();
    this.unsubscribe();
  }
}
