import { call, callFor } from './call.ts';
import type { Outcome } from './config.ts';

/** A log file. */
export interface LogFile {
  readonly name: string;
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** ISO 8601. */
  readonly lastModified: string;
}

/** Lines of a log, and where to go on reading. */
export interface LogLines {
  /** Each a JSON text. */
  readonly lines: readonly string[];
  /** Where the next lines begin; `undefined` when the gateway doesn't say. */
  readonly offset: number | undefined;
}

/** All log files, newest first. */
export const listLogs = (signal?: AbortSignal): Promise<readonly LogFile[]> => call('/api/logs/files', { signal });

/** The lines of a file (default: `app.log`): the newest `limit`, or those `after` an offset. */
export const readLog = async (
  query: { readonly file?: string; readonly limit?: number; readonly after?: number },
  signal?: AbortSignal,
): Promise<LogLines> => {
  const { value, headers } = await callFor<readonly string[]>('/api/logs', { query: { ...query }, signal });
  const offset = headers.get('x-switchyard-log-offset');
  return { lines: value, offset: offset === null ? undefined : Number(offset) };
};

/** Empties a file. */
export const clearLog = (file: string): Promise<Outcome> => call('/api/logs', { method: 'DELETE', query: { file } });
