import { from, map } from 'rxjs';
import type { Decoded, Routed } from '../exchange.ts';
import { FaultError, fail } from '../model/fault.ts';
import type { Gateway } from '../routing/gateway.ts';
import { resolveRoute, sizeMatters } from '../routing/resolve.ts';
import type { PromptSize } from '../routing/tokens/prompt-tokens.ts';
import { newAttempt } from './retry/new-attempt.ts';
import type { SequenceStep } from './rx/sequence.ts';

/**
 * Chooses the destination and the plan for it. Waits only if the choice depends on an exact token count. Throws `no-route` if no
 * destination fits.
 */
export const route =
  (gateway: Gateway): SequenceStep<Decoded, Routed> =>
  (decoded) => {
    const { request, body, observer } = decoded;
    const resolved = (size: PromptSize | undefined): Routed => {
      const routed = newAttempt(decoded, resolveRoute(request, gateway.config, size), gateway);
      observer.routed(routed);
      return routed;
    };
    if (!sizeMatters(request, gateway.config)) return resolved(undefined);
    const { config, tokens } = gateway;
    const size = tokens.sizeBeside(request, config.router.longContextThreshold, body.length);
    return size ? resolved(size) : from(tokens.count(request)).pipe(map(resolved));
  };

/** Throws the fault of a plan that can't be used, and `unsupported` for fields that only another upstream format can carry. */
export const assertServable =
  () =>
  (routed: Routed): Routed => {
    const { plan, client } = routed;
    if (plan.fault) throw new FaultError(plan.fault);
    if (plan.upstream.wire !== client.wire) refuseOwnWireFields(routed);
    return routed;
  };

/** State stored at one vendor means nothing to another; dropping it would give a wrong answer silently. */
const refuseOwnWireFields = ({ client, asked }: Routed): void => {
  const field = client.ownWireField?.(asked);
  if (field === undefined) return;
  fail(
    'unsupported',
    `${field} needs an upstream that speaks the ${client.wire} format itself; this route's doesn't.`,
    {
      param: field,
      code: 'unsupported_parameter',
    },
  );
};
