import { catchError, defer, type MonoTypeOperatorFunction, map, take, throwError, timeout, toArray } from 'rxjs';
import type { ModelRequest } from '../model/request.ts';
import { stageFailed } from '../stage-failed.ts';
import { asRequest } from './as-request.ts';

/**
 * Runs a stage's request half that is an operator of somebody else's: it has to give one request and complete within the
 * limit. Throws `stage-failed` with its name otherwise, and for what it throws itself.
 */
export const awaitRequest =
  (
    name: string,
    operator: MonoTypeOperatorFunction<ModelRequest>,
    limitMs: number,
  ): MonoTypeOperatorFunction<ModelRequest> =>
  (source) =>
    defer(() => source.pipe(operator, take(2), toArray())).pipe(
      timeout({
        first: limitMs,
        with: () => throwError(() => stageFailed(name, `did not finish with the request within ${limitMs} ms`)),
      }),
      map((requests) => {
        const [request, ...others] = requests;
        if (request === undefined) throw stageFailed(name, 'gave no request');
        if (others.length > 0) throw stageFailed(name, 'gave more than one request');
        return asRequest(request);
      }),
      catchError((error: unknown) => throwError(() => stageFailed(name, 'failed on the request', error))),
    );
