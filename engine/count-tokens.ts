import {
  catchError,
  defer,
  from,
  map,
  mergeMap,
  type Observable,
  type OperatorFunction,
  of,
  throwError,
  timeout,
} from 'rxjs';
import type { Exchange, Ready, Routed } from './exchange.ts';
import { FaultError, fail, faultOf } from './model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from './model/json.ts';
import type { ClientProtocol } from './model/protocol.ts';
import type { ModelRequest, WireFormat } from './model/request.ts';
import { callUpstream } from './operators/call-upstream.ts';
import { checkLine } from './operators/check-line.ts';
import { collectBytes } from './operators/collect-bytes.ts';
import { decode } from './operators/decode.ts';
import { encodeRequest } from './operators/encode-request.ts';
import { jsonHeaders, routeHeaders } from './operators/headers.ts';
import { renderFaults } from './operators/render-faults.ts';
import { route } from './operators/route.ts';
import { settleSignatures } from './operators/settle-signatures.ts';
import { steps } from './operators/steps.ts';
import { transformRequest } from './operators/transform-request.ts';
import type { ReplyPart } from './reply-part.ts';
import type { Yard } from './yard/yard.ts';

/** What counting needs to know of the client's protocol. */
export interface CountSettings {
  /** The protocol, with the decoder of its counting requests. */
  readonly client: ClientProtocol;
  readonly decodeCount: ClientProtocol['decodeRequest'];
  /** What an upstream's counting endpoint adds to the path of its requests: `/count_tokens`. */
  readonly suffix: string;
  /** The members of a body that such an endpoint takes: it refuses others. */
  readonly fields: ReadonlySet<string>;
  /** Tokens that vendors of a wire format add to a prompt unseen. */
  readonly hidden: Readonly<Partial<Record<WireFormat, (request: ModelRequest) => number>>>;
  /** How long an upstream may take, in milliseconds; then the count is made here. */
  readonly limitMs: number;
}

/** A count, and whose it is. */
interface Count {
  readonly tokens: number;
  readonly by: 'upstream' | 'estimate';
}

/**
 * All that happens to one request for a count. It is prepared as its model request would be, so that what is counted is what
 * would be sent; an upstream of the same format is asked for its own count, all others' is estimated.
 */
export const countTokens = (exchange: Exchange, yard: Yard, settings: CountSettings): Observable<ReplyPart> =>
  of(exchange).pipe(
    prepare(yard, settings),
    mergeMap((ready) => askUpstream(ready, yard, settings).pipe(map((count) => countReply(ready, count)))),
    renderFaults(exchange, yard),
  );

const prepare = (yard: Yard, { client, decodeCount }: CountSettings): OperatorFunction<Exchange, Ready> =>
  steps(
    (exchange: Exchange) =>
      decode(yard.config.limits.jsonDepth)({ ...exchange, client: counting(client, decodeCount) }),
    // The line to the upstream is the one of the client's other requests.
    (decoded) => ({ ...decoded, client }),
    route(yard),
    (routed) => ({ ...routed, apiKey: wakingKey(routed, yard) }),
    checkLine(),
    settleSignatures(yard.signatures),
    transformRequest(yard),
    encodeRequest(),
  );

const counting = (client: ClientProtocol, decodeRequest: ClientProtocol['decodeRequest']): ClientProtocol => ({
  ...client,
  decodeRequest,
});

/** The first key that doesn't rest: a count needs no turn of its own. */
const wakingKey = ({ resolution: { provider, model }, apiKey }: Routed, { health }: Yard): string => {
  const known = health.of(provider).model(model);
  const nowMs = health.nowMs();
  return provider.apiKeys.find((key) => known.restOf(key, nowMs) === undefined) ?? apiKey;
};

const askUpstream = (ready: Ready, yard: Yard, settings: CountSettings): Observable<Count> => {
  const estimated = defer(() => estimate(ready, yard, settings));
  if (ready.line.upstream.wire !== settings.client.wire) return estimated;
  return of(countCall(ready, settings)).pipe(
    callUpstream(yard.upstreams),
    mergeMap(({ answer }) => answer.body.pipe(collectBytes(maxAnswerBytes), map(readCount))),
    timeout({ first: settings.limitMs, with: () => throwError(() => tooLate(settings.limitMs)) }),
    catchError((error: unknown) => {
      if (!(error instanceof FaultError)) throw error;
      const { kind, message } = faultOf(error);
      yard.log.info('the upstream gave no count; it is estimated', { requestId: ready.id, kind, reason: message });
      return estimated;
    }),
  );
};

const maxAnswerBytes = 64 * 1024;

const countCall = (ready: Ready, { suffix, fields }: CountSettings): Ready => {
  const url = new URL(ready.call.url);
  url.pathname = url.pathname.replace(/\/*$/, suffix);
  const headers = { ...ready.call.headers, accept: 'application/json' };
  return {
    ...ready,
    call: { url, headers, body: ready.relays.request ? ready.call.body : only(fields, ready.call.body) },
  };
};

/** A body that was written anew is the one of a model request, with fields that mean nothing to a count. */
const only = (fields: ReadonlySet<string>, body: string): string => {
  const written = parseJson(body);
  return isJsonObject(written)
    ? JSON.stringify(Object.fromEntries(Object.entries(written).filter(([name]) => fields.has(name))))
    : body;
};

const readCount = (bytes: Uint8Array): Count => {
  const body = parseJson(new TextDecoder().decode(bytes));
  const tokens = isJsonObject(body) ? body.input_tokens : undefined;
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0
    ? { tokens, by: 'upstream' }
    : fail('upstream-garbled', 'The upstream answered without a count.');
};

const tooLate = (limitMs: number): FaultError =>
  new FaultError({ kind: 'upstream-timeout', message: `The upstream gave no count within ${limitMs} ms.` });

const estimate = ({ request, line }: Ready, yard: Yard, { hidden }: CountSettings): Observable<Count> =>
  from(yard.tokens.count(request)).pipe(
    map(({ tokens }) => ({ tokens: tokens + (hidden[line.upstream.wire]?.(request) ?? 0), by: 'estimate' })),
  );

const countReply = (ready: Ready, { tokens, by }: Count): ReplyPart => {
  const body: JsonObject = { input_tokens: tokens };
  return {
    type: 'whole',
    status: 200,
    headers: { ...jsonHeaders, ...routeHeaders(ready), 'x-switchyard-count': by },
    body: JSON.stringify(body),
  };
};
