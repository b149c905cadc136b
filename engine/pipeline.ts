import { identity, type Observable, type OperatorFunction } from 'rxjs';
import {
  type Answered,
  type Exchange,
  hasRequestStages,
  isSummarized,
  isWrapped,
  type Ready,
  type Reconciled,
  type Routed,
  type StageCall,
} from './exchange.ts';
import type { ReplyPart } from './http/endpoint.ts';
import type { Batch } from './model/event.ts';
import { answerStage, answerTrial, answerWrapped } from './operators/around.ts';
import { boundContent, boundReply } from './operators/bound-answer.ts';
import { callUpstream, encodeRequest } from './operators/call-upstream.ts';
import { askForSummary, packSummaries } from './operators/compact.ts';
import { decodeOutline, decodeUnlessPassing, leaveWire, leaveWireForStages } from './operators/decode.ts';
import { keepAlive } from './operators/keep-alive.ts';
import { readEvents } from './operators/read-events.ts';
import { relayReply } from './operators/relay-reply.ts';
import { dryRun } from './operators/retry/dry-run.ts';
import { retry } from './operators/retry/retry.ts';
import { refuseUnservable, route } from './operators/route.ts';
import { Known, named, onlyIf, type SequenceStep, sequence, yieldIfLarge } from './operators/rx/sequence.ts';
import { stages } from './operators/rx/stages.ts';
import { reconcileReasoning, watchSignatures } from './operators/signatures.ts';
import { observeStageCall, routeStageCall } from './operators/stage-calls.ts';
import { transformEvents, transformRequest } from './operators/transform.ts';
import {
  encodeEvents,
  endOnFault,
  observeReply,
  renderFaults,
  sendReply,
  showCost,
  showLimits,
  writeReply,
} from './operators/write-reply.ts';
import type { Gateway } from './routing/gateway.ts';
import { eventStagesOf } from './routing/plan/build-graph.ts';
import { memoize } from './runtime/memoize.ts';

/** A request's whole life, in order; built once per configuration. Only unsubscribing cancels it. */
export const createPipeline = (gateway: Gateway): ((exchange: Exchange) => Observable<ReplyPart>) => {
  const answer = decodeAndRoute(gateway, retry(gateway, attempt(gateway), isOfAnswer));
  const deliver = stages(
    keepAlive(gateway.keepAliveMs), // keep-alives while the upstream is silent
    renderFaults(gateway.config), // any fault → the client's own error format
    {
      group: [
        showLimits(), // a client's own limits, if it has any
        showCost(), // the price, if it is asked for
        observeReply(), // first byte, end and status
      ],
    },
  );
  return (exchange) => deliver(exchange)(answer(new Known(exchange)));
};

/** The client's bytes → the request, its destination and plan, for `then`. */
const decodeAndRoute = <T>(gateway: Gateway, then: SequenceStep<Routed, T>): OperatorFunction<Exchange, T> =>
  sequence(
    named('decode-request', decodeOutline(gateway)), // bytes → request, or its outline if the bytes are likely to be relayed
    yieldIfLarge(), // lets other requests run between the slow steps of a large body
    named('route', route(gateway)), // + provider, model, plan
    then,
  );

/** The request → the upstream call, by the nodes of the plan's graph, for `then`. */
const prepareCall = <T>(gateway: Gateway, then: SequenceStep<Ready, T>): OperatorFunction<Routed, T> =>
  sequence(
    refuseUnservable(gateway), // refuses what this destination can't serve
    reconcileReasoning(gateway.signatures), // earlier reasoning: all of this provider's, none of others'
    named('decode-request', decodeUnlessPassing(gateway)), // an outline → the whole request, where it is needed
    leaveWire, // what only the client's format has → what others have too
    onlyIf(isSummarized, askForSummary(gateway)), // a request to compact → one to write a summary, where the vendor has no compaction
    onlyIf(hasRequestStages, transformRequest(gateway)), // request → request: each stage, in list order
    named('encode-request', encodeRequest(gateway)), // request → bytes in the upstream's format, URL, credentials
    yieldIfLarge(),
    then,
  );

/** The client's bytes → the upstream call, without making it: the first that can be made, as of a request that is answered. */
export const prepare = (gateway: Gateway): OperatorFunction<Exchange, Ready> =>
  decodeAndRoute(gateway, dryRun(gateway, prepareCall(gateway, identity)));

const isOfAnswer = ({ type }: ReplyPart): boolean => type !== 'head';

/** One attempt at one destination, with its own losses. Fails while a retry or fallback may still answer. */
const attempt = (gateway: Gateway): OperatorFunction<Routed, ReplyPart> => {
  const plain = plainAttempt(gateway);
  const wrapped = prepareStages(gateway, answerWrapped(gateway));
  return (source) => {
    if (!(source instanceof Known)) return plain(source);
    if (isWrapped(source.value)) return wrapped(source);
    // An attempt before may have had such stages.
    source.value.progress.wrapped = undefined;
    return plain(source);
  };
};

/** The request → what the stages get that are around its call, for `then`. */
const prepareStages = <T>(gateway: Gateway, then: SequenceStep<Reconciled, T>): OperatorFunction<Routed, T> =>
  sequence(
    refuseUnservable(gateway),
    reconcileReasoning(gateway.signatures),
    named('decode-request', decodeUnlessPassing(gateway)),
    leaveWireForStages,
    onlyIf(isSummarized, askForSummary(gateway)),
    then,
  );

/** A call that a stage makes beside the request's own: the events of its answer. It has its own attempts. */
export const createStageCall = (gateway: Gateway): ((call: StageCall, exchange: Exchange) => Observable<Batch>) => {
  const run = retry(gateway, prepareStages(gateway, answerStage(gateway)), () => true);
  const begin = routeStageCall(gateway);
  return (call, exchange) => sequence(begin, run)(new Known({ call, exchange })).pipe(observeStageCall(exchange));
};

/**
 * One attempt, up to the events of its answer. `call` stands in for the provider and its format; absent: the gateway's upstreams. For trials
 * of stages.
 */
export const createTrial = (
  gateway: Gateway,
  call?: (answered: Answered) => Observable<Batch>,
): OperatorFunction<Exchange, Batch> => {
  const run = prepareStages(gateway, answerTrial(gateway, call));
  return decodeAndRoute(gateway, (routed) => run(new Known(routed)));
};

const plainAttempt = (gateway: Gateway): OperatorFunction<Routed, ReplyPart> => {
  const { limits } = gateway.config;
  const pass = stages(boundReply(limits), relayReply(gateway.signatures), sendReply());
  /** The provider's bytes → the client's format: one batch per network chunk in every stage. */
  const convert = memoize((plan: Routed['plan']) => converted(transformEvents(eventStagesOf(plan.graph), gateway)));
  const summarize = memoize((plan: Routed['plan']) =>
    converted(packSummaries(transformEvents(eventStagesOf(plan.graph), gateway))),
  );
  const converted = (events: ReturnType<typeof transformEvents>) =>
    stages(
      boundReply(limits), // limits a record, or a whole reply
      readEvents(), // bytes → SSE records, or the whole body → events
      boundContent(limits), // limits what stages and encoders may collect
      watchSignatures(gateway.signatures), // marks who issued each payload; keeps what clients lose
      events, // each stage, in reverse list order; of a summary, its block
      endOnFault(), // ends at an `error` event; throws it before the first byte
      encodeEvents(), // events → records, or one whole reply
      sendReply(),
    );
  const reply = writeReply(({ relays, plan, summarizes }) =>
    relays.reply ? pass : summarizes ? summarize(plan) : convert(plan),
  );
  return prepareCall(gateway, named('call-upstream', callUpstream(gateway, reply))); // + the answer as it arrives → the client's parts
};
