import type { Routed } from '../exchange.ts';
import type { SignatureMemory } from '../signatures/memory.ts';
import { settleSignatures as settle } from '../signatures/settle.ts';

/** Leaves out reasoning that another provider signed, and puts back what this one signed and the client lost. */
export const settleSignatures =
  (memory: SignatureMemory) =>
  (routed: Routed): Routed => {
    const { request, resolution, line, context, relays } = routed;
    const addressee = { provider: resolution.provider.name, wire: line.upstream.wire };
    const settled = settle(request, addressee, memory, context.losses.at(line.format.name));
    if (settled.asItCame) return routed;
    return { ...routed, request: settled.request, relays: { ...relays, request: false } };
  };
