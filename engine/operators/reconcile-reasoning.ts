import { fill, type Reconciled, type Routed } from '../exchange.ts';
import { reconcileSignatures } from '../reasoning/reconcile-signatures.ts';
import type { SignatureCache } from '../reasoning/signature-cache.ts';
import type { SequenceStep } from './rx/sequence.ts';

/** Removes reasoning that another provider issued, and restores this provider's reasoning that the client lost. */
export const reconcileReasoning =
  (cache: SignatureCache): SequenceStep<Routed, Reconciled> =>
  (routed) => {
    const { request, resolution, plan, context, observer } = routed;
    const addressee = { provider: resolution.provider.name, wire: plan.upstream.wire };
    const reconciled = fill(
      routed,
      reconcileSignatures(request, addressee, cache, context.losses.at(plan.format.name)),
    );
    observer.reconciled(reconciled);
    return reconciled;
  };
