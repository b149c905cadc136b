import { Observable, type OperatorFunction, Subscriber } from 'rxjs';

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
