import type { LogRecord } from './log-record.ts';

/** Which records are shown. */
export interface LogFilter {
  /** This level and those above; 0: all. */
  readonly level: number;
  /** Occurs in the line, whatever its case. */
  readonly text: string;
  /** Of this request alone; empty: of all. */
  readonly request: string;
  /** Without the calls that this interface makes. */
  readonly withoutOwn: boolean;
}

/** Whether a record passes. */
export type Passes = (record: LogRecord) => boolean;

/** The test that a filter asks for. */
export const filterRecords = ({ level, text, request, withoutOwn }: LogFilter): Passes => {
  // A line is looked through as it is: a copy in small letters of each would cost more than the search.
  const wanted = text === '' ? undefined : new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
  return (record) =>
    record.level >= level &&
    (request === '' || record.request === request) &&
    !(withoutOwn && record.own) &&
    (wanted === undefined || wanted.test(record.line));
};
