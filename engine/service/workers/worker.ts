import type { ListenAddress } from './listen-address.ts';
import type { Peers } from './peers.ts';
import type { WorkerSet } from './worker-set.ts';

/** Exit of a worker. */
export interface WorkerExit {
  /** It exited on request, after its open requests. */
  readonly orderly: boolean;
  /** For logs: `exit code 1`, `signal SIGKILL`. */
  readonly how: string;
}

/** A process that accepts connections: a child process, or this one. */
export interface Worker {
  readonly pid: number;
  readonly startedAtMs: number;
  readonly place: ListenAddress;
  /** Stops accepting connections and exits after its open requests. */
  readonly retire: () => void;
  /** Exits after the active requests. */
  readonly stop: () => void;
  /** Exits at once. */
  readonly kill: () => void;
  /** Resolves when it has exited; never rejects. */
  readonly exited: Promise<WorkerExit>;
}

/** A serving process's access to its supervisor. */
export interface Supervision {
  readonly peers: Peers;
  readonly workers: () => WorkerSet;
  /** Replaces all serving processes. Resolves once the new ones serve; rejects with a message for users. */
  readonly restart: () => Promise<void>;
}
