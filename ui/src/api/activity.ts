import { call } from './call.ts';
import type { Protocol } from './protocols.ts';

/** A request that isn't finished. */
export interface InFlight {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly protocol: Protocol;
  readonly asked: string;
  readonly provider?: string;
  readonly model?: string;
  readonly scenario?: string;
  readonly stream: boolean;
  readonly phase: 'deciding' | 'waiting' | 'streaming';
}

/** What goes on between one client protocol and one model. */
export interface LineActivity {
  readonly protocol: Protocol;
  readonly provider: string;
  readonly model: string;
  readonly requests: number;
  readonly errors: number;
  readonly losses: number;
  /** Requests that aren't finished. */
  readonly active: number;
  /** Over the last 10 seconds. */
  readonly perSecond: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly firstByteP50Ms?: number;
}

/** What the gateway does right now. */
export interface Activity {
  /** Milliseconds since 1970, by the gateway's clock. */
  readonly now: number;
  readonly startedAt: number;
  /** The process that answers; each has its own requests. */
  readonly process: { readonly pid: number; readonly workers: number };
  /** The oldest 200. */
  readonly inFlight: readonly InFlight[];
  readonly inFlightCount: number;
  readonly lines: readonly LineActivity[];
}

/** What the gateway does right now. */
export const readActivity = (signal?: AbortSignal): Promise<Activity> => call('/api/activity', { signal });
