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
 * Watches one request: metrics, history, log and captures are observers. The pipeline's steps call the methods in about this
 * order; a retry or fallback repeats those from `routed` or `reconciled` on.
 */
export interface Observer {
  /** What the counted tokens cost, in nano-dollars; absent: unknown. */
  readonly cost?: number | undefined;
  /** The client's body is decoded. */
  readonly decoded: (decoded: { readonly request: ModelRequest }) => void;
  /** The destination is chosen. */
  readonly routed: (routed: ObservedAttempt) => void;
  /** Earlier reasoning is reconciled with the destination. */
  readonly reconciled: (routed: ObservedAttempt) => void;
  /** The upstream call is encoded. */
  readonly encoded: (ready: ObservedCall) => void;
  /** The call goes out. The time from the first call to the answer counts as upstream time, waits included. */
  readonly called: () => void;
  /** The upstream's answer is an error, or can't be read. The call's fault follows. */
  readonly refused: (answer: ObservedRefusal) => void;
  /** The upstream accepts the call, and what is relayed is decided. */
  readonly answered: (relays: Relays) => void;
  /** A chunk of the upstream's answer has arrived. Called per chunk. */
  readonly chunk: () => void;
  /** The upstream's counts of tokens; once per answer. */
  readonly counted: (usage: Usage) => void;
  /** A fault occurred. The same fault object counts once, even if reported several times. */
  readonly faulted: (fault: Fault) => void;
  /** A stage of the graph has failed; `cause` is what it threw. */
  readonly stageFailed: (fault: Fault, cause: unknown) => void;
  /** A custom stage says something about the request. */
  readonly stageLogged: (stage: string, text: string, fields: JsonObject) => void;
  /** The upstream's answer breaks a rule of its wire format; `text`: the record, or the reply. May come after the end. */
  readonly violated: (violation: Violation, text: string) => void;
  /** An attempt has failed; something else is tried, or the client gets the first destination's fault. */
  readonly attemptFailed: (failure: ObservedFailure) => void;
  /** The upstream will be called again; `reason` is one of a closed list. */
  readonly retried: (reason: string) => void;
  /** A fallback will be called. */
  readonly fellBack: (to: Omit<ObservedRoute, 'scenario'>) => void;
  /** The client gets a fault; `error` is what was thrown. */
  readonly failed: (fault: Fault, error: unknown) => void;
  /** A stream to the client is open. */
  readonly opened: () => void;
  /** Part of the answer itself goes out to the client. */
  readonly firstByte: () => void;
  /** A part goes out to the client. Called per chunk. */
  readonly part: (part: ReplyPart) => void;
  /** The request is over; 499 if the client closed the connection. Only the first call counts. */
  readonly finished: (status: number) => void;
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

/** One of the observers of a request; it has the methods that it needs. */
export type Watcher = Partial<Observer>;

/** Facts about a request at its start. */
export interface RequestObservation {
  readonly id: string;
  readonly method: string;
  /** The path without the preset. */
  readonly route: string;
  readonly preset: string | undefined;
  readonly namedClient: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** Says what upstream calls carry of the request's trace. */
export interface TraceCarrier {
  /** The headers of the next call, which is a child of the request. */
  readonly callHeaders: () => Readonly<Record<string, string>>;
  /** The headers by which another request of the gateway becomes a child of this one. */
  readonly childHeaders: () => Readonly<Record<string, string>>;
}

/** Traces requests. */
export interface Tracer {
  /** Starts a request's trace, or continues the client's, whose headers `header` reads by lower-case name. */
  readonly started: (
    request: RequestObservation,
    header: (name: string) => string | undefined,
  ) => Watcher & TraceCarrier;
}

/** Reports everything to a list of watchers, in order. */
export class Observers implements Observer {
  readonly #watchers: readonly Watcher[];

  constructor(watchers: readonly Watcher[]) {
    this.#watchers = watchers;
  }

  decoded(decoded: Parameters<Observer['decoded']>[0]): void {
    for (const watcher of this.#watchers) watcher.decoded?.(decoded);
  }

  routed(routed: ObservedAttempt): void {
    for (const watcher of this.#watchers) watcher.routed?.(routed);
  }

  reconciled(routed: ObservedAttempt): void {
    for (const watcher of this.#watchers) watcher.reconciled?.(routed);
  }

  encoded(ready: ObservedCall): void {
    for (const watcher of this.#watchers) watcher.encoded?.(ready);
  }

  called(): void {
    for (const watcher of this.#watchers) watcher.called?.();
  }

  refused(answer: ObservedRefusal): void {
    for (const watcher of this.#watchers) watcher.refused?.(answer);
  }

  answered(relays: Relays): void {
    for (const watcher of this.#watchers) watcher.answered?.(relays);
  }

  chunk(): void {
    for (const watcher of this.#watchers) watcher.chunk?.();
  }

  counted(usage: Usage): void {
    for (const watcher of this.#watchers) watcher.counted?.(usage);
  }

  faulted(fault: Fault): void {
    for (const watcher of this.#watchers) watcher.faulted?.(fault);
  }

  stageFailed(fault: Fault, cause: unknown): void {
    for (const watcher of this.#watchers) watcher.stageFailed?.(fault, cause);
  }

  stageLogged(stage: string, text: string, fields: JsonObject): void {
    for (const watcher of this.#watchers) watcher.stageLogged?.(stage, text, fields);
  }

  violated(violation: Violation, text: string): void {
    for (const watcher of this.#watchers) watcher.violated?.(violation, text);
  }

  attemptFailed(failure: ObservedFailure): void {
    for (const watcher of this.#watchers) watcher.attemptFailed?.(failure);
  }

  retried(reason: string): void {
    for (const watcher of this.#watchers) watcher.retried?.(reason);
  }

  fellBack(to: Omit<ObservedRoute, 'scenario'>): void {
    for (const watcher of this.#watchers) watcher.fellBack?.(to);
  }

  failed(fault: Fault, error: unknown): void {
    for (const watcher of this.#watchers) watcher.failed?.(fault, error);
  }

  opened(): void {
    for (const watcher of this.#watchers) watcher.opened?.();
  }

  firstByte(): void {
    for (const watcher of this.#watchers) watcher.firstByte?.();
  }

  part(part: ReplyPart): void {
    for (const watcher of this.#watchers) watcher.part?.(part);
  }

  finished(status: number): void {
    for (const watcher of this.#watchers) watcher.finished?.(status);
  }
}

/** For requests that aren't observed. */
export const silentObserver: Observer = new Observers([]);

/** How often one step couldn't carry over one field. */
export interface LossSeries {
  /** The name of the format, protocol or stage. */
  readonly stage: string;
  /** The field's path without indices; `other` for further fields once the table is full. */
  readonly field: string;
  readonly count: number;
}

/** Counts losses over the service's lifetime. */
export interface LossCounter {
  readonly count: (losses: readonly Loss[]) => void;
  /** In order of first occurrence. */
  readonly series: () => readonly LossSeries[];
}
