import type { Fault } from '../model/fault.ts';
import type { Usage } from '../model/usage.ts';

/** Where a request went. */
export interface MeteredRoute {
  readonly provider: { readonly name: string; readonly models: readonly string[] };
  readonly model: string;
  readonly scenario: string;
  /** Why, for users. */
  readonly reason?: string;
}

/** Watches one request. Each call costs a few assignments; those per chunk cost nothing once the answer has begun. */
export interface RequestMeter {
  /** It is known who answers. */
  readonly routed: (route: MeteredRoute) => void;
  /** A call goes out to the upstream; what lies between the first one and the answer is the upstreams' time, waits included. */
  readonly called: () => void;
  /** The upstream is to be called once more; `reason` is one of a closed list. */
  readonly retried: (reason: string) => void;
  /** Somebody else is to be asked. */
  readonly fellBack: (to: Omit<MeteredRoute, 'scenario'>) => void;
  /** A piece of the upstream's answer is there. */
  readonly upstreamByte: () => void;
  readonly usage: (usage: Usage) => void;
  /** What went wrong; the same fault counts once, wherever it is seen. */
  readonly fault: (fault: Fault) => void;
  /** A stream to the client is open. */
  readonly opened: () => void;
  /** Something of the answer itself goes out to the client. */
  readonly firstByte: () => void;
  /** The request is over; 499 when the client went. Calls after the first one have no effect. */
  readonly finished: (status: number) => void;
}

/** For requests that nobody watches. */
export const silentMeter: RequestMeter = {
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
