import type { Observable } from 'rxjs';
import type { Timeouts } from '../config/schema.ts';
import type { CallBody } from '../model/call-body.ts';
import type { FaultError } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import type { FramedRecords } from '../model/wire/sse-record.ts';
import type { UpstreamSocket } from '../model/wire/upstream-socket.ts';
import type { Backpressure } from '../runtime/backpressure.ts';
import type { PoolStats } from './pool.ts';

/** One request to an upstream. */
export interface UpstreamCall {
  /** Default: `POST`. A `GET` has an empty body. */
  readonly method?: 'GET' | 'POST';
  readonly url: URL;
  /** Lower-case names; includes credentials. `content-length` and `host` are derived from `body` and `url`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: CallBody;
  /** Pauses the answer's body. */
  readonly backpressure: Backpressure;
  /** Limits that win over those of all calls. */
  readonly timeouts?: Partial<CallTimeouts> | undefined;
  /** Present if it may go over a WebSocket. The answer is the same as over HTTP, which is used where WebSocket isn't possible. */
  readonly socket?: CallSocket | undefined;
}

/** The options of a call over a WebSocket. */
export interface CallSocket {
  readonly protocol: UpstreamSocket;
  /** The name of the conversation that the call belongs to; empty if none is known: its first item tells it then. */
  readonly conversation: string;
  /** Called with the bytes that have come of an incomplete message, and with 0 when none are held. Returns the fault beyond a bound. */
  readonly incomplete: (bytes: number) => FaultError | undefined;
}

/** How long one call may take. */
export type CallTimeouts = Pick<Timeouts, 'firstByteMs' | 'idleMs' | 'callMs'>;

/** The timeouts of all calls. A call waits for a connection while the machine is awake. */
export type UpstreamTimeouts = CallTimeouts & Pick<Timeouts, 'connectMs' | 'queueMs'>;

/** An upstream's answer, of any status. Its body is still to come. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Repeated headers are joined by `, `. `content-encoding` is removed. */
  readonly headers: Headers;
  /**
   * The decompressed bytes, one emission per network chunk. Must be subscribed once, while the call is subscribed; nothing is
   * read before that. Errors with a `FaultError`: `upstream-cut`, `upstream-timeout` or `upstream-garbled`. Unsubscribing closes
   * the connection.
   */
  readonly body: Observable<Uint8Array>;
  /** Present if the connection frames records itself: the same body as these. One of both is subscribed. */
  readonly records?: Observable<FramedRecords>;
  /**
   * Marks the rest of the body as unneeded. Unsubscribing then reads and drops the rest for a moment, so that the connection can
   * be reused if the body ends.
   */
  readonly drain: () => void;
}

/** The gateway's connections to its upstreams. */
export interface Upstreams {
  /**
   * Subscribing sends the request. Emits the answer's head once and completes when its body has ended or was unsubscribed.
   * Unsubscribing ends the call at any stage: queued, connecting, waiting for the head or reading the body. Errors with a
   * `FaultError` if no answer comes: `upstream-unreachable`, `upstream-timeout`, `upstream-cut`, `upstream-garbled`,
   * `misconfigured`, or `unavailable` if no connection was free.
   */
  readonly call: (call: UpstreamCall) => Observable<UpstreamAnswer>;
  /** The state of the connections to the URL's origin. */
  readonly poolStats: (url: URL) => PoolStats;
  /** Applies other timeouts, to later calls. Connections stay: once open, they depend on none of them. */
  readonly adjust: (timeouts: UpstreamTimeouts) => void;
  /** Closes the idle WebSockets to these origins: what they were opened with has changed. */
  readonly closeIdleSockets: (origins: ReadonlySet<string>) => void;
  /**
   * Closes idle connections; resolves when the last call in flight has ended. Later calls are still served, since a request may
   * be routed just before a reload, but their connections aren't kept.
   */
  readonly close: () => Promise<void>;
}
