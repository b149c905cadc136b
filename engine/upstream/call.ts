import type { Observable } from 'rxjs';
import type { Flow } from '../flow.ts';
import type { Headers } from '../model/protocol.ts';
import type { Occupancy } from './connections.ts';

/** One request to an upstream. */
export interface UpstreamCall {
  /** Absent: `POST`. A `GET` has an empty body. */
  readonly method?: 'GET' | 'POST';
  readonly url: URL;
  /** By lower-case name, credentials included. Length and host are set from `body` and `url`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Holds the answer's body back for as long as it is paused. */
  readonly flow: Flow;
}

/** The head of an upstream's answer, whatever its status, and its body still to come. */
export interface Answer {
  readonly status: number;
  /** Several values of one header are joined by `, `. */
  readonly headers: Headers;
  /**
   * The bytes as the network brings them, one emission per chunk. To be subscribed once, at any time while the call itself
   * is subscribed; nothing is read before that. Errors with a `FaultError`: `upstream-cut`, `upstream-timeout` or
   * `upstream-garbled`. Unsubscribing closes the connection.
   */
  readonly body: Observable<Uint8Array>;
}

/** The gateway's connections to its upstreams. */
export interface Upstreams {
  /**
   * Subscribing sends the request. Emits the answer's head once and completes when its body has ended or was abandoned.
   * Unsubscribing ends it at once wherever it stands: queued, connecting, waiting for the head or amid the body. Errors with
   * a `FaultError` when no answer comes: `upstream-unreachable`, `upstream-timeout`, `upstream-cut`, `upstream-garbled`,
   * `misconfigured`, or `unavailable` where no connection was to be had.
   */
  readonly call: (call: UpstreamCall) => Observable<Answer>;
  /** What goes on at the origin of this URL. */
  readonly occupancyOf: (url: URL) => Occupancy;
  /**
   * Lets go of what is idle; the promise resolves when the last call in flight has ended. A call that still comes is served,
   * but its connection isn't kept: one that was routed just before a reload must not fail.
   */
  readonly close: () => Promise<void>;
}
