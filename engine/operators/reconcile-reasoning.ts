import type { Routed } from '../exchange.ts';
import { reconcileSignatures } from '../reasoning/reconcile-signatures.ts';
import type { SignatureCache } from '../reasoning/signature-cache.ts';

/** Removes reasoning that another provider issued, and restores this provider's reasoning that the client lost. */
export const reconcileReasoning =
  (cache: SignatureCache) =>
  (routed: Routed): Routed => {
    const { request, resolution, plan, context, passThrough } = routed;
    const addressee = { provider: resolution.provider.name, wire: plan.upstream.wire };
    const reconciled = reconcileSignatures(request, addressee, cache, context.losses.at(plan.format.name));
    if (reconciled.verbatim) return routed;
    return { ...routed, request: reconciled.request, passThrough: { ...passThrough, request: false } };
  };
