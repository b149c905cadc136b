import {
  catchError,
  defer,
  finalize,
  from,
  map,
  mergeMap,
  type Observable,
  type OperatorFunction,
  of,
  throwError,
  timeout,
} from 'rxjs';
import { Exchange, fill, type Ready, type Routed } from '../exchange.ts';
import type { Feature } from '../feature.ts';
import type { Endpoint, ReplyPart } from '../http/endpoint.ts';
import { bodyText } from '../model/call-body.ts';
import { FaultError, type FaultKind, fail, faultOf } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../model/json/json.ts';
import { patchText } from '../model/json/replace-member.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { ModelRequest, WireFormat } from '../model/request.ts';
import { callUpstream, encodeRequest } from '../operators/call-upstream.ts';
import { decode, leaveWire } from '../operators/decode.ts';
import { assertServable, route } from '../operators/route.ts';
import { sequence } from '../operators/rx/sequence.ts';
import { collectBytes, stages } from '../operators/rx/stages.ts';
import { reconcileReasoning } from '../operators/signatures.ts';
import { transformRequest } from '../operators/transform.ts';
import { answerHeaders, jsonAnswer, renderFaults, showLimits } from '../operators/write-reply.ts';
import type { CurrentGateway, Gateway } from '../routing/gateway.ts';
import { upstreamUrl } from '../upstream/url.ts';

/** Settings of a counting endpoint for one client protocol. */
interface CountSettings {
  /** The client protocol. */
  readonly client: ClientProtocol;
  readonly decodeCount: ClientProtocol['decodeRequest'];
  /** The vendor's counting endpoint; absent: counts are always estimated. */
  readonly upstream?: AuxiliaryEndpoint;
  /** Members of the reply besides the count. */
  readonly reply?: JsonObject;
  /** Tokens that a wire format's vendors add to prompts invisibly, for estimates. */
  readonly hidden: Readonly<Partial<Record<WireFormat, (request: ModelRequest) => number>>>;
  /** Timeout for the upstream in milliseconds; after it the count is estimated. */
  readonly limitMs: number;
}

/** A vendor's endpoint next to the one for model requests, such as token counting. */
interface AuxiliaryEndpoint {
  /** Suffix to the path of model requests: `/count_tokens`. */
  readonly suffix: string;
  /** Accepted body members; the endpoint rejects others. */
  readonly fields: ReadonlySet<string>;
}

/** A token count and its origin. */
interface Count {
  readonly tokens: number;
  readonly by: 'upstream' | 'estimate';
}

/**
 * The pipeline of a counting request. Prepares the prompt as for a model request, so that the count matches what would be sent.
 * Upstreams of the client's wire format count it themselves; for others it is estimated.
 */
const countTokens = (exchange: Exchange, gateway: Gateway, settings: CountSettings): Observable<ReplyPart> =>
  of(exchange).pipe(
    prepareCount(gateway, settings.decodeCount),
    mergeMap((ready) => askUpstream(ready, gateway, settings).pipe(map((count) => countReply(ready, count, settings)))),
    stages(renderFaults(gateway.config))(exchange),
  );

/** Prepares a counting request like the model request with the same plan; `decodeCount` decodes its body. */
const prepareCount = (gateway: Gateway, decodeCount: CountSettings['decodeCount']): OperatorFunction<Exchange, Ready> =>
  sequence(
    decode(gateway.config, decodeCount),
    route(gateway),
    (routed) => assertServable(fill(routed, { apiKey: availableKey(routed, gateway) })),
    reconcileReasoning(gateway.signatures),
    leaveWire,
    transformRequest(gateway),
    encodeRequest(gateway),
  );

/** The first key without a cooldown; a count doesn't take part in key rotation. */
const availableKey = ({ resolution: { provider, model }, apiKey }: Routed, { health }: Gateway): string => {
  const known = health.of(provider).model(model);
  const nowMs = health.nowMs();
  return provider.apiKeys.find((key) => known.cooldownOf(key, nowMs) === undefined) ?? apiKey;
};

const askUpstream = (ready: Ready, gateway: Gateway, settings: CountSettings): Observable<Count> => {
  const estimated = defer(() => estimate(ready, gateway, settings));
  const { upstream } = settings;
  if (!upstream || ready.plan.upstream.wire !== settings.client.wire) return estimated;
  const { plan, addressAt } = ready;
  const target = plan.targets[addressAt] ?? plan.target;
  const counting = plan.format.counting?.(target);
  if (counting === 'none' || gateway.missing.has(plan, 'counting')) return estimated;
  const call = counting
    ? namedCall(ready, upstream, upstreamUrl(target.baseUrl, counting.path))
    : auxiliaryCall(ready, upstream);
  return of(call).pipe(
    sequence(
      callUpstream(gateway, ({ answer }) => answer.body.pipe(collectBytes(readCount, { maxBytes: maxAnswerBytes }))),
    ),
    timeout({ first: settings.limitMs, with: () => throwError(() => timeoutFault(settings.limitMs)) }),
    catchError((error: unknown) => {
      if (!(error instanceof FaultError)) throw error;
      const { kind, message } = faultOf(error);
      if (countsNothing.has(kind)) gateway.missing.add(plan, 'counting');
      gateway.log.info('the upstream gave no count; it is estimated', { requestId: ready.id, kind, reason: message });
      return estimated;
    }),
  );
};

const maxAnswerBytes = 64 * 1024;

/** Faults of a destination that has no counting endpoint, rather than of one request. */
const countsNothing: ReadonlySet<FaultKind> = new Set(['upstream-not-found', 'upstream-garbled']);

/** Redirects the prepared call to an auxiliary endpoint. */
const auxiliaryCall = (ready: Ready, { suffix, fields }: AuxiliaryEndpoint): Ready => {
  const url = new URL(ready.call.url);
  url.pathname = url.pathname.replace(/(?<!\/)\/*$/, suffix);
  const headers = { ...ready.call.headers, accept: 'application/json' };
  const body = ready.relays.request ? ready.call.body : pickFields(fields, bodyText(ready.call.body));
  return fill(ready, { call: { url, headers, body } });
};

/** Redirects the prepared call to a cloud's counting endpoint, whose body names the model. */
const namedCall = (ready: Ready, { fields }: AuxiliaryEndpoint, url: URL): Ready => {
  const { headers, body } = ready.call;
  const named = patchText(bodyText(body), { model: ready.resolution.model });
  return fill(ready, { call: { url, headers, body: ready.relays.request ? named : pickFields(fields, named) } });
};

/** Drops members of a converted body that the auxiliary endpoint rejects. */
const pickFields = (fields: ReadonlySet<string>, body: string): string => {
  const parsed = parseJson(body);
  return isJsonObject(parsed)
    ? writeJson(Object.fromEntries(Object.entries(parsed).filter(([name]) => fields.has(name))))
    : body;
};

const readCount = (bytes: Uint8Array): Count => {
  const body = parseJson(new TextDecoder().decode(bytes));
  const tokens = isJsonObject(body) ? body.input_tokens : undefined;
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0
    ? { tokens, by: 'upstream' }
    : fail('upstream-garbled', 'The upstream answered without a count.');
};

const timeoutFault = (limitMs: number): FaultError =>
  new FaultError({ kind: 'upstream-timeout', message: `The upstream gave no count within ${limitMs} ms.` });

const estimate = ({ request, plan }: Ready, gateway: Gateway, { hidden }: CountSettings): Observable<Count> =>
  from(gateway.tokens.count(request)).pipe(
    map(({ tokens }) => ({ tokens: tokens + (hidden[plan.upstream.wire]?.(request) ?? 0), by: 'estimate' })),
  );

const countReply = (ready: Ready, { tokens, by }: Count, { reply }: CountSettings): ReplyPart => {
  const body: JsonObject = { ...reply, input_tokens: tokens };
  return {
    type: 'whole',
    status: 200,
    headers: { ...answerHeaders(jsonAnswer, ready), 'x-junctor-count': by },
    body: JSON.stringify(body),
  };
};

/** Endpoint for counting requests, which nothing observes but the limits of named clients; each uses the gateway of that moment. */
export const countTokensEndpoint = (
  settings: CountSettings,
  current: CurrentGateway,
  admit?: Feature['admit'],
): Endpoint => ({
  open: false,
  forClients: true,
  reservesValues: true,
  formatFault: settings.client.encodeFault,
  handle: (incoming, { preset }) => {
    const { gateway } = current;
    const { namedClient } = incoming;
    const admission = namedClient === undefined ? undefined : admit?.({ gateway, namedClient, preset, use: 'count' });
    const { client } = settings;
    const exchange = new Exchange({ incoming, client, preset, admission, ...(admission && { listener: admission }) });
    const parts = countTokens(exchange, gateway, settings);
    if (!admission) return parts;
    return parts.pipe(
      stages(showLimits())(exchange),
      finalize(() => admission.finished?.(200)),
    );
  },
});
