import type { LogRecord } from './log-record.ts';

/** Which record the keys are at, and whether its fields are shown. */
export interface Selection {
  readonly record: LogRecord;
  readonly open: boolean;
}
