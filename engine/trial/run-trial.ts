import { Buffer } from 'node:buffer';
import { EMPTY, Observable, type Subscription } from 'rxjs';
import { clientProtocols } from '../../protocols/index.ts';
import { noteRoute } from '../config/custom/answers.ts';
import type { StageMemory } from '../config/custom/around.ts';
import { TappedRequest } from '../endpoints/cacheable-prefix.ts';
import { type Answered, Exchange, fill, type Ready, type Reconciled } from '../exchange.ts';
import { bodyText } from '../model/call-body.ts';
import { copyOf, frozen } from '../model/checked/copy.ts';
import type { ReplyContext } from '../model/context.ts';
import type { Batch } from '../model/event.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import type { Losses } from '../model/loss.ts';
import type { ModelRequest } from '../model/request.ts';
import { encodeRequest } from '../operators/call-upstream.ts';
import { Known, sequence } from '../operators/rx/sequence.ts';
import { createTrial } from '../pipeline.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import type { AnswerFunction, GivenAnswer, Halves, SentCall, Tried, TriedCall } from './declared.ts';
import { failureOf, TrialFailure } from './failure.ts';
import { batchesOf } from './given.ts';
import type { Trial } from './trial.ts';

/** Differences of a run from the plain one. */
interface RunOptions {
  /** Cuts the model's answers. */
  readonly cut?: (batches: readonly Batch[]) => readonly Batch[];
  /** The point, from 1, after which the client goes; absent: it stays. */
  readonly leaveAt?: number;
}

/** The outcome of a run. */
export interface TrialOutcome {
  readonly tried: Tried;
  /** The stage isn't as it must be. */
  readonly failure: TrialFailure | undefined;
  /** The points of the run at which a client may go. */
  readonly points: number;
  /** The point at which the client left; `undefined`: it stayed. */
  readonly left: string | undefined;
  /** The calls that are still under way when this is called. */
  readonly open: () => readonly string[];
}

/** More events than any stage gives. */
const maxEvents = 100_000;

/** Maximum calls of one request's stages, as in the service. */
const maxCalls = 16;

/** Runs the stage once. Rejects if what stands in for the gateway fails. */
export const runTrial = (trial: Trial, options: RunOptions = {}): Promise<TrialOutcome> =>
  new Promise((done, reject) => new TrialRun(trial, options, done, reject).begin());

/** A call that the stage made; `events` grows. */
interface Made {
  readonly call: TriedCall;
  readonly events: Batch[];
}

class TrialRun {
  readonly #trial: Trial;
  readonly #options: RunOptions;
  readonly #done: (outcome: TrialOutcome) => void;
  readonly #reject: (error: unknown) => void;
  readonly #memory: StageMemory;
  readonly #tapped: TappedRequest;
  readonly #exchange: Exchange;
  readonly #made: Made[] = [];
  readonly #open = new Set<Made & { readonly place: string }>();
  readonly #after: Batch[] = [];
  readonly #log: Tried['log'][number][] = [];
  readonly #sent: Partial<Halves<SentCall>> = {};
  #losses: Losses | undefined;
  #fault: Fault | undefined;
  #broken: Fault | undefined;
  #cause: unknown;
  #events = 0;
  #points = 0;
  #left: string | undefined;
  #isOver = false;
  #subscription: Subscription | undefined;
  #stuck: NodeJS.Timeout | undefined;

  constructor(
    trial: Trial,
    options: RunOptions,
    done: (outcome: TrialOutcome) => void,
    reject: (error: unknown) => void,
  ) {
    this.#trial = trial;
    this.#options = options;
    this.#done = done;
    this.#reject = reject;
    this.#memory = trial.newMemory();
    this.#tapped = new TappedRequest({ ...trial.gateway, stageMemories: { of: () => this.#memory } });
    this.#exchange = this.#newExchange();
  }

  begin(): void {
    const { signal } = this.#trial;
    if (signal?.aborted) setImmediate(this.#leave);
    signal?.addEventListener('abort', this.#leave, { once: true });
    this.#goesOn();
    const answer = createTrial(this.#tapped.gateway, (answered) => this.#callOf(answered))(new Known(this.#exchange));
    this.#subscription = answer.subscribe({
      next: (batch) => this.#gave(batch),
      error: (error: unknown) => {
        if (!(error instanceof FaultError)) return this.#crash(error);
        this.#fault = error.fault;
        this.#cause ??= error.cause;
        this.#finish();
      },
      complete: () => this.#finish(),
    });
    this.#pass('the request had come');
  }

  #newExchange(): Exchange {
    const { client, protocol, provider, model, spent = { usage: {} }, answer, ask } = this.#trial;
    const headers = new Map(Object.entries(client.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
    const named = `${provider},${model}`;
    return new Exchange({
      incoming: {
        id: 'trial',
        startedAtMs: Date.now(),
        path: client.path ?? clientProtocols.find((one) => one.protocol.wire === protocol.wire)?.paths[0] ?? '',
        namedClient: client.key,
        body: Buffer.from(JSON.stringify({ model: named })),
        header: (name) => headers.get(name),
        backpressure: new Backpressure(),
      },
      client: { ...protocol, decodeRequest: (...given) => ({ ...protocol.decodeRequest(...given), model: named }) },
      preset: client.preset,
      listener: {
        routed: ({ context }) => {
          this.#losses = context.losses;
        },
        stageFailed: (fault, cause) => {
          this.#cause = cause;
          // One that comes after the end isn't in the answer.
          this.#broken ??= fault;
        },
        stageLogged: (_, text, fields) => {
          this.#log.push({ text, fields });
        },
      },
      calls: {
        depth: 0,
        left: { count: maxCalls },
        session: () => client.session,
        spent: () => spent,
        run: ({ kind, request, to, for: asker }) => {
          // Conditions are no part of a trial.
          if (kind === 'decide' || !asker) return EMPTY;
          const { context } = asker;
          const place = kind === 'ask' ? `ask("${to}")` : to === undefined ? 'a further call' : `next to "${to}"`;
          const given = to === undefined ? answer : (ask[to.trim()] ?? '');
          return this.#answer({ place, kind, to, request }, given, context);
        },
      },
    });
  }

  /** The provider's call. It is encoded only for a stage that changes it. */
  #callOf(answered: Answered): Observable<Batch> {
    const { plan } = answered;
    const encode = encodeRequest(this.#tapped.gateway);
    const answer = ({ request, context }: Reconciled) =>
      this.#answer({ place: 'the call', kind: 'next', to: undefined, request }, this.#trial.answer, context);
    if (plan.graph.callStages.length === 0) return answer(answered);
    const bare = { ...plan, graph: { ...plan.graph, callStages: [] } };
    return sequence<Reconciled, Ready, Ready, Batch>(
      (reconciled) => encode(fill(reconciled, { plan: bare })),
      (ready) => {
        Object.assign(this.#sent, { before: shown(ready) });
        return encode(fill(ready, { plan }));
      },
      (ready) => {
        Object.assign(this.#sent, { after: shown(ready) });
        return answer(ready);
      },
    )(new Known<Reconciled>(answered));
  }

  /** An answer that is given, each batch in a turn of its own. */
  #answer(
    { place, kind, to, request }: Pick<TriedCall, 'kind' | 'request' | 'to'> & { readonly place: string },
    given: GivenAnswer | AnswerFunction,
    context: ReplyContext,
  ): Observable<Batch> {
    const { provider, model } = this.#trial;
    const { cut } = this.#options;
    const route = to ?? `${provider},${model}`;
    return new Observable((subscriber) => {
      const events: Batch[] = [];
      const made = { place, call: { kind, ...(to !== undefined && { to }), request, events }, events };
      let turn: NodeJS.Immediate | undefined;
      this.#made.push(made);
      this.#open.add(made);
      subscriber.add(() => {
        this.#open.delete(made);
        clearImmediate(turn);
      });
      const give = (batches: readonly Batch[], at: number): void => {
        turn = setImmediate(() => {
          if (this.#left !== undefined || this.#isOver) return;
          this.#goesOn();
          const batch = batches[at];
          if (!batch) {
            subscriber.complete();
            this.#pass(`${place} had ended`);
            return;
          }
          const own = frozen(copyOf(batch));
          for (const event of own) if (event.type === 'message-start') noteRoute(event, route);
          events.push(own);
          subscriber.next(own);
          this.#pass(`batch ${at + 1} of ${batches.length} of the answer to ${place} had come`);
          give(batches, at + 1);
        });
      };
      this.#goesOn();
      this.#pass(`${place} was made`);
      valueFor(given, request)
        .then((value) => batchesOf(value, `The answer to ${place}`, context))
        .then(
          (batches) => give(cut && kind === 'next' ? cut(batches) : batches, 0),
          (error: unknown) => {
            if (error instanceof FaultError) subscriber.error(error);
            else this.#crash(error);
          },
        );
    });
  }

  #gave(batch: Batch): void {
    this.#after.push(batch);
    this.#events += batch.length;
    for (const event of batch) if (event.type === 'error') this.#fault ??= event.fault;
    if (this.#events > maxEvents) setImmediate(() => this.#fail(`gave more than ${maxEvents} events`));
    this.#pass(`batch ${this.#after.length} of the stage's answer had come`);
  }

  /** A point at which the client may go. If it does, nothing else happens before. */
  #pass(where: string): void {
    this.#points += 1;
    if (this.#points !== this.#options.leaveAt) return;
    this.#left = where;
    setImmediate(this.#leave);
  }

  readonly #leave = (): void => {
    this.#finish();
  };

  /** Restarts the time limit, which is longer than each of the gateway's own. */
  #goesOn(): void {
    clearTimeout(this.#stuck);
    if (this.#isOver) return;
    const ms = 2 * this.#trial.limitMs;
    this.#stuck = setTimeout(() => this.#fail(`gave no end of its answer within ${ms} ms`), ms);
  }

  #fail(what: string): void {
    this.#finish(new TrialFailure(`Transformer "${this.#trial.name}" ${what}.`));
  }

  #crash(error: unknown): void {
    // Before the outcome, which then doesn't count.
    this.#reject(error);
    this.#finish();
  }

  #finish(failure?: TrialFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#stuck);
    this.#trial.signal?.removeEventListener('abort', this.#leave);
    // It may not have been there yet when the answer ended.
    queueMicrotask(() => this.#subscription?.unsubscribe());
    this.#subscription?.unsubscribe();
    this.#exchange.over();
    const fault = this.#broken ?? this.#fault;
    this.#done({
      tried: this.#tried(),
      failure: failure ?? (fault?.kind === 'stage-failed' ? failureOf(fault, this.#cause) : undefined),
      points: this.#points,
      left: this.#left,
      open: () => [...this.#open].map(({ place }) => place),
    });
  }

  #tried(): Tried {
    const { name, protocol } = this.#trial;
    const [step] = this.#tapped.steps;
    const first = this.#made.find(({ call }) => call.kind === 'next' && call.to === undefined);
    const { before, after } = this.#sent;
    return {
      stage: name,
      request: {
        before: step?.before ?? first?.call.request ?? protocol.decodeRequest({}),
        after: first?.call.request,
      },
      ...(before && after && { call: { before, after } }),
      events: { before: first?.events ?? [], after: this.#after },
      calls: this.#made.map(({ call }) => call),
      ...textOf(this.#after),
      fault: this.#fault,
      losses: this.#losses?.list ?? [],
      log: this.#log,
      memory: this.#memory,
    };
  }
}

/** The answer that is given for a request. */
const valueFor = async (given: GivenAnswer | AnswerFunction, request: ModelRequest): Promise<GivenAnswer> =>
  typeof given === 'function' ? given(request) : given;

const shown = ({ call }: Ready): SentCall => {
  const body = parseJson(bodyText(call.body));
  return { headers: call.headers, body: isJsonObject(body) ? body : {} };
};

/** The client's reading of an answer so far. */
const textOf = (batches: readonly Batch[]): Pick<Tried, 'text' | 'finish'> => {
  let text = '';
  for (const event of batches.flat()) {
    if (event.type === 'text-delta') text += event.text;
    if (event.type === 'message-stop') return { text, finish: event.finish };
  }
  return { text };
};
