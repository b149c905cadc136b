import type { Observable } from 'rxjs';
import type { Backpressure } from './backpressure.ts';
import type { ReplyContext } from './model/context.ts';
import type { Fault } from './model/fault.ts';
import type { JsonObject } from './model/json/json.ts';
import type { ClientProtocol, Headers } from './model/protocol.ts';
import type { ModelRequest } from './model/request.ts';
import type { Observer, PassThrough, RequestWatcher } from './observer.ts';
import type { Plan } from './routing/plan/plan.ts';
import type { Resolution } from './routing/resolve.ts';

/** A client's request as it enters the pipeline. Each later type adds what its step has found out. */
export interface Exchange {
  readonly id: string;
  /** Unique, lower-case hexadecimal. Ids in the answer are derived from it. */
  readonly seed: string;
  readonly startedAtMs: number;
  readonly client: ClientProtocol;
  readonly body: Uint8Array;
  /** A header of the client's request, by lower-case name. */
  readonly clientHeader: (name: string) => string | undefined;
  readonly backpressure: Backpressure;
  readonly progress: ReplyProgress;
  /** Counts and measures this request. */
  readonly observer: Observer;
  /** Records this request for the history; absent if no history is kept. */
  readonly watcher?: RequestWatcher | undefined;
}

/** What has reached the client so far. One mutable record per request. */
export interface ReplyProgress {
  /** The model name that the client sent; `undefined` until the body is decoded. */
  asked: string | undefined;
  /** The client asked for a stream. */
  streaming: boolean;
  /** The head of a stream was sent, so its status is final. */
  opened: boolean;
  /** Part of the answer itself was sent, not just keep-alives. */
  begun: boolean;
  /** The bytes sent so far end at a record's end, so that the gateway may insert its own record. */
  betweenRecords: boolean;
  /** Known once the request is routed. */
  context: ReplyContext | undefined;
  /** The first and the last chunk of a passed-through stream that hold records. */
  relayed: { readonly first: Uint8Array; readonly last: Uint8Array } | undefined;
  /** Writes the event that shows progress during a long silence; absent while no stream is being converted. */
  progress: (() => string) | undefined;
  /** The fault that ended the answer after it had begun. */
  broken: Fault | undefined;
  /** Failed attempts, in order. */
  failed: readonly FailedAttempt[];
}

const none: readonly FailedAttempt[] = [];

export const newReplyProgress = (): ReplyProgress => ({
  asked: undefined,
  streaming: false,
  opened: false,
  begun: false,
  betweenRecords: true,
  context: undefined,
  relayed: undefined,
  progress: undefined,
  broken: undefined,
  failed: none,
});

/** After `decode`: the body is parsed. */
export interface Decoded extends Exchange {
  readonly text: string;
  readonly asked: JsonObject;
  readonly request: ModelRequest;
}

/** After `route`: the destination and the plan for it are chosen. */
export interface Routed extends Decoded {
  readonly resolution: Resolution;
  readonly plan: Plan;
  readonly context: ReplyContext;
  readonly passThrough: PassThrough;
  /** The provider's key for this attempt. */
  readonly apiKey: string;
  /** Earlier attempts at this destination. */
  readonly retries: number;
}

/** After `encodeRequest`: the upstream call can be made. */
export interface Ready extends Routed {
  readonly call: {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/** After `callUpstream`: the upstream accepted the call, and its body arrives. */
export interface Answered extends Ready {
  readonly answer: {
    readonly status: number;
    readonly headers: Headers;
    /** Plain bytes, one emission per network chunk. */
    readonly body: Observable<Uint8Array>;
    /** The body is a stream of SSE records. */
    readonly streamed: boolean;
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
