import { type Observable, type OperatorFunction, of, pipe } from 'rxjs';
import type { Answered, Exchange } from './exchange.ts';
import { bridgeSilence } from './operators/bridge-silence.ts';
import { callUpstream } from './operators/call-upstream.ts';
import { decode } from './operators/decode.ts';
import { endOnFault } from './operators/end-on-fault.ts';
import { note } from './operators/note.ts';
import { readEvents } from './operators/read-events.ts';
import { mayRelay, relay } from './operators/relay.ts';
import { renderFaults } from './operators/render-faults.ts';
import { reply } from './operators/reply.ts';
import { route } from './operators/route.ts';
import { eventHalves, runAll } from './operators/run.ts';
import { transformRequest } from './operators/transform-request.ts';
import { writeParts } from './operators/write-parts.ts';
import type { ReplyPart } from './reply-part.ts';
import type { Yard } from './yard/yard.ts';

/** All that happens to one request, in order. Subscribing starts it; unsubscribing is the one way to cancel it. */
export const serve = (exchange: Exchange, yard: Yard): Observable<ReplyPart> =>
  of(exchange).pipe(
    decode(yard.config.limits.jsonDepth), // the client's bytes → what it asks
    route(yard), //                  + provider and model, the stages on the way, what may pass untouched
    transformRequest(), //           each stage's request half in list order, then the upstream's format
    note(yard), //                   the decision and the losses → app.log
    callUpstream(yard.upstreams), // + status, and the body as it arrives
    reply(yard, (answered) => (mayRelay(answered) ? relay(answered) : convert(answered))),
    bridgeSilence(exchange, yard.keepAliveMs), // a word from us where the upstream has none
    renderFaults(exchange, yard), // a fault, at any point → the client's own error shape
  );

/** The provider's bytes → the client's text: one batch per network chunk, all the way. */
const convert = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  pipe(
    readEvents(answered), //  bytes  → SSE records, or the whole body → events
    runAll(eventHalves(answered.line.stages), answered.context), // events → events, in reverse list order
    endOnFault(answered), //  nothing comes after an `error` event; before the first byte it gets a status
    writeParts(answered), //  events → SSE text, or one whole reply
  );
