import type { Decoded, Routed } from '../exchange.ts';
import { fail } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import type { Gateway } from '../routing/gateway.ts';

/** Lists the gateways that a request has passed. */
const header = 'x-junctor-hops';

/** The longest list; a chain of gateways that don't keep their names would not end otherwise. */
const maxHops = 8;

const hopsOf = ({ incoming }: Pick<Decoded, 'incoming'>): readonly string[] =>
  incoming
    .header(header)
    ?.split(',', maxHops + 1)
    .flatMap((name) => name.trim() || []) ?? none;

const none: readonly string[] = [];

/** Refuses a request that has passed this gateway before: a provider's base URL leads back to it. */
export const refuseLoop = (decoded: Pick<Decoded, 'incoming'>, hop: Gateway['hop']): void => {
  if (decoded.incoming.header(header) === undefined) return;
  const hops = hopsOf(decoded);
  if (!hops.includes(hop()) && hops.length < maxHops) return;
  fail(
    'invalid-request',
    "This request has passed this gateway before: the base URL of a provider leads to the gateway itself. Correct the provider's baseUrl.",
  );
};

/** The header for the next gateway. A vendor's own host is none. */
export const hopHeaders = (routed: Pick<Routed, 'incoming' | 'plan'>, hop: Gateway['hop']): Headers => {
  if (routed.plan.choice.because === 'host') return {};
  const passed = hopsOf(routed);
  return { [header]: passed.length === 0 ? hop() : [...passed, hop()].join(', ') };
};
