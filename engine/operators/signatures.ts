import { map, Observable } from 'rxjs';
import { type Answered, fill, type Reconciled, type Routed } from '../exchange.ts';
import type { Batch } from '../model/event.ts';
import { reconcileSignatures } from '../reasoning/reconcile-signatures.ts';
import { recallMs, type SharedSignatureCache } from '../reasoning/shared-signatures.ts';
import type { SignatureCache } from '../reasoning/signature-cache.ts';
import { SignatureWatch } from '../reasoning/signature-watch.ts';
import type { SequenceStep } from './rx/sequence.ts';
import type { StreamStage } from './rx/stages.ts';

/**
 * Removes reasoning that another provider issued, and restores this provider's reasoning that the client lost. Waits briefly
 * if only another process may know it.
 */
export const reconcileReasoning = (
  cache: SignatureCache & Partial<SharedSignatureCache>,
): SequenceStep<Routed, Reconciled> => {
  const reconcile = reconcileNow(cache);
  const { recall } = cache;
  if (!recall) return reconcile;
  return (routed) => {
    const { request, resolution, outline } = routed;
    const recalled = recall({ request, provider: resolution.provider.name, isOutline: outline !== undefined });
    return recalled ? within(recalled, recallMs).pipe(map(() => reconcile(routed))) : reconcile(routed);
  };
};

/** Emits when the promise has settled, or after so many milliseconds. */
const within = (promise: Promise<void>, ms: number): Observable<undefined> =>
  new Observable((subscriber) => {
    const settle = (): void => {
      subscriber.next(undefined);
      subscriber.complete();
    };
    // After a long task the answer may be there, unread: it is read before the immediate runs.
    const timer = setTimeout(() => setImmediate(settle), ms);
    promise.then(settle, settle);
    return () => clearTimeout(timer);
  });

const reconcileNow =
  (cache: SignatureCache) =>
  (routed: Routed): Reconciled => {
    const { request, resolution, plan, context, observer } = routed;
    const addressee = { provider: resolution.provider.name, wire: plan.upstream.wire };
    const reconciled = fill(
      routed,
      reconcileSignatures(request, addressee, cache, context.losses.at(plan.format.name)),
    );
    observer.reconciled(reconciled);
    return reconciled;
  };

/** Marks payloads with the provider that issued them, and caches those that the client may lose. */
export const watchSignatures =
  (cache: SignatureCache): StreamStage<Answered, Batch, Batch> =>
  (answered) => {
    const watch = watchOf(answered, cache);
    return { next: (batch) => watch.read(batch) };
  };

export const watchOf = ({ resolution, client, context }: Answered, cache: SignatureCache): SignatureWatch =>
  new SignatureWatch(cache, { provider: resolution.provider.name, client: client.wire, request: context.request });
