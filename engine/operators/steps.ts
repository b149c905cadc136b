import { isObservable, mergeMap, type Observable, type OperatorFunction, of } from 'rxjs';

/** One step of a request's preparation: gives what the next step needs, at once or when it has it. What it throws is the fault. */
export type Step<In, Out> = (value: In) => Out | Observable<Out>;

type AnyStep = Step<unknown, unknown>;

/** Steps in a row as one operator: an operator for each would cost as much as what most of them do. */
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
  return mergeMap((value) => follow(loose, 0, value));
}

/** The rest of the steps from `at` on. */
const follow = (list: readonly AnyStep[], at: number, value: unknown): Observable<unknown> => {
  let given = value;
  for (let index = at; index < list.length; index += 1) {
    given = list[index]?.(given);
    if (isObservable(given)) return given.pipe(mergeMap((next) => follow(list, index + 1, next)));
  }
  return of(given);
};
