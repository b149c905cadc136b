import { Observable, type OperatorFunction, Subscriber } from 'rxjs';

/** Handles the values of a stream, one after the other. A handler emits what it returns, unless that is `undefined`. */
export interface Handlers<I, O> {
  /** Emitted before everything else. */
  readonly first?: O;
  readonly next: (input: I) => O | undefined;
  /** Called when the source completes; its result is the last value. */
  readonly end?: () => O | undefined;
  /** Replaces the source's error by a last value, or by what it throws. If absent, errors pass. */
  readonly failed?: (error: unknown) => O | undefined;
  /** Called once at the end: on completion, error or unsubscription. Must not throw. */
  readonly over?: () => void;
}

/**
 * Makes an operator from handlers, in place of `map`, `filter`, `concat` and `finalize` in a row. Most streams bring small
 * chunks, whose cost is the number of subscribers they pass. `start` is called for each subscription. A handler that calls
 * `last` completes the stream with the value it returns. What a handler throws is the stream's error.
 */
export const operate =
  <I, O>(start: (last: () => void) => Handlers<I, O>): OperatorFunction<I, O> =>
  (source) =>
    new Observable<O>((subscriber) => {
      new HandlerSubscriber(subscriber, start).begin(source);
    });

/** A subscriber class, as RxJS's own operators have: one object instead of an observer with four closures. */
class HandlerSubscriber<I, O> extends Subscriber<I> {
  /** RxJS drops its own reference on unsubscription. */
  readonly #to: Subscriber<O>;
  readonly #handlers: Handlers<I, O>;
  #last = false;

  constructor(to: Subscriber<O>, start: (last: () => void) => Handlers<I, O>) {
    super(to);
    this.#to = to;
    this.#handlers = start(() => {
      this.#last = true;
    });
  }

  begin(source: Observable<I>): void {
    const { first } = this.#handlers;
    if (first !== undefined) this.#to.next(first);
    source.subscribe(this);
  }

  protected override _next(input: I): void {
    let output: O | undefined;
    // RxJS would report an error thrown here as unhandled.
    try {
      output = this.#handlers.next(input);
    } catch (error) {
      this.#to.error(error);
      return;
    }
    if (output !== undefined) this.#to.next(output);
    if (this.#last) this.#to.complete();
  }

  protected override _complete(): void {
    let output: O | undefined;
    try {
      output = this.#handlers.end?.();
    } catch (error) {
      this.#close(error);
      return;
    }
    this.#finish(output);
  }

  protected override _error(error: unknown): void {
    if (!this.#handlers.failed) {
      this.#close(error);
      return;
    }
    let output: O | undefined;
    try {
      output = this.#handlers.failed(error);
    } catch (thrown) {
      this.#close(thrown);
      return;
    }
    this.#finish(output);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    // Missing if `start` has thrown.
    this.#handlers?.over?.();
  }

  #finish(output: O | undefined): void {
    if (output !== undefined) this.#to.next(output);
    this.#to.complete();
    this.unsubscribe();
  }

  #close(error: unknown): void {
    this.#to.error(error);
    this.unsubscribe();
  }
}
