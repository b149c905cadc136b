import { catchError, defer, finalize, type MonoTypeOperatorFunction, map, mergeWith, of, Subject, tap } from 'rxjs';
import type { Batch } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';

/** A stage's operator: its limits, and the report of its failures. */
interface CustomStageOptions {
  /** Time limit to answer a batch, and to complete after the end of its input, in milliseconds. */
  readonly limitMs: number;
  readonly late: (what: string) => Error;
  readonly failed: (error: unknown) => Fault;
}

/**
 * Runs a custom stage's operator on the events. The answer ends in an `error` event if the operator throws, emits nothing within
 * the limit after a batch (an empty batch counts), or doesn't complete within the limit after its input. Uses one timer per
 * request, restarted by each batch.
 */
export const runCustomStage =
  (
    operator: MonoTypeOperatorFunction<Batch>,
    { limitMs, late, failed }: CustomStageOptions,
  ): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      const alarm = new Subject<never>();
      let timer: NodeJS.Timeout | undefined;
      let awaited: 'batch' | 'end' | undefined;
      let sourceError: { readonly error: unknown } | undefined;
      const expect = (what: typeof awaited): void => {
        awaited = what;
        timer = timer?.refresh() ?? setTimeout(ring, limitMs);
      };
      const ring = (): void => {
        if (awaited === 'batch') alarm.error(late(`emitted nothing for ${limitMs} ms after a batch of events`));
        if (awaited === 'end') alarm.error(late(`did not end within ${limitMs} ms after its input`));
      };
      const fed = source.pipe(
        tap({
          next: () => expect('batch'),
          complete: () => expect('end'),
          // A stage may unsubscribe from its input early.
          unsubscribe: () => expect('end'),
          error: (error: unknown) => {
            sourceError = { error };
          },
        }),
      );
      return defer(() =>
        fed.pipe(
          operator,
          map((value) => asBatch(value, late)),
        ),
      ).pipe(
        tap(() => {
          if (awaited === 'batch') awaited = undefined;
        }),
        finalize(() => {
          clearTimeout(timer);
          alarm.complete();
        }),
        mergeWith(alarm),
        catchError((error: unknown) => {
          if (sourceError?.error === error) throw error;
          return of([{ type: 'error', fault: failed(error) } as const]);
        }),
      );
    });

/** A custom module may emit anything. */
const asBatch = (value: unknown, failed: CustomStageOptions['late']): Batch => {
  if (Array.isArray(value)) return value;
  throw failed('emitted something other than a batch of events, which is an array');
};
