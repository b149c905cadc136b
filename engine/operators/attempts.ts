import { defer, finalize, mergeMap, type Observable, type OperatorFunction, retry, tap } from 'rxjs';
import type { Routed } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import { Journey } from '../retry/journey.ts';
import type { Yard } from '../yard/yard.ts';

/**
 * Runs `attempt` until one begins an answer: at the destination, there again where that may help, then at its fallbacks. What
 * fails after an answer has begun stays failed. Unsubscribing ends it wherever it stands, also between two tries.
 */
export const attempts = (
  yard: Yard,
  attempt: (routed: Routed) => Observable<ReplyPart>,
): OperatorFunction<Routed, ReplyPart> =>
  mergeMap((routed) => {
    const journey = new Journey(routed, yard);
    return defer(() => {
      const parts = attempt(journey.depart());
      return journey.isProbe ? parts.pipe(proveWith(journey)) : parts;
    }).pipe(
      // Runs after `delay` where the try fails, and costs the parts of one that doesn't nothing.
      finalize(() => journey.conclude()),
      retry({ delay: (error: unknown) => journey.goOn(error) }),
      finalize(() => journey.end()),
    );
  });

/** Lets others through as soon as the one request that tries gets an answer, however long that lasts. */
const proveWith = (journey: Journey) =>
  tap<ReplyPart>((part) => {
    if (part.type !== 'head' && journey.isProbe) journey.prove();
  });
