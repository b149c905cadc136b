import {
  catchError,
  defer,
  EMPTY,
  finalize,
  type MonoTypeOperatorFunction,
  map,
  Observable,
  of,
  type Subscriber,
  Subscription,
} from 'rxjs';
import { answerOf, noteRoute } from '../config/custom/answers.ts';
import type { Answer, Next } from '../config/custom/around.ts';
import { type Answered, fill, type Ready, type Reconciled, type Routed } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import { copyOf } from '../model/checked/copy.ts';
import { recordStageLosses } from '../model/checked/record-stage-losses.ts';
import type { Batch } from '../model/event.ts';
import { FaultError, quoted, stageFault, Unusable } from '../model/fault.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Gateway } from '../routing/gateway.ts';
import { type Layer, layersAfter } from '../routing/plan/build-graph.ts';
import { inStep, stageStep } from '../runtime/loop-watch.ts';
import { boundContent, boundReply, errorEvent } from './bound-answer.ts';
import { callUpstream, encodeRequest } from './call-upstream.ts';
import { packSummaries } from './compact.ts';
import { leaveWire } from './decode.ts';
import { hideCredentials } from './hide-credentials.ts';
import { learnFrom } from './learn.ts';
import { readEvents } from './read-events.ts';
import { Known, named, type SequenceStep, sequence, yieldIfLarge } from './rx/sequence.ts';
import { stages } from './rx/stages.ts';
import { watchSignatures } from './signatures.ts';
import { mayBeLeftOut, orWithout, type Report } from './skip-stage.ts';
import { stageContext } from './stage-context.ts';
import { limitOf } from './stage-parts.ts';
import { checkedRequest, stageCall, stageFailure, takeCall } from './stage-questions.ts';
import { transformEvents, transformRequest } from './transform.ts';
import { validateOrder } from './validate-order.ts';
import { encodeEvents, endOnFault, sendReply } from './write-reply.ts';

/** An attempt with stages around the call: the events of their answer → the client's parts. */
export const answerWrapped = (gateway: Gateway): SequenceStep<Reconciled, ReplyPart> => {
  const run = runLayers(gateway);
  const write = stages(endOnFault(), encodeEvents(), sendReply({ late: true }));
  const pack = stages(packSummaries({ group: [] }));
  return (reconciled) => {
    const answered = unanswered(reconciled);
    const events = run(answered);
    return (reconciled.summarizes ? events.pipe(pack(answered)) : events).pipe(write(answered));
  };
};

/** The events of a call that a stage makes. Fails with the first fault; until an event has passed, a retry may follow. */
export const answerStage = (gateway: Gateway): SequenceStep<Reconciled, Batch> => {
  const run = runLayers(gateway);
  return (reconciled) => {
    const answered = unanswered(reconciled);
    return failingOnFault(gateway, answered, run(answered)).pipe(
      map((batch) => {
        answered.progress.begun = true;
        return batch;
      }),
    );
  };
};

/** The events of an answer whose call `call` makes, as a client's format would get them. */
export const answerTrial = (gateway: Gateway, call = callInside(gateway)): SequenceStep<Reconciled, Batch> => {
  const run = runLayers(gateway, call);
  return (reconciled) => run(unanswered(reconciled));
};

/** The exchange with what the steps of an answer need, before there is a call: maybe none is made. */
const unanswered = (reconciled: Reconciled): Answered => {
  reconciled.progress.wrapped = { accepted: false };
  return fill(reconciled, {
    relays: { request: false, reply: false },
    call: noCall,
    unjudged: undefined,
    answer: {
      status: 200,
      headers: {},
      body: EMPTY,
      streamed: reconciled.progress.streaming,
      cutter: undefined,
      drain: () => undefined,
    },
  });
};

const noCall: Ready['call'] = { url: new URL('about:blank'), headers: {}, body: '' };

/** The stages after the exchange's position, and the call. */
const runLayers = (gateway: Gateway, call = callInside(gateway)): ((answered: Answered) => Observable<Batch>) => {
  const from = (answered: Answered, layers: readonly Layer[], at: number): Observable<Batch> => {
    const layer = layers[at];
    if (!layer) return call(answered);
    const { requestStages, eventStages, around } = layer;
    const inner = (): Observable<Batch> => {
      const { request } = answered;
      if (!around) return from(answered, layers, at + 1);
      return wrap(answered, request, around, gateway, (changed) => {
        fill(answered, { request: changed });
        return failingOnFault(gateway, answered, from(answered, layers, at + 1));
      });
    };
    const asked =
      requestStages.length > 0
        ? sequence<Reconciled, Reconciled, Batch>(
            transformRequest(gateway, requestStages),
            inner,
          )(new Known<Reconciled>(answered))
        : inner();
    return eventStages.length > 0
      ? asked.pipe(errorsToEvents, stages<Answered, Batch>(transformEvents(eventStages, gateway))(answered))
      : asked;
  };
  return (answered) => {
    const { layers } = answered.plan.graph;
    return from(answered, layersAfter(layers, answered.after), 0);
  };
};

/** A fault as the last event, for stages. */
const errorsToEvents: MonoTypeOperatorFunction<Batch> = catchError((error: unknown) => {
  if (error instanceof FaultError) return of([errorEvent(error.fault)]);
  throw error;
});

/** The upstream call, and its answer's events. */
const callInside = (gateway: Gateway): ((answered: Answered) => Observable<Batch>) => {
  const { limits } = gateway.config;
  const events = stages(boundReply(limits), readEvents(), boundContent(limits), watchSignatures(gateway.signatures));
  const call = sequence<Reconciled, Reconciled, Ready, Ready, Batch>(
    leaveWire,
    named('encode-request', encodeRequest(gateway)),
    yieldIfLarge(),
    named(
      'call-upstream',
      callUpstream(gateway, (answered) => {
        answered.progress.wrapped = { accepted: true };
        const { plan } = answered;
        const route = `${plan.shown.provider},${plan.shown.model}`;
        return events(answered)(answered.answer.body).pipe(
          map((batch) => {
            for (const event of batch) if (event.type === 'message-start') noteRoute(event, route);
            return batch;
          }),
        );
      }),
    ),
  );
  return (answered) => call(new Known<Reconciled>(answered));
};

/** An answer that fails at its first `error` event, after the events before it. What that teaches is learned even if a stage hides it. */
const failingOnFault = (gateway: Gateway, answered: Answered, source: Observable<Batch>): Observable<Batch> =>
  new Observable((subscriber) => {
    const failed = (error: unknown): void => {
      if (error instanceof FaultError) {
        const fault = learnFrom(gateway, answered, hideCredentials(error.fault, answered.call.headers));
        answered.progress.wrapped = { accepted: answered.progress.wrapped?.accepted ?? false, fault };
        subscriber.error(new FaultError(fault, { cause: error.cause }));
      } else subscriber.error(error);
    };
    subscriber.add(
      source.subscribe({
        next(batch) {
          const at = batch.findIndex(({ type }) => type === 'error');
          const error = batch[at];
          if (error?.type !== 'error') {
            subscriber.next(batch);
            return;
          }
          if (at > 0) subscriber.next(batch.slice(0, at));
          failed(new FaultError(error.fault));
        },
        error: failed,
        complete: () => subscriber.complete(),
      }),
    );
  });

/**
 * Runs a stage around the rest. What it throws, and an answer out of order, becomes an `error` event that names it; or the rest runs without
 * it, if its entry says so and it has neither called nor given anything.
 */
const wrap = (
  answered: Answered,
  request: ModelRequest,
  stage: NonNullable<Layer['around']>,
  gateway: Gateway,
  rest: (request: ModelRequest) => Observable<Batch>,
): Observable<Batch> => {
  const { listener } = answered;
  const report: Report = ({ fault, cause }) => {
    if (fault.kind === 'stage-failed') listener.stageFailed?.(fault, cause);
    return fault;
  };
  return defer(() => {
    const run = new AroundRun(answered, stage, gateway, rest, request);
    if (!mayBeLeftOut(stage)) return run.checked(report);
    return orWithout(answered, stage, {
      run: (failed) => run.checked(failed),
      report,
      rest: () => (run.hasCalled ? undefined : rest(request)),
    });
  });
};

/** One run of a stage around the rest: counts its calls, and notices when it waits for nothing. */
class AroundRun {
  readonly #answered: Answered;
  readonly #stage: NonNullable<Layer['around']>;
  readonly #gateway: Gateway;
  readonly #rest: (request: ModelRequest) => Observable<Batch>;
  /** The request to the stage. */
  readonly #asked: ModelRequest;
  /** The request's own call is made. */
  #isCalled = false;
  #isOver = false;
  /** Answers of `next` that were asked for. */
  #prepared = 0;
  /** Subscriptions of `next` so far. */
  #made = 0;
  /** The calls in progress. */
  #open = 0;
  #timer: NodeJS.Timeout | undefined;
  #subscriber: Subscriber<Batch> | undefined;

  constructor(
    answered: Answered,
    stage: NonNullable<Layer['around']>,
    gateway: Gateway,
    rest: (request: ModelRequest) => Observable<Batch>,
    asked: ModelRequest,
  ) {
    this.#answered = answered;
    this.#stage = stage;
    this.#gateway = gateway;
    this.#rest = rest;
    this.#asked = asked;
  }

  /** The request's own call, or another one, is made. */
  get hasCalled(): boolean {
    return this.#made > 0;
  }

  /** The answer of the stage, checked. A failure is its last event. */
  checked(report: Report): Observable<Batch> {
    const { name } = this.#stage;
    const failed = (error: unknown) => report(stageFault(name, 'failed in around', error));
    return this.#answer().pipe(
      catchError((error: unknown) => of([errorEvent(failed(error))])),
      validateOrder(this.#answered.context, (what, at) =>
        report(stageFailure(name, `around, event ${at} of its answer`, `it ${this.#hint(what)}`)),
      ),
      finalize(() => this.#end()),
    );
  }

  #answer(): Observable<Batch> {
    const { name, work } = this.#stage;
    const context = stageContext(this.#answered, this.#stage, this.#gateway);
    return new Observable((subscriber) => {
      this.#subscriber = subscriber;
      this.#watch();
      let given: Answer;
      try {
        given = answerOf(inStep(stageStep(name), () => work.run(copyOf(this.#asked), this.#next, context)));
      } catch (error) {
        subscriber.error(error);
        return;
      }
      subscriber.add(
        given.subscribe({
          next: (batch) => {
            this.#watch();
            if (Array.isArray(batch)) subscriber.next(batch);
            else subscriber.error(new Unusable('the stage emitted something other than a batch of events'));
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });
  }

  /** A hint for the user besides a problem of the answer. */
  #hint(what: string): string {
    return this.#prepared > this.#made && this.#made === 0 ? `${what}, and never subscribed to \`next\`` : what;
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  readonly #next: Next = (request, { to } = {}) => {
    this.#prepared += 1;
    return new Observable((subscriber) => {
      const place = to === undefined ? 'next' : `next(…, { to: ${quoted(String(to))} })`;
      const made = this.#begin(request, to, place);
      this.#made += 1;
      this.#open += 1;
      this.#watch();
      const open = new Subscription(() => {
        this.#open -= 1;
        this.#watch();
      });
      subscriber.add(open);
      subscriber.add(made.subscribe(subscriber));
    });
  };

  /** The call of `next`: the request's own the first time, else one beside it. */
  #begin(given: unknown, to: string | undefined, place: string): Observable<Batch> {
    const { name } = this.#stage;
    const routed: Routed = this.#answered;
    if (this.#isOver) throw stageFailure(name, place, 'it was subscribed to after the answer had ended');
    const request = checkedRequest(given, place, name);
    if (to === undefined && !this.#isCalled) {
      takeCall(routed, name, place);
      this.#isCalled = true;
      recordStageLosses(this.#asked, request, routed.context.losses.at(name));
      return this.#rest(request);
    }
    const call = stageCall(routed, this.#stage, { kind: 'next', request, to }, place);
    return call.pipe(catchError((error: unknown) => settled(error)));
  }

  /** Restarts the time limit, which runs while the stage waits for none of its calls. */
  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isOver || this.#open > 0) return;
    const limitMs = limitOf(this.#stage, this.#gateway);
    this.#timer = setTimeout(() => {
      const what = this.#hint(`it emitted nothing for ${limitMs} ms while none of its calls was under way`);
      this.#subscriber?.error(stageFailure(this.#stage.name, 'around', what));
    }, limitMs);
  }
}

/** The fault of a call beside the request's own. It says nothing of the request's destination, and leads nowhere else. */
const settled = (error: unknown): Observable<never> => {
  if (!(error instanceof FaultError)) throw error;
  const { fault, cause } = error;
  const health = fault.kind.startsWith('upstream-') && { countsAgainstHealth: false };
  throw new FaultError({ ...fault, ...health, settled: true }, { cause });
};
