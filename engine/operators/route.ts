import { from, map, type Observable } from 'rxjs';
import { type Decoded, fill, type Routed } from '../exchange.ts';
import { toClientPath } from '../model/client-paths.ts';
import type { ReplyContext } from '../model/context.ts';
import { FaultError, fail } from '../model/fault.ts';
import { Losses } from '../model/loss.ts';
import { ToolNames } from '../model/wire/tool-names.ts';
import type { Gateway } from '../routing/gateway.ts';
import { namesDestination, type Resolution, resolveRoute, sizeMatters } from '../routing/resolve.ts';
import { agentHint, factsOf } from '../routing/rules/facts.ts';
import { matchRules, type RuleResult } from '../routing/rules/rules.ts';
import { estimateTokens } from '../routing/tokens/estimate.ts';
import type { PromptSize } from '../routing/tokens/prompt-tokens.ts';
import { askRouter } from './ask-router.ts';
import { type SequenceStep, sequence } from './rx/sequence.ts';

/**
 * Chooses the destination and the plan for it. Waits only if the choice depends on an exact token count. Throws `no-route` if no
 * destination fits.
 */
export const route =
  (gateway: Gateway): SequenceStep<Decoded, Routed> =>
  (decoded) => {
    const { config, tokens, rules, registry } = gateway;
    const { request, body, outline, observer } = decoded;
    const resolved = (size: PromptSize | undefined, own?: RuleResult): Routed | Observable<Routed> => {
      const hints = { own, requestClass: requestClassOf(decoded, config) };
      const resolution = gateway.pools.choose(resolveRoute(request, config, size, hints), decoded);
      const routed = newAttempt(decoded, resolution, gateway);
      observer.routed(routed);
      const { namedClient, context } = routed;
      const need = { input: context.inputEstimate, maxTokens: request.maxTokens };
      const admitted = namedClient?.admit(resolution, need, config);
      return admitted ? from(admitted).pipe(map(() => routed)) : routed;
    };
    const counted = (then: (size: PromptSize) => Routed | Observable<Routed>): Observable<Routed> =>
      from(tokens.count(request, outline)).pipe(sequence(then));
    const resolvedBySize = (own?: RuleResult): Routed | Observable<Routed> => {
      if (own?.route || !sizeMatters(request, config)) return resolved(undefined, own);
      const size = tokens.sizeBeside(request, config.router.longContextThreshold, body.length, outline);
      return size ? resolved(size, own) : counted((count) => resolved(count, own));
    };
    const resolvedByRules = (): Routed | Observable<Routed> => {
      if (!rules) return resolvedBySize();
      const own = matchRules(rules, factsOf(decoded, tokens), config);
      return own
        ? resolvedBySize(own)
        : counted((count) => resolved(count, matchRules(rules, factsOf(decoded, tokens, count), config)));
    };
    if ((!rules && !registry.router) || namesDestination(request, config)) return resolvedBySize();
    if (!registry.router) return resolvedByRules();
    return askRouter(registry.router, decoded, gateway).pipe(
      sequence((own) => (own ? resolved(undefined, { route: own, warnings: [] }) : resolvedByRules())),
    );
  };

/** What an agent says its request is, where that matters. */
const requestClassOf = ({ client, clientHeader }: Decoded, { router }: Gateway['config']): string | undefined =>
  router.routes.background === undefined ? undefined : agentHint({ client, header: clientHeader }, 'requestClass');

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

/** Prepares an attempt at a destination. */
export const newAttempt = (decoded: Decoded, resolution: Resolution, gateway: Gateway): Routed => {
  const { request, provider, model } = resolution;
  const plan = gateway.planFor({ client: decoded.client, provider, model });
  const context = newContext(decoded, resolution);
  return fill(decoded, { request, resolution, plan, context, apiKey: provider.apiKeys[0] ?? '', retries: 0 });
};

/** The context of an attempt. Losses and tool names start afresh, since those of an earlier attempt don't apply. */
export const newContext = (decoded: Decoded, { request, model, tokens }: Resolution): ReplyContext => {
  const { client, asked, body, progress, seed, startedAtMs } = decoded;
  const context = {
    id: seed,
    startedAtMs,
    nowMs: Date.now,
    request,
    asked,
    model,
    names: new ToolNames(),
    losses: new Losses(client.wire, toClientPath(client.fieldNames, asked)),
    inputEstimate: tokens ?? estimateTokens(request, body.length),
  };
  progress.context = context;
  return context;
};
