import type { Place } from './place.ts';

/** How a worker ended. */
export interface WorkerExit {
  /** Asked to, and with all that it had begun. */
  readonly orderly: boolean;
  /** For logs: `exit code 1`, `signal SIGKILL`. */
  readonly how: string;
}

/** A part of the service that takes connections: another process, or this one. */
export interface Worker {
  readonly pid: number;
  readonly startedAtMs: number;
  readonly place: Place;
  /** Lets others take new connections and ends with the last of its own. */
  readonly retire: () => void;
  /** Ends with the last request that is at work. */
  readonly stop: () => void;
  /** Ends it at once. */
  readonly kill: () => void;
  /** Never rejects. */
  readonly exited: Promise<WorkerExit>;
}
