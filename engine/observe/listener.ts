import type { ReplyPart } from '../http/endpoint.ts';
import type { CallBody } from '../model/call-body.ts';
import type { Usage } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Violation } from '../model/grammar.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Loss, Losses } from '../model/loss.ts';
import type { ModelRequest, WireFormat } from '../model/request.ts';
import type { FormatReason } from '../model/transformer.ts';

/**
 * Gets the events of requests; it has the methods that it needs. The pipeline's steps call them in about this order; a retry or fallback
 * repeats those from `routed` or `reconciled` on. `About`: what a method gets besides, which is the request's record
 * (`engine/request-record.ts`) where it listens to several requests.
 */
export interface RequestListener<About extends readonly unknown[] = []> {
  /** The request begins. Like all methods with this remark, called for a request with a record only. */
  readonly began?: (...about: About) => void;
  /** The client's body is decoded. */
  readonly decoded?: (decoded: { readonly request: ModelRequest }, ...about: About) => void;
  /** The destination is chosen. */
  readonly routed?: (routed: ObservedAttempt, ...about: About) => void;
  /** Earlier reasoning is reconciled with the destination. */
  readonly reconciled?: (routed: ObservedAttempt, ...about: About) => void;
  /** The upstream call is encoded. */
  readonly encoded?: (ready: ObservedCall, ...about: About) => void;
  /** The call is sent. The time from the first call to the answer counts as upstream time, waits included. */
  readonly called?: (...about: About) => void;
  /** The upstream's answer is an error, or can't be read. The call's fault follows. */
  readonly refused?: (answer: ObservedRefusal, ...about: About) => void;
  /** The upstream accepts the call, and what is relayed is decided. */
  readonly answered?: (relays: Relays, ...about: About) => void;
  /** A chunk of the upstream's answer has arrived. Called per chunk. */
  readonly chunk?: (...about: About) => void;
  /** The upstream's counts of tokens; once per answer. */
  readonly counted?: (usage: Usage, ...about: About) => void;
  /** The answer broke off. */
  readonly brokeOff?: (fault: Fault, ...about: About) => void;
  /** A fault occurred, of an attempt or of the answer; once per fault. For a request with a record only. */
  readonly faulted?: (fault: Fault, ...about: About) => void;
  /** A stage of the graph has failed; `cause` is what it threw. */
  readonly stageFailed?: (fault: Fault, cause: unknown, ...about: About) => void;
  /** A custom stage logs something about the request. */
  readonly stageLogged?: (stage: string, text: string, fields: JsonObject, ...about: About) => void;
  /** The upstream's answer breaks a rule of its wire format; `text`: the record, or the reply. May come after the end. */
  readonly violated?: (violation: Violation, text: string, ...about: About) => void;
  /** An attempt has failed; something else is tried, or the client gets the first destination's fault. */
  readonly attemptFailed?: (failure: ObservedFailure, ...about: About) => void;
  /** The upstream will be called again; `reason` is one of a closed list. */
  readonly retried?: (reason: string, ...about: About) => void;
  /** A fallback will be called. */
  readonly fellBack?: (to: Omit<ObservedRoute, 'scenario'>, ...about: About) => void;
  /** The answer of the last call lost fields, which `encoded` could not know. For a request with a record only. */
  readonly answerLost?: (losses: readonly Loss[], ...about: About) => void;
  /** The client gets a fault; `error` is what was thrown. */
  readonly failed?: (fault: Fault, error: unknown, ...about: About) => void;
  /** A stream to the client is open. */
  readonly opened?: (...about: About) => void;
  /** Part of the answer itself is sent to the client for the first time. */
  readonly firstByte?: (...about: About) => void;
  /** A part is sent to the client. Called per chunk. */
  readonly part?: (part: ReplyPart, ...about: About) => void;
  /** The request has ended, and its record is complete; 499 if the client closed the connection. The record holds the request: don't keep it. */
  readonly finished?: (status: number, ...about: About) => void;
}

/** The destination of a request. */
export interface ObservedRoute {
  readonly provider: { readonly name: string; readonly models: readonly string[] };
  readonly model: string;
  /** The pool of which it was chosen. */
  readonly pool?: { readonly name: string } | undefined;
  readonly scenario: string;
  /** Why it was chosen, for users. */
  readonly reason?: string;
}

/** A request on its way to a destination. */
export interface ObservedAttempt {
  readonly request: ModelRequest;
  readonly resolution: ObservedRoute & {
    readonly reason: string;
    readonly tokens?: number | undefined;
    readonly warnings: readonly string[];
  };
  readonly context: { readonly losses: Losses };
  readonly apiKey: string;
}

/** An upstream call that is about to be made. */
export interface ObservedCall extends ObservedAttempt {
  readonly id: string;
  readonly client: { readonly wire: WireFormat };
  readonly progress: { readonly requestedModel: string | undefined };
  readonly relays: Relays;
  readonly call: {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: CallBody;
  };
  readonly plan: {
    readonly format: { readonly name: string; readonly genAiName?: string | undefined };
    readonly choice: { readonly because: FormatReason };
  };
  /** Earlier attempts at this destination. */
  readonly retries: number;
  /** A warning: the client wants its answer's calls judged, and nothing does. */
  readonly unjudged: string | undefined;
}

/** An upstream's answer that is a failure. */
export interface ObservedRefusal {
  /** Whether `body` is all of the answer, or the chunk of a stream that reports the failure. */
  readonly isWhole: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A failed attempt and what follows it. */
export interface ObservedFailure {
  readonly provider: string;
  readonly model: string;
  /** As the client gets it, if nothing else is tried. */
  readonly fault: Fault;
  /** The fault's message without the destination. */
  readonly message: string;
  /** The number of the key that was used, from 1; `undefined` for the only one. */
  readonly keyNumber: number | undefined;
  /** What follows, for users. */
  readonly next: string;
}

/** Which directions are relayed: both sides speak the same format, and no stage handles that direction. */
export interface Relays {
  readonly request: boolean;
  readonly reply: boolean;
}

/** The headers by which other requests become part of a request's trace. */
export interface TraceCarrier {
  /** The headers of the next call, which is a child of the request. */
  readonly callHeaders: () => Readonly<Record<string, string>>;
  /** The headers by which another request of the gateway becomes a child of this one. */
  readonly childHeaders: () => Readonly<Record<string, string>>;
}
