import type { LogRecord } from './log-record.ts';

/** The selected record, and whether its details are open. */
export interface Selection {
  readonly record: LogRecord;
  readonly open: boolean;
}
