import type { Observable } from 'rxjs';
import type { Config } from './config/config.ts';
import type { Spent } from './config/custom/around.ts';
import type { Destination } from './config/sections/destination.ts';
import type { CallBody } from './model/call-body.ts';
import type { ReplyContext } from './model/context.ts';
import type { Batch, ModelEvent } from './model/event.ts';
import type { Fault } from './model/fault.ts';
import type { JsonObject } from './model/json/json.ts';
import type { Outline } from './model/json/outline.ts';
import type { Running } from './model/machine.ts';
import type { ClientProtocol, Headers } from './model/protocol.ts';
import type { RateLimit } from './model/rate-limit.ts';
import type { ModelRequest } from './model/request.ts';
import type { Lesson } from './model/upstream-error/lesson.ts';
import type { RecordCutter } from './model/wire/sse.ts';
import type { AnswerChunk, SseRecord } from './model/wire/sse-record.ts';
import type { Relays, RequestListener, TraceCarrier } from './observe/listener.ts';
import type { Plan } from './routing/plan/plan.ts';
import type { Resolution } from './routing/resolve.ts';
import type { Decisions } from './routing/rules/decisions.ts';
import type { Backpressure } from './runtime/backpressure.ts';
import { MemoryBudget, MemoryReservation } from './runtime/memory-budget.ts';

/** A request's access, and its share of its client's limits. */
export interface RequestAdmission {
  /** Whether answers show limits. */
  readonly isLimited: boolean;
  readonly rates: readonly RateLimit[];
  readonly allowsModel: (destination: Destination) => boolean;
  /** The client's usage; absent: not known. */
  readonly spent?: () => Spent;
  /**
   * Takes what the request needs from the limits; returns a promise if other processes have to be asked. `input`: tokens of the
   * prompt; `maxTokens`: what the answer may have at most. Throws, or rejects with, `forbidden` for a destination or rule that isn't
   * allowed, `rate-limited` beyond a limit, and `budget-exceeded`.
   */
  readonly admit: (
    route: Destination & { readonly scenario: string },
    need: { readonly input: number; readonly maxTokens?: number | undefined },
    config: Pick<Config, 'providers'>,
  ) => void | Promise<void>;
}

/** The client's request as it came in. One that no client sent lacks what only a listener has. */
interface Incoming extends Pick<Exchange, 'id' | 'startedAtMs' | 'body' | 'backpressure'> {
  readonly path?: string;
  /** The client whose own key it carries. */
  readonly namedClient?: string | undefined;
  /** A header by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly answerMemory?: MemoryReservation;
  /** `takeValues` takes the memory for the body's values, which have so many arrays and objects; the fault if there is none. */
  readonly reservation?: { readonly takeValues: (nodes: number) => Fault | undefined };
  /** Called when only the values parsed from the body are still held. */
  readonly retainBody?: (use: 'values') => void;
  /** Calls `handler` when the client must get the end of its answer at once. */
  readonly onInterrupted?: (handler: (fault: Fault) => void) => void;
}

/** A call that is made for a request, beside its own: a stage's again, to another destination or a question, or a condition's question. */
export interface StageCall {
  /** The request that it is made for; absent: it isn't routed yet, as for a condition. */
  readonly for?: Routed;
  /** The caller: a stage, or `rule/NAME`. */
  readonly stage: string;
  readonly kind: 'next' | 'ask' | 'decide';
  readonly request: ModelRequest;
  /** The destination, `provider,model` or a pool; `undefined`: that of the request. */
  readonly to: string | undefined;
  /** The stages up to this position in the configuration's list don't see it. */
  readonly after: number;
}

/** Makes the calls of a request's stages. Each is a request of its own, with its own record. */
export interface StageCalls {
  /** Nesting depth of the call; 0: a client's own request. */
  readonly depth: number;
  /** Remaining calls that a client's request may cause, at any depth. */
  readonly left: { count: number };
  /** The conversation; `undefined`: unknown. */
  readonly session: () => string | undefined;
  readonly spent: () => Spent;
  /** The events of the answer. Fails with a `FaultError`; unsubscribing ends the call. */
  readonly run: (call: StageCall) => Observable<Batch>;
}

/** An arriving request and its listener. */
interface ExchangeStart {
  readonly incoming: Incoming;
  readonly client: ClientProtocol;
  readonly preset?: string | undefined;
  readonly seed?: string;
  readonly admission?: RequestAdmission | undefined;
  readonly progress?: ReplyProgress;
  readonly listener?: RequestListener;
  readonly trace?: TraceCarrier | undefined;
  readonly calls?: StageCalls | undefined;
  readonly after?: number;
}

/**
 * A client's request as it enters the pipeline. Each later type adds what its step has found out. A class, so that V8 leaves room in
 * the object for the fields that the steps fill.
 */
export class Exchange {
  readonly incoming: Incoming;
  readonly id: string;
  /** Unique, lower-case hexadecimal. Ids in the answer are derived from it. */
  readonly seed: string;
  readonly startedAtMs: number;
  readonly client: ClientProtocol;
  /** The preset that the request's path names, if any. */
  readonly preset: string | undefined;
  /** The client's access; `undefined`: the administrator, who has no limits. */
  readonly admission: RequestAdmission | undefined;
  /** Empty once the answer has begun, as `text` and the call's body are: no retry can need them then. */
  readonly body: Uint8Array;
  /** Counts what is collected of the answer. */
  readonly answerMemory: MemoryReservation;
  readonly backpressure: Backpressure;
  readonly progress: ReplyProgress;
  /** Gets this request's events. A request's record also has its cost, in nano-dollars. */
  readonly listener: RequestListener & { readonly cost?: number | undefined };
  /** Present if requests are traced. */
  readonly trace: TraceCarrier | undefined;
  /** Absent: stages can't call anything but the request's own destination, once. */
  readonly calls: StageCalls | undefined;
  /** The stages up to this position in the configuration's list don't see it; -1: all do. */
  readonly after: number;
  isOver = false;
  #endings: (() => void)[] | undefined = undefined;

  constructor(start: ExchangeStart) {
    const { incoming, client, preset, seed, admission, progress, listener = {}, trace, calls, after = -1 } = start;
    this.incoming = incoming;
    this.id = incoming.id;
    this.seed = seed ?? '0'.repeat(24);
    this.startedAtMs = incoming.startedAtMs;
    this.client = client;
    this.preset = preset;
    this.admission = admission;
    this.body = incoming.body;
    this.answerMemory = incoming.answerMemory ?? new MemoryReservation(unbounded, Number.POSITIVE_INFINITY);
    this.backpressure = incoming.backpressure;
    this.progress = progress ?? new ReplyProgress();
    this.listener = listener;
    this.trace = trace;
    this.calls = calls;
    this.after = after;
  }

  /** Calls `handler` when the request is over. */
  whenOver(handler: () => void): void {
    this.#endings ??= [];
    this.#endings.push(handler);
  }

  /** The request is over: answered, failed or cancelled. */
  over(): void {
    this.isOver = true;
    for (const handler of this.#endings ?? none) handler();
    this.#endings = undefined;
  }
}

const none: readonly never[] = [];

/** For requests that come over no listener. */
const unbounded = new MemoryBudget();

/** Lets go of the body's bytes and texts. */
export const releaseBody = (ready: Ready): void => {
  fill(ready, { body: noBytes, text: '', outline: undefined, call: { ...ready.call, body: '' } });
  ready.incoming.retainBody?.('values');
};

const noBytes = new Uint8Array(0);

/** Adds a step's results to the exchange, in place: one object serves the whole request. */
export const fill = <E extends Exchange, F extends Partial<Answered>>(exchange: E, fields: F): E & F =>
  Object.assign(exchange, fields);

/**
 * What the steps of a request tell each other and its record, across attempts. Each field is written by the step that it is listed
 * below, and read by any.
 */
export class ReplyProgress {
  // `decode`; of a stage's call, what calls it.
  /** The model name that the client sent; `undefined` until the body is decoded. */
  requestedModel: string | undefined = undefined;
  /** The client asked for a stream. */
  streaming = false;

  // `route`, for each attempt.
  context: ReplyContext | undefined = undefined;

  // `callUpstream`.
  /** The last call's id, as its upstream named it. */
  upstreamId: string | undefined = undefined;

  // `RetrySession`.
  /** Failed attempts, in order. */
  failed: readonly FailedAttempt[] = none;

  // Runs stages around the call.
  /** Present if there is one: whether the call has been made, and how it failed. */
  wrapped: { readonly accepted: boolean; readonly fault?: Fault } | undefined = undefined;

  // What writes the answer: `encodeEvents` or `relayReply`, then `sendReply`; `keepAlive` may open a stream before.
  /** Writes the client's stream while one is being converted: also what shows progress during a silence, and the end of an interrupted one. */
  writing: Running<ModelEvent, SseRecord> | undefined = undefined;
  /** The first and the last chunk of a relayed stream that hold records, for protocols that number them, and the last with a number. */
  relayed: { readonly first: Uint8Array; readonly last: Uint8Array; readonly numbered: Uint8Array } | undefined =
    undefined;
  /** The bytes sent so far end at a record's end, so that the gateway may insert its own record. */
  betweenRecords = true;
  /** The head of a stream was sent, so its status is final. */
  opened = false;
  /** Part of the answer itself was sent, not just keep-alives. */
  begun = false;
  /** The fault that ended the answer after it had begun. */
  broken: Fault | undefined = undefined;
}

/** After `decode`: the body is parsed, or its outline. */
export interface Decoded extends Exchange {
  /**
   * Present if only the body's outline is decoded: then `clientBody` and `request` have marks in place of long texts, except in the
   * instructions and the first user turn, and `text` is empty. `decodeInFull` replaces all of them.
   */
  readonly outline: Outline | undefined;
  /** The body's text; empty if it isn't decoded as one: `clientText` does. */
  readonly text: string;
  readonly clientBody: JsonObject;
  readonly request: ModelRequest;
  /** The positions of the transformers' entries whose conditions hold; absent: none has a condition. */
  readonly holding?: ReadonlySet<number> | undefined;
  /** Decisions of models about it; absent: no condition asks. */
  readonly decisions?: Decisions | undefined;
}

/** After `route`: the destination and the plan for it are chosen. */
export interface Routed extends Decoded {
  readonly resolution: Resolution;
  readonly plan: Plan;
  readonly context: ReplyContext;
  /** The provider's key for this attempt. */
  readonly apiKey: string;
  /** The index of this attempt's base URL among the plan's targets. */
  readonly addressAt: number;
  /** Earlier attempts at this destination. */
  readonly retries: number;
  /** A summary is asked for, and the destination has no compaction: its model is asked to write one. */
  readonly summarizes: boolean;
  /** The destination has refused the reasoning in the history, so it is left out. */
  readonly withoutReasoning: boolean;
  /** The refusal by which this request was tried once more; absent: none so far. */
  readonly taughtBy?:
    | { readonly message: string; readonly plan: Plan; readonly lessons: readonly Lesson[] }
    | undefined;
  /** The latest call whose refusal was learned from. */
  readonly judged?: Ready['call'] | undefined;
  /** The positions of stages that have failed in this attempt, and that it goes on without. */
  readonly leftOut?: ReadonlySet<number> | undefined;
  /** Fields that earlier requests had to do without, and that this one has, to see whether they are refused still. */
  readonly doubted?: readonly string[] | undefined;
}

/** Whether stages change the request on its way to the destination. */
export const hasRequestStages = ({ plan }: Routed): boolean =>
  plan.graph.layers.some(({ requestStages }) => requestStages.length > 0);

/** Whether a stage is around the call. None is around a compaction that has a path of its own: its answer isn't one. */
export const isWrapped = ({ plan, request, summarizes }: Routed): boolean =>
  plan.graph.layers.length > 1 && (summarizes || !request.compaction?.byPath);

/** Whether the destination's model is asked to write the summary that the client wants. */
export const isSummarized = ({ summarizes }: Routed): boolean => summarizes;

/** After `reconcileReasoning`: the request's earlier reasoning suits the destination. */
export interface Reconciled extends Routed {
  /** No reasoning had to be changed, so the client's body may be relayed. */
  readonly relayable: boolean;
  /** The instructions held something for the client's own vendor, which the request lacks and a body that passes has to lose. */
  readonly withoutAttribution: boolean;
}

/** After `encodeRequest`: the upstream call can be made. */
export interface Ready extends Reconciled {
  /** The directions that are relayed; the answer's half is final once the answer's head has arrived. */
  readonly relays: Relays;
  readonly call: {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: CallBody;
  };
  /** A warning: the client wants its answer's calls judged, and nothing does. */
  readonly unjudged: string | undefined;
}

/** After `callUpstream`: the upstream accepted the call, and its body arrives. */
export interface Answered extends Ready {
  readonly answer: {
    readonly status: number;
    readonly headers: Headers;
    /** One emission per network chunk. */
    readonly body: Observable<AnswerChunk>;
    /** The body is a stream of SSE records. */
    readonly streamed: boolean;
    /** Finds where a stream's records end; `boundReply` feeds it the bytes. `undefined`: the body is no stream. */
    readonly cutter: RecordCutter | undefined;
    /** The rest of the body doesn't matter: unsubscribing then reads it to its end, to keep the connection. */
    readonly drain: () => void;
  };
}

/** A failed attempt. */
export interface FailedAttempt {
  readonly provider: string;
  readonly model: string;
  /** The upstream's status, else the failure in one word: `503`, `cut`, `breaker_open`. */
  readonly outcome: string;
}
