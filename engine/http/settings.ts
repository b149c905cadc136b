import type { KeyCheck } from './api-key.ts';
import type { Guard } from './guard.ts';
import type { HttpLimits } from './limits.ts';
import type { Site } from './site.ts';

/** What a listener serves and to whom; replaced as a whole while it runs. */
export interface ServeSettings {
  readonly site: Site;
  readonly guard: Guard;
  readonly hasKey: KeyCheck;
  readonly limits: HttpLimits;
}

/** What a listener tells about its requests. The same `request` object stands for one request throughout. */
export interface RequestHooks {
  /** A request's head has come. */
  readonly started?: (request: RequestInfo) => void;
  /** The request is over. Called once for each. */
  readonly finished?: (request: RequestInfo, outcome: RequestOutcome) => void;
  /** Something failed that should not have: a bug of an endpoint. */
  readonly failed?: (error: unknown, requestId: string) => void;
  /** Something that whoever runs the service should know, in one line. */
  readonly warn?: (line: string) => void;
}

/** One request, for logs and counters. */
export interface RequestInfo {
  readonly id: string;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string;
  readonly remoteAddress: string;
}

/** How a request ended. */
export interface RequestOutcome {
  /** The answer's status; 499 when the client went before the answer was complete. */
  readonly status: number;
  readonly durationMs: number;
  readonly aborted: boolean;
}
