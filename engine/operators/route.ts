import { from, map, type Observable } from 'rxjs';
import type { LoadedRouter } from '../config/custom/load-router.ts';
import { type Decoded, fill, type Routed } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import { FaultError, fail, unsupported } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { ModelRequest, Part } from '../model/request.ts';
import { ToolNames } from '../model/wire/tool-names.ts';
import { fallbacksOf } from '../routing/fallbacks.ts';
import type { Gateway } from '../routing/gateway.ts';
import { askedName } from '../routing/model-names.ts';
import type { Plan } from '../routing/plan/plan.ts';
import { namesDestination, needsTokenCount, type Resolution, resolveRoute } from '../routing/resolve.ts';
import { agentHint } from '../routing/rules/request-facts.ts';
import { matchRules, type RuleResult } from '../routing/rules/rules.ts';
import { positionsThatHold, type StageConditions } from '../routing/rules/stage-conditions.ts';
import type { PromptSize } from '../routing/tokens/prompt-tokens.ts';
import { askRouter } from './ask-router.ts';
import { refuseLoop } from './hops.ts';
import { judge } from './judge.ts';
import { type SequenceStep, sequence } from './rx/sequence.ts';

/**
 * Chooses the destination and the plan for it. Waits only if the choice depends on an exact token count or a router module. Throws
 * `no-route` if no destination fits, and `invalid-request` if the request has passed this gateway before.
 */
export const route = (gateway: Gateway): SequenceStep<Decoded, Routed> => {
  const { conditions } = gateway;
  const choose = chooseRoute(gateway);
  if (!conditions) return choose;
  return (decoded) => (decoded.holding ? choose(decoded) : judgeConditions(gateway, conditions, decoded, choose));
};

/** Finds out which stages' conditions hold, once for all attempts. Counts the tokens, and asks models, if that depends on it. */
const judgeConditions = (
  gateway: Gateway,
  conditions: StageConditions,
  decoded: Decoded,
  then: SequenceStep<Decoded, Routed>,
): Routed | Observable<Routed> => {
  nameReferred(decoded, gateway.config);
  return judge(
    gateway,
    decoded,
    (facts) => positionsThatHold(conditions, facts),
    (holding = noneHold) => then(fill(decoded, { holding })),
  );
};

const noneHold: ReadonlySet<number> = new Set();

/** Clients may ask for a name by the variable that it comes from. */
const nameReferred = (decoded: Decoded, config: Gateway['config']): void => {
  const { request } = decoded;
  if (config.referred && request.model.includes('$'))
    fill(decoded, { request: { ...request, model: askedName(request.model, config) } });
};

const chooseRoute =
  (gateway: Gateway): SequenceStep<Decoded, Routed> =>
  (decoded) => {
    const { config, rules, registry } = gateway;
    refuseLoop(decoded, gateway.hop);
    if (config.referred) nameReferred(decoded, config);
    if ((!rules && !registry.router) || namesDestination(decoded.request, config)) return routeBySize(gateway, decoded);
    return registry.router ? routeByModule(gateway, registry.router, decoded) : routeByRules(gateway, decoded);
  };

/** Asks the router module first. */
const routeByModule = (gateway: Gateway, router: LoadedRouter, decoded: Decoded): Observable<Routed> =>
  askRouter(router, decoded, gateway).pipe(
    sequence((own) =>
      own ? routeTo(gateway, decoded, undefined, { route: own, warnings: [] }) : routeByRules(gateway, decoded),
    ),
  );

/** Applies the user's own rules first. */
const routeByRules = (gateway: Gateway, decoded: Decoded): Routed | Observable<Routed> => {
  const { config, rules = [] } = gateway;
  return judge(
    gateway,
    decoded,
    (facts) => matchRules(rules, facts, config),
    (own, size) => (size ? routeTo(gateway, decoded, size, own) : routeBySize(gateway, decoded, own)),
  );
};

/** Counts the tokens if the scenario depends on the count. */
const routeBySize = (gateway: Gateway, decoded: Decoded, own?: RuleResult): Routed | Observable<Routed> => {
  const { config, tokens } = gateway;
  const { request, body, outline } = decoded;
  if (own?.route || !needsTokenCount(request, config)) return routeTo(gateway, decoded, undefined, own);
  const size = tokens.sizeRelativeTo(request, gateway.longContext().threshold, body.length, outline);
  if (size) return routeTo(gateway, decoded, size, own);
  return from(tokens.count(request, outline)).pipe(sequence((count) => routeTo(gateway, decoded, count, own)));
};

/** Routes by the facts known so far. Waits only if the client's limits depend on other processes. */
const routeTo = (
  gateway: Gateway,
  decoded: Decoded,
  size: PromptSize | undefined,
  own?: RuleResult,
): Routed | Observable<Routed> => {
  const { config, pools } = gateway;
  const { request } = decoded;
  const requestClass = requestClassOf(decoded, config);
  const longContext = size ? gateway.longContext() : undefined;
  const hints = own || requestClass !== undefined || longContext ? { own, requestClass, longContext } : undefined;
  const found = resolveRoute(request, config, size, hints);
  return routeAs(found.pool ? pools.choose(found, decoded) : found, decoded, gateway);
};

/** Takes this route, if the client's limits allow it. Waits only if they depend on other processes. */
export const routeAs = (resolution: Resolution, decoded: Decoded, gateway: Gateway): Routed | Observable<Routed> => {
  const { request, listener, admission } = decoded;
  const routed = newAttempt(decoded, resolution, gateway);
  listener.routed?.(routed);
  if (!admission) return routed;
  const need = { input: routed.context.inputEstimate, maxTokens: request.maxTokens };
  const admitted = admission.admit(resolution, need, gateway.config);
  return admitted ? from(admitted).pipe(map(() => routed)) : routed;
};

/** The request class that an agent declares, if a scenario depends on it. */
const requestClassOf = ({ client, incoming }: Decoded, { router }: Gateway['config']): string | undefined =>
  router.routes.background === undefined && router.routes.compact === undefined
    ? undefined
    : agentHint(client, incoming, 'requestClass');

/** Refuses what the destination can't serve: as `assertServable`, and a prompt that surely exceeds the model's window. */
export const refuseUnservable =
  (gateway: Gateway): SequenceStep<Routed, Routed> =>
  (routed) => {
    assertServable(routed);
    // Of a conversation to be summarized, tool output is shortened first.
    return routed.summarizes ? routed : refuseOverlong(routed, gateway);
  };

/** Throws the fault of a plan that can't be used, and `unsupported` for fields that only another upstream format can carry. */
export const assertServable = (routed: Routed): Routed => {
  const { plan, client } = routed;
  if (plan.fault) throw new FaultError(plan.fault);
  if (plan.upstream.wire !== client.wire) refuseOwnWireFields(routed);
  return routed;
};

/** State stored at one vendor means nothing to another; dropping it would give a wrong answer silently. */
const refuseOwnWireFields = ({ client, clientBody }: Routed): void => {
  const field = client.ownWireField?.(clientBody);
  if (field === undefined) return;
  const { path, why } = field;
  const need = `${path} needs an upstream that speaks the ${client.wire} format itself; this route's doesn't`;
  unsupported(path, why === undefined ? `${need}.` : `${need}: ${why}.`);
};

/** Vendors count differently than the gateway. A prompt is surely too long where it exceeds the window by half. */
const margin = 1.5;

/** A body with fewer bytes per token of the limit isn't checked: its prompt probably fits. */
const leastBytesPerToken = 4;

/**
 * Rejects a prompt that surely exceeds the model's known window, with the message on which clients compact a conversation: some servers
 * would cut it silently. Accepts it if a fallback may have room, or if no window is known; then the vendor decides.
 */
export const refuseOverlong = <R extends Routed>(routed: R, { config, tokens, modelFacts, pools }: Gateway): R => {
  const { plan, body, request, outline, resolution } = routed;
  const { window } = plan;
  if (window === undefined || body.length < window * margin * leastBytesPerToken) return routed;
  const size = tokens.sizeRelativeTo(request, window * margin, body.length, outline);
  if (!size || size.by === 'estimate' || size.tokens <= window * margin) return routed;
  const rooms = fallbacksOf(resolution, config, (pool) => pools.ranked(pool, resolution.scenario, routed)).map(
    modelFacts,
  );
  if (rooms.some(({ context }) => context === undefined || size.tokens <= context * margin)) return routed;
  return fail('upstream-context', `prompt is too long: ${size.tokens} tokens > ${window} maximum`);
};

/** Prepares an attempt at a destination. */
export const newAttempt = (decoded: Decoded, resolution: Resolution, gateway: Gateway): Routed => {
  const { request, provider, model } = resolution;
  const plan = gateway.planFor({ client: decoded.client, provider, model, holding: decoded.holding });
  const context = newContext(decoded, resolution);
  return fill(decoded, {
    request,
    resolution,
    plan,
    context,
    apiKey: provider.apiKeys[0] ?? '',
    addressAt: 0,
    retries: 0,
    summarizes:
      request.compaction !== undefined &&
      decoded.client.summary !== undefined &&
      !compactsItself(plan, decoded.client, gateway),
    withoutReasoning: false,
    leftOut: undefined,
  });
};

/** Whether the vendor summarizes the conversation in the client's own format. */
const compactsItself = (plan: Plan, client: ClientProtocol, { missing }: Gateway): boolean =>
  plan.upstream.compacts === true && plan.upstream.wire === client.wire && !missing.has(plan, 'compaction');

/** The context of an attempt. Losses and tool names start afresh, since those of an earlier attempt don't apply. */
export const newContext = (decoded: Decoded, { request, model, tokens }: Resolution): ReplyContext => {
  const { client, clientBody, body, progress, seed, startedAtMs } = decoded;
  const context = {
    id: seed,
    startedAtMs,
    nowMs: Date.now,
    request,
    clientBody,
    model,
    names: new ToolNames(),
    losses: new Losses(client.wire, { names: client.fieldNames, body: clientBody }),
    inputEstimate: tokens ?? estimateTokens(request, body.length),
  };
  progress.context = context;
  return context;
};

/** Bytes of a request's JSON per token; a rule of thumb. */
const bytesPerToken = 4;
/** Tokens of a medium image, as vendors count it. */
const tokensPerImage = 1_500;

/**
 * Estimates a prompt's tokens from the length of its body. Used only for the provisional count at the start of a stream; no
 * decision depends on it.
 */
const estimateTokens = (request: ModelRequest, bodyBytes: number): number => {
  let binary = 0;
  let images = 0;
  const visit = (part: Part): void => {
    if (part.type === 'tool-result') part.content.forEach(visit);
    if ((part.type === 'image' || part.type === 'document') && part.source.kind === 'base64') {
      binary += part.source.data.length;
      images += 1;
    }
  };
  for (const turn of request.turns) turn.parts.forEach(visit);
  return Math.ceil((bodyBytes - binary) / bytesPerToken) + images * tokensPerImage;
};

/** The request without the lines that it holds for the client's own vendor alone, unless that is the destination. */
export const leaveOutAttribution = ({ request, plan, client }: Routed): ModelRequest =>
  !client.attribution || plan.upstream.readsAttribution ? request : leaveOutNotes(request, client.attribution);

type Attribution = NonNullable<Routed['client']['attribution']>;

/**
 * The members of a request that differ without what is for the client's own vendor alone; `undefined`: none, or the destination is that vendor.
 * Another wire format drops them all.
 */
export const fieldsWithoutAttribution = ({ extra }: ModelRequest, { plan, client }: Routed): JsonObject | undefined =>
  !client.attribution ||
  plan.upstream.readsAttribution ||
  extra?.wire !== client.wire ||
  plan.upstream.wire !== client.wire
    ? undefined
    : client.attribution.fieldsWithout(extra.fields);

/** The request as it is sent: stages see what is for the client's own vendor alone, other providers don't. */
export const leaveOutFields = (request: ModelRequest, routed: Routed): ModelRequest => {
  const left = fieldsWithoutAttribution(request, routed);
  const { extra } = request;
  if (!left || !extra) return request;
  const losses = routed.context.losses.at(routed.plan.format.name);
  for (const name of Object.keys(left)) losses.approximate(name, "without what is for the client's own vendor alone");
  return { ...request, extra: { ...extra, fields: { ...extra.fields, ...left } } };
};

const leaveOutNotes = (request: ModelRequest, attribution: Attribution): ModelRequest => {
  const system = request.system.map((part) => {
    const text = attribution.textWithout(part.text);
    return text === part.text ? part : { ...part, text };
  });
  return system.every((part, index) => part === request.system[index])
    ? request
    : { ...request, system: system.filter(({ text }) => text !== '') };
};
