/** Levels of `LOG_LEVEL` in the configuration, most to least verbose. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The log settings of the configuration. */
export interface LogSettings {
  /** `LOG` of the configuration; `false`: nothing is written and no files are created. */
  readonly enabled: boolean;
  /** Records below this level are omitted. */
  readonly level: LogLevel;
}

/** Members of a record beside level, time, pid, hostname and msg. Secrets are masked before writing. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A received HTTP request. */
interface RequestLogRecord {
  /** The request's number in this process; its completion record has the same number. */
  readonly reqId: number;
  readonly method: string;
  /** Path and query as received; values of secret query parameters are masked in the log. */
  readonly url: string;
  readonly remoteAddress: string;
}

/** A completed HTTP request, or one whose client disconnected. */
interface CompletedLogRecord {
  readonly reqId: number;
  readonly statusCode: number;
  /** Milliseconds from the request's arrival to the end of the answer; rounded in the log. */
  readonly responseTimeMs: number;
  /** The client disconnected before the end of the answer. */
  readonly aborted?: boolean;
}

/** The server log: HTTP requests and events of the service. Two records per request, none per stream event. */
export interface ServerLog {
  readonly request: (record: RequestLogRecord) => void;
  readonly completed: (record: CompletedLogRecord) => void;
  readonly event: (level: LogLevel, message: string, fields?: LogFields) => void;
}

/** A request's destination, and why it was chosen. */
interface RouteLogRecord {
  readonly requestId: string;
  /** Name of the client whose key the request carries. */
  readonly namedClient?: string | undefined;
  readonly provider: string;
  readonly model: string;
  /** The client's wire format. */
  readonly client: string;
  /** The model name that the client sent. */
  readonly requestedModel: string | undefined;
  readonly scenario: string;
  readonly reason: string;
  readonly tokens: number | undefined;
  readonly url: string;
  readonly relays: { readonly request: boolean; readonly reply: boolean };
  /** Absent: none. */
  readonly losses: readonly object[] | undefined;
}

/** The application log: routing decisions, losses and other decisions of the gateway. */
export interface AppLog extends Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>> {
  /** Writes the record that most requests have, at level `info`. */
  readonly routed: (record: RouteLogRecord) => void;
}

/**
 * Both logs of a running service. No method throws or rejects: write failures go to `onTrouble` of `openLogs`, and writing
 * resumes as soon as possible.
 */
export interface Logs {
  readonly server: ServerLog;
  readonly app: AppLog;
  /** Applies new settings, from the next record on. */
  readonly adjust: (settings: LogSettings) => void;
  /** Resolves when all records so far are written, or writing has failed. */
  readonly flush: () => Promise<void>;
  /** Writes buffered records synchronously, for the end of a process. */
  readonly flushSync: () => void;
  /** Writes buffered records and closes the files. Later records are ignored. */
  readonly close: () => Promise<void>;
}

const ignore = (): void => {};
const done = (): Promise<void> => Promise.resolve();

/** Logs that write nothing; for tests. */
export const quietLogs: Logs = {
  server: { request: ignore, completed: ignore, event: ignore },
  app: { debug: ignore, info: ignore, warn: ignore, error: ignore, routed: ignore },
  adjust: ignore,
  flush: done,
  flushSync: ignore,
  close: done,
};
