import { Observable, type OperatorFunction, Subscriber } from 'rxjs';

/** What is done with the values of a stream, one after the other. `undefined` stands for nothing. */
export interface Work<I, O> {
  /** Comes before all else. */
  readonly first?: O;
  readonly next: (input: I) => O | undefined;
  /** What is still owed once the source has ended well. */
  readonly end?: () => O | undefined;
  /** Comes in place of the source's error, and ends the stream; what it throws is the error then. Absent: errors pass. */
  readonly failed?: (error: unknown) => O | undefined;
  /** Runs last and once, whether the stream has ended, has failed or nobody listens any more. Must not throw. */
  readonly over?: () => void;
}

/**
 * Does this work on each value, in one step of the pipeline where RxJS's own `map`, `filter`, `concat` and `finalize` would take
 * one each: most streams bring one small chunk at a time, and then the steps are what a chunk costs. As with those, what the work
 * throws is the stream's error. `start` is called for each subscription; by calling `last` the work says that what it is about
 * to give ends the stream.
 */
export const each =
  <I, O>(start: (last: () => void) => Work<I, O>): OperatorFunction<I, O> =>
  (source) =>
    new Observable<O>((subscriber) => {
      new Worker(subscriber, start).begin(source);
    });

/** One object where an observer would be four: a subscriber of its own, made as RxJS makes its operators'. */
class Worker<I, O> extends Subscriber<I> {
  /** RxJS forgets its own reference when it lets go. */
  readonly #to: Subscriber<O>;
  readonly #work: Work<I, O>;
  #last = false;

  constructor(to: Subscriber<O>, start: (last: () => void) => Work<I, O>) {
    super(to);
    this.#to = to;
    this.#work = start(() => {
      this.#last = true;
    });
  }

  begin(source: Observable<I>): void {
    const { first } = this.#work;
    if (first !== undefined) this.#to.next(first);
    source.subscribe(this);
  }

  protected override _next(input: I): void {
    let output: O | undefined;
    // RxJS would report what is thrown here as nobody's.
    try {
      output = this.#work.next(input);
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
      output = this.#work.end?.();
    } catch (error) {
      this.#close(error);
      return;
    }
    this.#finish(output);
  }

  protected override _error(error: unknown): void {
    if (!this.#work.failed) {
      this.#close(error);
      return;
    }
    let output: O | undefined;
    try {
      output = this.#work.failed(error);
    } catch (thrown) {
      this.#close(thrown);
      return;
    }
    this.#finish(output);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    // The work is missing where its own start has thrown.
    this.#work?.over?.();
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
