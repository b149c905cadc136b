import { catchError, defer, finalize, type MonoTypeOperatorFunction, map, mergeWith, of, Subject, tap } from 'rxjs';
import type { Fault } from '../model/fault.ts';
import type { Batch } from './read-events.ts';

/** What the guard must know of a stage. */
export interface OperatorGuard {
  /** How long it may be silent after a batch, and take to complete after the answer's end, in milliseconds. */
  readonly limitMs: number;
  readonly late: (what: string) => Error;
  readonly failed: (error: unknown) => Fault;
}

/**
 * Runs a stage's events half that is an operator of somebody else's. A stage that throws, or says nothing for the limit after
 * a batch has come (an empty batch is a word), or doesn't complete in time after its input has, ends the answer in an `error`
 * event. One timer per request, restarted by each batch.
 */
export const runOperatorHalf =
  (
    operator: MonoTypeOperatorFunction<Batch>,
    { limitMs, late, failed }: OperatorGuard,
  ): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      const alarm = new Subject<never>();
      let timer: NodeJS.Timeout | undefined;
      let owes: 'a batch' | 'its end' | undefined;
      let fromSource: { readonly error: unknown } | undefined;
      const expect = (what: typeof owes): void => {
        owes = what;
        timer = timer?.refresh() ?? setTimeout(ring, limitMs);
      };
      const ring = (): void => {
        if (owes === 'a batch') alarm.error(late(`gave nothing for ${limitMs} ms after a batch of events`));
        if (owes === 'its end') alarm.error(late(`did not end within ${limitMs} ms after its input`));
      };
      const fed = source.pipe(
        tap({
          next: () => expect('a batch'),
          complete: () => expect('its end'),
          // A stage may also have had enough.
          unsubscribe: () => expect('its end'),
          error: (error: unknown) => {
            fromSource = { error };
          },
        }),
      );
      return defer(() => fed.pipe(operator, map(asBatch))).pipe(
        tap(() => {
          if (owes === 'a batch') owes = undefined;
        }),
        finalize(() => {
          clearTimeout(timer);
          alarm.complete();
        }),
        mergeWith(alarm),
        catchError((error: unknown) => {
          if (fromSource?.error === error) throw error;
          return of([{ type: 'error', fault: failed(error) } as const]);
        }),
      );
    });

/** What a module gives may be anything. */
const asBatch = (given: unknown): Batch => {
  if (Array.isArray(given)) return given;
  throw new TypeError('the stage gave something else than a batch of events');
};
