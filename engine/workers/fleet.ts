/** One process that serves. */
export interface FleetWorker {
  readonly pid: number;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** The processes of a running service. */
export interface Fleet {
  /** The process that stands for the service from its start to its end: it may serve itself, and it takes the signals. */
  readonly pid: number;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
  /** How often the service has been restarted since. */
  readonly restarts: number;
  /** Those that take new connections. */
  readonly workers: readonly FleetWorker[];
}

/** What a serving process knows of the service that it is a part of. */
export interface Supervision {
  readonly fleet: () => Fleet;
  /** Puts new processes in the place of all that serve. Resolves once they do; rejects with an error worded for users. */
  readonly restart: () => Promise<void>;
}
