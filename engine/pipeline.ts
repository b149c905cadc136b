import { type Observable, type OperatorFunction, of, pipe } from 'rxjs';
import type { Answered, Exchange, Ready, Routed } from './exchange.ts';
import type { ReplyPart } from './http/endpoint.ts';
import { boundContent } from './operators/bound-reply.ts';
import { callUpstream } from './operators/call-upstream.ts';
import { decode } from './operators/decode.ts';
import { encodeRequest } from './operators/encode-request.ts';
import { endOnFault } from './operators/end-on-fault.ts';
import { measurePassThrough, throwEarlyFault } from './operators/inspect-passthrough.ts';
import { keepAlive } from './operators/keep-alive.ts';
import {
  logRoute,
  measureBytes,
  measureCall,
  measureEvents,
  measureReply,
  measureRoute,
  tapAnswer,
  tapDecoded,
  tapEncoded,
  tapReply,
  tapRouted,
  tapSettled,
} from './operators/observe.ts';
import { passRecords } from './operators/pass-records.ts';
import { canPassThrough, passThrough } from './operators/pass-through.ts';
import { readEvents } from './operators/read-events.ts';
import { reconcileReasoning } from './operators/reconcile-reasoning.ts';
import { renderFaults } from './operators/render-faults.ts';
import { retry } from './operators/retry/retry.ts';
import { assertServable, route } from './operators/route.ts';
import { sequence, yieldIfLarge } from './operators/rx/sequence.ts';
import { transformEvents } from './operators/transform-events.ts';
import { transformRequest } from './operators/transform-request.ts';
import { type Ending, newEnding, untilEnd } from './operators/until-end.ts';
import { watchPassThrough, watchSignatures } from './operators/watch-signatures.ts';
import { encodeEvents, writeReply } from './operators/write-reply.ts';
import type { Gateway } from './routing/gateway.ts';

/**
 * A request's whole life, in order. Subscribing starts it; unsubscribing is the only way to cancel it. The `tap` steps record
 * a captured request and do nothing otherwise.
 */
export const serve = (exchange: Exchange, gateway: Gateway): Observable<ReplyPart> =>
  of(exchange).pipe(
    decodeAndRoute(exchange, gateway), // bytes → request → destination, plan
    retry(gateway, (routed) => attempt(routed, gateway)), // until one answers: same, other key, fallbacks
    keepAlive(exchange, gateway.keepAliveMs), // keep-alives while the upstream is silent
    renderFaults(exchange, gateway), // any fault → the client's own error format
    tapReply(exchange),
    measureReply(exchange.observer, exchange.progress), // first byte, end and status → counters
  );

/** The client's bytes → the request, its destination and plan. */
const decodeAndRoute = (exchange: Exchange, gateway: Gateway): OperatorFunction<Exchange, Routed> =>
  sequence(
    decode(gateway.config.limits.jsonDepth, gateway.config), // bytes → request
    tapDecoded(exchange),
    yieldIfLarge(), // lets other requests run between the slow steps of a large body
    route(gateway), // + provider, model, plan, what may pass through
    tapRouted(exchange),
    measureRoute(exchange.observer), // the destination → the metrics' labels
  );

/** One attempt at one destination, with its own losses. Fails while a retry or fallback may still answer. */
const attempt = (routed: Routed, gateway: Gateway): Observable<ReplyPart> =>
  of(routed).pipe(
    prepareCall(routed, gateway), // request → upstream call
    callUpstream(gateway), // + status, and the body as it arrives
    tapAnswer(routed),
    writeReply(gateway, (answered) =>
      canPassThrough(answered) ? inspectAndPass(answered, gateway) : convert(answered, gateway),
    ),
  );

/** The request → the upstream call, by the nodes of the plan's graph. */
const prepareCall = (exchange: Exchange, gateway: Gateway): OperatorFunction<Routed, Ready> =>
  sequence(
    assertServable(), // refuses what this destination can't serve
    reconcileReasoning(gateway.signatures), // earlier reasoning: all of this provider's, none of others'
    tapSettled(exchange),
    transformRequest(gateway), // request → request: each stage, in list order
    encodeRequest(), // request → bytes in the upstream's format, URL, credentials
    tapEncoded(exchange),
    yieldIfLarge(),
    logRoute(gateway), // the decision and the losses → app.log
    measureCall(exchange.observer), // upstream time begins
  );

/** The client's bytes → the upstream call of the first attempt, without making it. */
export const prepare = (exchange: Exchange, gateway: Gateway): OperatorFunction<Exchange, Ready> =>
  pipe(decodeAndRoute(exchange, gateway), prepareCall(exchange, gateway));

/** The provider's bytes, unchanged. */
const inspectAndPass = (answered: Answered, gateway: Gateway): OperatorFunction<Uint8Array, ReplyPart> => {
  const ending = newEnding();
  return pipe(
    measureBytes(answered.observer),
    untilEnd(answered, ending), // the terminal record ends it, not the upstream's socket
    passRecords(answered, ending), // only whole records
    throwEarlyFault(answered), // a stream that begins with an error is a failure
    watchPassThrough(answered, gateway.signatures), // keeps reasoning that a later turn may need
    measurePassThrough(answered, answered.observer), // the reported usage
    passThrough(answered),
  );
};

/** The provider's bytes → the client's format: one batch per network chunk in every step. */
const convert = (answered: Answered, gateway: Gateway): OperatorFunction<Uint8Array, ReplyPart> => {
  const ending = newEnding();
  return pipe(measureBytes(answered.observer), untilEnd(answered, ending), convertEvents(answered, gateway, ending));
};

const convertEvents = (answered: Answered, gateway: Gateway, ending: Ending): OperatorFunction<Uint8Array, ReplyPart> =>
  pipe(
    readEvents(answered, ending), // bytes → SSE records, or the whole body → events
    boundContent(gateway.config.limits), // limits what stages and encoders may collect
    measureEvents(answered.observer), // the reported usage
    watchSignatures(answered, gateway.signatures), // marks who issued each payload; keeps what clients lose
    transformEvents(answered, gateway), // each stage, in reverse list order
    endOnFault(answered), // ends at an `error` event; throws it before the first byte
    encodeEvents(answered), // events → SSE text, or one whole reply
  );
