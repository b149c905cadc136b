/** The levels that the configuration's `LOG_LEVEL` may name, from most to least verbose. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What the user may set about logs. */
export interface LogSettings {
  /** The configuration's `LOG`: `false` writes nothing and makes no files. */
  readonly enabled: boolean;
  /** Records below it are left out. */
  readonly level: LogLevel;
}

/** Members of a record beside level, time, pid, hostname and msg. Secrets in them are masked before they are written. */
export type LogFields = Readonly<Record<string, unknown>>;

/** An HTTP request that has come in. */
export interface RequestRecord {
  /** The request's number in this process; its completion bears the same. */
  readonly reqId: number;
  readonly method: string;
  /** Path and query as received; values of key-like query names are masked in the log. */
  readonly url: string;
  readonly remoteAddress: string;
}

/** An HTTP request that has been answered, or whose client has left. */
export interface CompletedRecord {
  readonly reqId: number;
  readonly statusCode: number;
  /** From the request's arrival to the answer's end, in milliseconds; rounded in the log. */
  readonly responseTimeMs: number;
  /** The client left before the answer's end. */
  readonly aborted?: boolean;
}

/** The server log: HTTP requests and what happens to the service itself. Two records per request, none per event. */
export interface ServerLog {
  readonly request: (record: RequestRecord) => void;
  readonly completed: (record: CompletedRecord) => void;
  readonly event: (level: LogLevel, message: string, fields?: LogFields) => void;
}

/** The application log: routing decisions, losses, what else the gateway decides. */
export type AppLog = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

/**
 * Both logs of a running service. No method throws or rejects: what keeps records from being written is told to
 * `onTrouble` of `openLogs`, and writing goes on as soon as it can.
 */
export interface Logs {
  readonly server: ServerLog;
  readonly app: AppLog;
  /** Applies new settings from the next record on. */
  readonly adjust: (settings: LogSettings) => void;
  /** Resolves when all records so far are in their files, or it has turned out that they can't be written now. */
  readonly flush: () => Promise<void>;
  /** Writes all waiting records before it returns; for the end of a process that can't wait. */
  readonly flushSync: () => void;
  /** Writes what waits and closes the files. Later records are ignored. */
  readonly close: () => Promise<void>;
}
