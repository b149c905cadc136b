import type { Fault } from '../model/fault.ts';
import type { MemoryBudget } from '../runtime/memory-budget.ts';
import type { TrustedProxies } from './access/access.ts';
import type { AccessRules, KeyRefusal } from './admission.ts';
import type { Conversations } from './conversations.ts';
import type { Rejection } from './endpoint.ts';
import type { HttpRouter } from './router.ts';
import type { Linked, Ticker } from './ticker.ts';

/** A listener's routes and access rules. Replaced as a whole on each configuration change. */
export interface ServeSettings {
  readonly router: HttpRouter;
  readonly admission: AccessRules;
  readonly limits: HttpLimits;
  readonly proxies: TrustedProxies;
  /** Connections stay open for further requests. */
  readonly keepAlive: boolean;
}

/** The listener as a request sees it. */
export interface ServingListener {
  readonly settings: ServeSettings;
  readonly hooks: RequestHooks;
  readonly ticker: Ticker;
  /** Memory for request bodies. */
  readonly bodies: MemoryBudget;
  /** Memory for what is collected of answers. */
  readonly answers: MemoryBudget;
  /** Whether answers that start now are the last on their connections. */
  readonly retiring: boolean;
  /** Messages of WebSocket clients that may be under way where the server can't tell. */
  readonly unseen: MemoryBudget;
  /** The memory of WebSocket connections. */
  readonly conversations: Conversations;
  /** The reason to reject a request from this address now. */
  readonly rejection: (remoteAddress: string) => Rejection | undefined;
  /** Counts a request as active; returns its number. */
  readonly add: (request: ActiveRequest) => number;
  /** Called once when a request is over, successful or not. */
  readonly release: (request: ActiveRequest) => void;
  /** Counts a WebSocket connection; `false`: there are too many, or no new ones are wanted. */
  readonly admitsSocket: () => boolean;
  readonly openedSocket: (socket: OpenSocket) => void;
  readonly closedSocket: (socket: OpenSocket) => void;
}

/** A request that is being served. */
export interface ActiveRequest extends Linked<ActiveRequest> {
  /** The client's address, not that of a trusted proxy. */
  readonly remoteAddress: string;
  /** That of its connection. */
  readonly connectionAddress: string;
  /** Ends the request at once, with a fault in the client's own format. */
  readonly interrupt: (fault: Fault) => void;
}

/** A WebSocket connection of a client. */
export interface OpenSocket {
  /** The address of the connection. */
  readonly connectionAddress: string;
  /** Takes no more requests, and closes the connection once those that it has are answered. */
  readonly retire: () => void;
  /** Ends the requests that wait. Those that are being answered are ended one by one. */
  readonly interrupt: (fault: Fault) => void;
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

/** The outcome of a request. */
export interface RequestOutcome {
  /** The answer's status; 499 when the client disconnected before the answer was complete. */
  readonly status: number;
  readonly durationMs: number;
  readonly aborted: boolean;
}

/** Limits on requests and connections; those that users set have the names of `LIMITS`. */
export interface HttpLimits {
  /** Bytes of a body as sent. */
  readonly bodyBytes: number;
  /** Bytes of a body after decompression. */
  readonly decompressedBytes: number;
  /** Bytes of memory for the bodies of all active requests, in all their forms. */
  readonly bodiesBytes: number;
  /** Bytes of memory for what is collected of the answers of all active requests. */
  readonly answersBytes: number;
  /** Maximum ratio of decompressed to compressed size; not checked below 1 MiB. */
  readonly ratio: number;
  /** Minimum transfer rate of a body, in bytes per second … */
  readonly bodyBytesPerSecond: number;
  /** … measured over windows of this length, in milliseconds. */
  readonly bodyWindowMs: number;
  /** Milliseconds a client may leave its answer unread before its connection is closed. */
  readonly stallMs: number;
  /** Concurrent requests per client address. */
  readonly requestsPerClient: number;
  /** Connections per client address; further ones are closed at once. */
  readonly connectionsPerClient: number;
  /** WebSocket connections of all clients; further handshakes are refused. */
  readonly webSockets: number;
}

/** Limits that users can't set. */
export const ownLimits = { bodyBytesPerSecond: 1024, bodyWindowMs: 10_000, stallMs: 30 * 60_000 };
