export type {
  AppLog,
  CompletedRecord,
  LogFields,
  LogLevel,
  LogSettings,
  Logs,
  RequestRecord,
  ServerLog,
} from './logs.ts';
export { type LogOptions, openLogs } from './open-logs.ts';
export { quietLogs } from './quiet-logs.ts';
export { isServerLogName } from './server-log-name.ts';
