import type { TrustedProxies } from './access/access.ts';
import type { AccessRules, KeyRefusal } from './admission.ts';
import type { HttpRouter } from './router.ts';

/** What a listener serves and to whom. Replaced as a whole on each configuration change. */
export interface ServeSettings {
  readonly router: HttpRouter;
  readonly admission: AccessRules;
  readonly limits: HttpLimits;
  readonly proxies: TrustedProxies;
  /** Connections stay open for further requests. */
  readonly keepAlive: boolean;
}

/** Callbacks for a listener's requests. All calls for one request pass the same `request` object. */
export interface RequestHooks {
  /** A request's head has arrived. */
  readonly started?: (request: RequestInfo) => void;
  /** The request is over. Called once per request. */
  readonly finished?: (request: RequestInfo, outcome: RequestOutcome) => void;
  /** A request was refused for its key. */
  readonly keyRefused?: (reason: KeyRefusal) => void;
  /** Called when many requests are active, and when few are again. */
  readonly busy?: (isBusy: boolean) => void;
  /** An endpoint failed unexpectedly: a bug. */
  readonly failed?: (error: unknown, requestId: string) => void;
  /** A one-line warning for the operator. */
  readonly warn?: (line: string) => void;
}

/** One request, for logs and counters. */
export interface RequestInfo {
  readonly id: string;
  /** Counts the requests of a listener from 1. */
  readonly number: number;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string;
  /** The client's, not that of a trusted proxy. */
  readonly remoteAddress: string;
}

/** How a request ended. */
export interface RequestOutcome {
  /** The answer's status; 499 when the client disconnected before the answer was complete. */
  readonly status: number;
  readonly durationMs: number;
  readonly aborted: boolean;
}

/** Limits on requests and connections. */
export interface HttpLimits {
  /** Bytes of a body as sent. */
  readonly bodyBytes: number;
  /** Bytes of a body after decompression. */
  readonly inflatedBytes: number;
  /** Bytes of memory for the bodies of all active requests, in all their forms. */
  readonly bodiesBytes: number;
  /** Bytes of memory for what is collected of the answers of all active requests. */
  readonly answersBytes: number;
  /** Maximum ratio of decompressed to compressed size; not checked below 1 MiB. */
  readonly inflateRatio: number;
  /** Minimum transfer rate of a body, in bytes per second … */
  readonly bodyBytesPerSecond: number;
  /** … measured over windows of this length, in milliseconds. */
  readonly bodyWindowMs: number;
  /** Milliseconds a client may leave its answer unread before its connection is closed. */
  readonly stallMs: number;
  /** Concurrent requests per client address. */
  readonly activePerAddress: number;
  /** Connections per client address; further ones are closed at once. */
  readonly connectionsPerAddress: number;
}

/** The default limits. */
export const defaultLimits: HttpLimits = {
  bodyBytes: 32 * 1024 * 1024,
  inflatedBytes: 64 * 1024 * 1024,
  bodiesBytes: 512 * 1024 * 1024,
  answersBytes: 512 * 1024 * 1024,
  inflateRatio: 200,
  bodyBytesPerSecond: 1024,
  bodyWindowMs: 10_000,
  stallMs: 30 * 60_000,
  activePerAddress: 1024,
  connectionsPerAddress: 1024,
};
