/** The limits of calls to one origin. */
export interface PoolLimits {
  /** Concurrent connections; further calls wait. */
  readonly connections: number;
  /** Calls that may wait. */
  readonly queue: number;
  /** How long a call may wait, in milliseconds. */
  readonly queueMs: number;
}

/** How long an upstream may stay silent, in milliseconds. */
export interface UpstreamTimeouts {
  /** From sending the request to the answer's head. */
  readonly firstByteMs: number;
  /** Between two chunks of the answer's body. */
  readonly idleMs: number;
}
