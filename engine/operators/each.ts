import { Observable, type OperatorFunction } from 'rxjs';

/** What is done with the values of a stream, one after the other. `undefined` stands for nothing. */
export interface Work<I, O> {
  /** Comes before all else. */
  readonly first?: O;
  readonly next: (input: I) => O | undefined;
  /** What is still owed once the source has ended well. */
  readonly end?: () => O | undefined;
  /** Comes in place of the source's error, and ends the stream; what it throws is the error then. Absent: errors pass. */
  readonly failed?: (error: unknown) => O | undefined;
}

/**
 * Does this work on each value, in one step of the pipeline where RxJS's own `map`, `filter` and `concat` would take one each:
 * most streams bring one small chunk at a time, and then the steps are what a chunk costs. As with those, what the work throws
 * is the stream's error. `start` is called for each subscription; by calling `last` the work says that what it is about to give
 * ends the stream.
 */
export const each =
  <I, O>(start: (last: () => void) => Work<I, O>): OperatorFunction<I, O> =>
  (source) =>
    new Observable<O>((subscriber) => {
      let over = false;
      const work = start(() => {
        over = true;
      });
      const give = (output: O | undefined): void => {
        if (output !== undefined) subscriber.next(output);
        if (over) subscriber.complete();
      };
      if (work.first !== undefined) subscriber.next(work.first);
      return source.subscribe({
        next(input) {
          if (subscriber.closed) return;
          let output: O | undefined;
          // RxJS would report what is thrown here as nobody's.
          try {
            output = work.next(input);
          } catch (error) {
            subscriber.error(error);
            return;
          }
          give(output);
        },
        complete() {
          over = true;
          try {
            give(work.end?.());
          } catch (error) {
            subscriber.error(error);
          }
        },
        error(error: unknown) {
          over = true;
          if (!work.failed) return subscriber.error(error);
          try {
            give(work.failed(error));
          } catch (thrown) {
            subscriber.error(thrown);
          }
        },
      });
    });
