import { type Observable, type OperatorFunction, of, pipe } from 'rxjs';
import type { Answered, Exchange, Ready, Routed } from './exchange.ts';
import { attempts } from './operators/attempts.ts';
import { breathe } from './operators/breathe.ts';
import { bridgeSilence } from './operators/bridge-silence.ts';
import { callUpstream } from './operators/call-upstream.ts';
import { checkLine } from './operators/check-line.ts';
import { decode } from './operators/decode.ts';
import { encodeRequest } from './operators/encode-request.ts';
import { endOnFault } from './operators/end-on-fault.ts';
import {
  measureBytes,
  measureCall,
  measureEvents,
  measureFaults,
  measureReply,
  measureRoute,
} from './operators/measure.ts';
import { measureRelayed } from './operators/measure-relayed.ts';
import { note } from './operators/note.ts';
import { readEvents } from './operators/read-events.ts';
import { mayRelay, relay } from './operators/relay.ts';
import { renderFaults } from './operators/render-faults.ts';
import { reply } from './operators/reply.ts';
import { route } from './operators/route.ts';
import { settleSignatures } from './operators/settle-signatures.ts';
import { steps } from './operators/steps.ts';
import { tapAnswer, tapDecoded, tapEncoded, tapReply, tapRouted, tapSettled, tapYardOf } from './operators/tap.ts';
import { throwEarlyFault } from './operators/throw-early-fault.ts';
import { transformEvents } from './operators/transform-events.ts';
import { transformRequest } from './operators/transform-request.ts';
import { watchRelayed, watchSignatures } from './operators/watch-signatures.ts';
import { writeParts } from './operators/write-parts.ts';
import type { ReplyPart } from './reply-part.ts';
import type { Yard } from './yard/yard.ts';

/**
 * All that happens to one request, in order. Subscribing starts it; unsubscribing is the one way to cancel it. The taps record
 * what passes them where a request is captured, and are nothing otherwise.
 */
export const serve = (exchange: Exchange, plainYard: Yard): Observable<ReplyPart> => {
  const yard = tapYardOf(exchange, plainYard);
  return of(exchange).pipe(
    direct(exchange, yard), //       the client's bytes → what it asks, and who answers
    attempts(yard, (routed) => attempt(routed, yard)), // until somebody answers: the destination, or its fallbacks
    measureFaults(exchange.meter), // what went wrong → a counter
    bridgeSilence(exchange, yard.keepAliveMs), // a word from us where the upstream has none
    renderFaults(exchange, yard), // a fault, at any point → the client's own error shape
    tapReply(exchange),
    measureReply(exchange.meter, exchange.delivery), // first byte, end and status → counters
  );
};

/** The client's bytes → what it asks, and who is to answer. */
const direct = (exchange: Exchange, yard: Yard): OperatorFunction<Exchange, Routed> =>
  steps(
    decode(yard.config.limits.jsonDepth), // bytes → what the client asks
    tapDecoded(exchange),
    breathe(), //                    others get a turn between the steps that take long with a large body
    route(yard), //                   + provider and model, the line to them, what may pass untouched
    tapRouted(exchange),
    measureRoute(exchange.meter), //  who answers → the counters' labels
  );

/** One try at one destination, with losses and stages of its own. Fails while it may still be somebody else's turn. */
const attempt = (routed: Routed, yard: Yard): Observable<ReplyPart> =>
  of(routed).pipe(
    makeReady(routed, yard), //      the request → the call to make
    callUpstream(yard.upstreams), // + status, and the body as it arrives
    tapAnswer(routed),
    reply(yard, (answered) => (mayRelay(answered) ? passOn(answered, yard) : convert(answered, yard))),
  );

/** The request → the call to make, by the nodes of the line's graph. */
const makeReady = (exchange: Exchange, yard: Yard): OperatorFunction<Routed, Ready> =>
  steps(
    checkLine(), //                  what the destination can't be asked for at all
    settleSignatures(yard.signatures), // earlier reasoning: only this provider's own, and all of that
    tapSettled(exchange),
    transformRequest(yard), //       request → request: each stage's half, in list order
    encodeRequest(), //              request → bytes in the upstream's format, its URL and credentials
    tapEncoded(exchange),
    breathe(),
    note(yard), //                   the decision and the losses → app.log
    measureCall(exchange.meter), //  the upstream's time begins
  );

/** The client's bytes → the call that would be made first. */
export const prepare = (exchange: Exchange, yard: Yard): OperatorFunction<Exchange, Ready> =>
  pipe(direct(exchange, yard), makeReady(exchange, yard));

/** The provider's bytes, untouched. */
const passOn = (answered: Answered, yard: Yard): OperatorFunction<Uint8Array, ReplyPart> =>
  pipe(
    measureBytes(answered.meter),
    throwEarlyFault(answered), // a stream that begins with an error isn't an answer
    watchRelayed(answered, yard.signatures), // read along where a later turn may need it
    measureRelayed(answered, answered.meter), // the usage that it tells
    relay(answered),
  );

/** The provider's bytes → the client's text: one batch per network chunk, all the way. */
const convert = (answered: Answered, yard: Yard): OperatorFunction<Uint8Array, ReplyPart> =>
  pipe(
    measureBytes(answered.meter),
    readEvents(answered), //  bytes  → SSE records, or the whole body → events
    measureEvents(answered.meter), // the usage that they tell
    watchSignatures(answered, yard.signatures), // who minted which payload; what the client may lose
    transformEvents(answered, yard), // each stage's events half, in reverse list order
    endOnFault(answered), //  nothing comes after an `error` event; before the first byte it gets a status
    writeParts(answered), //  events → SSE text, or one whole reply
  );
