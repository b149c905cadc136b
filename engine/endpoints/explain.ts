import { catchError, defer, map, mergeMap, type Observable, of } from 'rxjs';
import { placeOf } from '../config/custom/load-module.ts';
import { showReferencesIn, showReferencesInFault } from '../config/env.ts';
import { Exchange, isWrapped, type Ready } from '../exchange.ts';
import { bodyText } from '../model/call-body.ts';
import { FaultError, messageOf, quoted } from '../model/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json/json.ts';
import { type ClientProtocol, clientAt, type Headers } from '../model/protocol.ts';
import type { RequestListener } from '../observe/listener.ts';
import { quietLogs } from '../observe/log/logs.ts';
import { exactMask, isSecretName, masked, maskUrl, textMask } from '../observe/log/mask-text.ts';
import { createLossCounter } from '../observe/loss-counter.ts';
import { prepare } from '../pipeline.ts';
import { fallbacksOf } from '../routing/fallbacks.ts';
import { type Gateway, secretsOf } from '../routing/gateway.ts';
import { applies } from '../routing/plan/plan.ts';
import { namesDestination } from '../routing/resolve.ts';
import { factsOf, type RequestFacts, type RequestOrigin } from '../routing/rules/request-facts.ts';
import { explainRules } from '../routing/rules/rules.ts';
import { explainStageCondition } from '../routing/rules/stage-conditions.ts';
import { lessonsInForce } from '../routing/show-taught.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import { type CacheablePrefix, cacheablePrefix, TappedRequest } from './cacheable-prefix.ts';

/** A request to explain. */
interface Question {
  readonly client: ClientProtocol;
  /** Body as a client would send it. */
  readonly body: JsonObject;
  /** The client's headers, by lower-case name. */
  readonly headers: Headers;
  /** Absent: the usual path of its protocol, without a client's key. */
  readonly origin?: Partial<RequestOrigin>;
  /** Time of the request, in milliseconds since 1970. */
  readonly atMs: number;
  /** Also show the request before and after each stage. */
  readonly stages?: boolean;
}

/**
 * Explains a request without calling an upstream: the route and its reason, the upstream request with secrets masked, losses,
 * what is relayed, and fallbacks. Runs the pipeline's own steps, including custom stages, but without logs and counters. Fails
 * with the fault that the client would get.
 */
export const explain = (asked: Question, gateway: Gateway): Observable<Shown> =>
  defer(() => {
    const question = { ...asked, client: clientAt(asked.client, asked.origin?.path ?? '') };
    return explainTapped(
      question,
      new TappedRequest({ ...gateway, log: quietLogs.app, losses: createLossCounter() }),
      gateway,
    );
  });

/** An explanation, and the stages if they were asked for. */
type Shown = ReturnType<typeof show> & { readonly stages?: ReturnType<typeof showStages> };

/** The request before and after each stage that ran. */
const showStages = (steps: TappedRequest['steps'], { config }: Gateway) => {
  const mask = exactMask(secretsOf(config));
  const shown = (request: object): Json => parseJson(mask.text(JSON.stringify(request))) ?? null;
  return steps.map(({ name, entry, before, request }) => ({
    name,
    entry,
    before: shown(before),
    after: shown(request),
  }));
};

const explainTapped = (question: Question, tapped: TappedRequest, gateway: Gateway) => {
  /** Of stages that were left out. */
  const failures: FaultError[] = [];
  const listener: RequestListener = {
    stageFailed: (fault, cause) => void failures.push(new FaultError(fault, { cause })),
  };
  return of(exchangeFor(question, listener)).pipe(
    prepare(tapped.gateway),
    mergeMap((ready) => {
      const steps = question.stages ? [...tapped.steps] : undefined;
      return cacheablePrefix((body) => exchangeFor({ ...question, body }), question.body, ready, tapped).pipe(
        map((prefix) =>
          showReferencesIn(gateway.config.referred, {
            ...show(question, ready, prefix ?? null, gateway, failures),
            ...(steps && { stages: showStages(steps, gateway) }),
          }),
        ),
      );
    }),
    catchError((error: unknown) => {
      if (!(error instanceof FaultError)) throw error;
      const { fault, cause } = withCause(error, gateway);
      throw new FaultError(showReferencesInFault(gateway.config.referred, fault), { cause });
    }),
  );
};

/** A failed stage's fault with its cause and its place, which only the administrator sees. The cause goes to the log, too. */
const withCause = ({ fault, cause }: FaultError, { config, log }: Gateway): FaultError => {
  if (fault.kind !== 'stage-failed' || cause === undefined) return new FaultError(fault, { cause });
  log.error(fault.message, { error: cause });
  const place = placeOf(cause);
  const why = `${cause instanceof Error ? `${cause.name}: ` : ''}${messageOf(cause)}${place === undefined ? '' : ` (${place})`}`;
  const message = `${fault.message.replace(/\.$/, '')}: ${exactMask(secretsOf(config)).text(why)}`;
  return new FaultError({ ...fault, message }, { cause });
};

const exchangeFor = ({ client, body, headers, origin, atMs }: Question, listener: RequestListener = {}): Exchange =>
  new Exchange({
    incoming: {
      id: 'explain',
      startedAtMs: atMs,
      path: origin?.path ?? client.path,
      namedClient: origin?.key,
      body: Buffer.from(JSON.stringify(body)),
      header: (name) => headers[name],
      backpressure: new Backpressure(),
    },
    client,
    preset: origin?.preset,
    listener,
  });

/** The facts by which the request was routed. */
const factsFor = ({ client, body }: Question, ready: Ready, { config, tokens }: Gateway): RequestFacts => {
  const { tokens: count } = ready.resolution;
  const counted = count === undefined ? undefined : ({ tokens: count, by: 'count' } as const);
  return { ...factsOf(ready, tokens, counted), request: client.decodeRequest(body, config) };
};

/** The user's own rules, up to the one that matches; empty if the client names the destination. */
const rulesFor = (facts: RequestFacts, ready: Ready, { config, rules = [] }: Gateway) =>
  namesDestination(facts.request, config) || ready.resolution.scenario === 'module' ? [] : explainRules(rules, facts);

/** The conditions of the destination's stages. */
const conditionsFor = (facts: RequestFacts, { holding, resolution }: Ready, { conditions = [] }: Gateway) =>
  conditions
    .filter(({ entry }) => applies(entry, resolution))
    .map((condition) => explainStageCondition(condition, facts, holding));

/** Parts that a dry run doesn't show: stages around the call, each of which may make several calls, or none. */
const leftOut = (ready: Ready): readonly string[] =>
  isWrapped(ready)
    ? ready.plan.graph.layers.flatMap(({ around }) =>
        around
          ? `Transformer ${quoted(around.name)} (${around.about.entry ?? 'a preset'}) is around the call, so this dry run left it out: it may change the request, call others, or answer by itself.`
          : [],
      )
    : [];

const show = (
  question: Question,
  ready: Ready,
  prefix: CacheablePrefix | null,
  gateway: Gateway,
  failures: readonly FaultError[],
) => {
  const { client, progress, request, resolution, plan, relays, context, call, summarizes, holding } = ready;
  const facts = factsFor(question, ready, gateway);
  const { config, planFor, pools } = gateway;
  const { provider, model, pool, scenario, reason, tokens, warnings } = resolution;
  const secrets = secretsOf(config);
  const maskText = textMask(() => secrets);
  const text = exactMask(secrets).text(bodyText(call.body));
  const body = parseJson(text);
  return {
    client: client.wire,
    asked: progress.requestedModel ?? '',
    scenario,
    reason,
    tokens: tokens ?? null,
    provider: provider.name,
    model,
    pool: pool
      ? {
          name: pool.name,
          strategy: pool.strategy,
          members: pools.states(pool, scenario, ready).map(({ destination, weight, passed = null }) => ({
            provider: destination.provider.name,
            model: destination.model,
            weight,
            passed,
          })),
        }
      : null,
    format: plan.format.name,
    because: plan.choice.because,
    rows: plan.rows,
    stream: request.stream,
    url: maskUrl(call.url.href, maskText),
    headers: Object.fromEntries(
      Object.entries(call.headers).map(([name, value]) => [name, isSecretName(name) ? masked : maskText(value)]),
    ),
    body: isJsonObject(body) ? body : text,
    losses: context.losses.list.map(({ note, ...loss }) => ({ ...loss, ...(note !== undefined && { note }) })),
    taught: lessonsInForce(resolution, gateway),
    relays: { ...relays },
    prefix: prefix && { ...prefix },
    compaction: context.request.compaction
      ? { by: summarizes ? ('model' as const) : ('provider' as const), tokens: context.inputEstimate }
      : null,
    fallbacks: fallbacksOf(resolution, config, (one) => pools.ranked(one, scenario, ready)).map((destination) => {
      const { provider: next, model: asks } = destination;
      const { format, fault } = planFor({ client, provider: next, model: asks, holding });
      return { provider: next.name, model: asks, format: format.name, fault: fault?.message ?? null };
    }),
    rules: rulesFor(facts, ready, gateway),
    conditions: conditionsFor(facts, ready, gateway),
    warnings: [
      ...warnings,
      ...(ready.unjudged === undefined ? [] : [ready.unjudged]),
      ...(ready.decisions?.unasked() ?? []),
      ...leftOut(ready),
      ...failures.map((failure) => withCause(failure, gateway).message),
    ],
  };
};
