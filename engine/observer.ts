import type { ReplyPart } from './http/endpoint.ts';
import type { Fault } from './model/fault.ts';
import type { Loss, Losses } from './model/loss.ts';
import type { ModelRequest } from './model/request.ts';
import type { Usage } from './model/usage.ts';

/** The destination of a request. */
export interface ObservedRoute {
  readonly provider: { readonly name: string; readonly models: readonly string[] };
  readonly model: string;
  readonly scenario: string;
  /** Why it was chosen, for users. */
  readonly reason?: string;
}

/** Observes one request. A call costs a few assignments; calls per chunk are free once the answer has begun. */
export interface Observer {
  /** The destination is chosen. */
  readonly routed: (route: ObservedRoute) => void;
  /** A call goes out to the upstream. The time from the first call to the answer counts as upstream time, waits included. */
  readonly called: () => void;
  /** The upstream will be called again; `reason` is one of a closed list. */
  readonly retried: (reason: string) => void;
  /** A fallback will be called. */
  readonly fellBack: (to: Omit<ObservedRoute, 'scenario'>) => void;
  /** A chunk of the upstream's answer has arrived. */
  readonly upstreamByte: () => void;
  readonly usage: (usage: Usage) => void;
  /** A fault occurred. The same fault object counts once, even if reported several times. */
  readonly fault: (fault: Fault) => void;
  /** A stream to the client is open. */
  readonly opened: () => void;
  /** Part of the answer itself goes out to the client. */
  readonly firstByte: () => void;
  /** The request is over; 499 if the client closed the connection. Only the first call counts. */
  readonly finished: (status: number) => void;
}

/** For requests that aren't observed. */
export const silentObserver: Observer = {
  routed() {},
  called() {},
  retried() {},
  fellBack() {},
  upstreamByte() {},
  usage() {},
  fault() {},
  opened() {},
  firstByte() {},
  finished() {},
};

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

/** Also records the request's summary and its capture. */
export interface RequestWatcher extends Observer {
  /** The upstream accepted the call, and what passes through is decided. */
  readonly answered: (passThrough: PassThrough) => void;
  /** Present if the request is captured. */
  readonly recorder: StepRecorder | undefined;
}

/** Which directions pass through unchanged: both sides speak the same format, and no stage handles that direction. */
export interface PassThrough {
  readonly request: boolean;
  readonly reply: boolean;
}

/** Records the result of each step of a captured request. */
export interface StepRecorder {
  readonly decoded: (decoded: { readonly request: ModelRequest }) => void;
  /** A destination was chosen: the first one, or a fallback's. */
  readonly routed: (routed: RecordedRoute) => void;
  /** Earlier reasoning was reconciled with the destination. */
  readonly settled: (
    routed: RecordedRoute & { readonly resolution: RecordedResolution; readonly apiKey: string },
  ) => void;
  readonly encoded: (ready: {
    readonly call: { readonly body: string };
    readonly plan: { readonly format: { readonly name: string } };
  }) => void;
  readonly part: (part: ReplyPart) => void;
  readonly mark: (name: 'end') => void;
}

/** The part of a routed request that a recorder reads. */
export interface RecordedRoute {
  readonly request: ModelRequest;
  readonly context: { readonly losses: Losses };
}

interface RecordedResolution {
  readonly provider: { readonly name: string };
}
