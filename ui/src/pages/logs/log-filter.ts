import { gatewayNowMs } from '../../api/clock.ts';
import type { LogRecord } from './log-record.ts';

/** What the log list is filtered by. */
export interface LogFilter {
  /** Minimum level; 0: all. */
  readonly level: number;
  /** Text in the line, case-insensitive. */
  readonly text: string;
  /** One request's id; empty: all. */
  readonly request: string;
  /** How many minutes ago the records may have been written at most; 0: any time. */
  readonly minutes: number;
  /** Hides the interface's own calls. */
  readonly withoutOwn: boolean;
}

/** Whether a record matches. */
export type Passes = (record: LogRecord) => boolean;

/** Compiles a filter to a predicate. */
export const filterRecords = ({ level, text, request, minutes, withoutOwn }: LogFilter): Passes => {
  const sinceMs = minutes === 0 ? 0 : gatewayNowMs() - minutes * 60_000;
  // Case-insensitive matching is cheaper than a lower-case copy of each line.
  const wanted = text === '' ? undefined : new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
  return (record) =>
    record.level >= level &&
    record.atMs >= sinceMs &&
    (request === '' || record.request === request) &&
    !(withoutOwn && record.own) &&
    (wanted === undefined || wanted.test(record.line));
};
