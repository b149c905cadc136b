import { hostname } from 'node:os';
import { pino } from 'pino';
import type { JsonObject } from '../model/json.ts';
import type { LogFile } from './log-file.ts';
import type { LogFields, LogLevel, LogSettings } from './logs.ts';
import { maskFields, maskLongText } from './mask-fields.ts';

/**
 * Writes records as the specification's log lines: level (debug 20, info 30, warn 40, error 50), time in milliseconds since
 * 1970, pid, hostname, msg, and members of the record's own.
 */
export interface RecordWriter {
  readonly adjust: (settings: LogSettings) => void;
  /** Whether records of this level are written. */
  readonly takes: (level: LogLevel) => boolean;
  /** Writes a record whose texts may hold secrets. */
  readonly write: (level: LogLevel, message: string, fields?: LogFields) => void;
  /** Writes a record that is known to hold none. */
  readonly writeClean: (level: LogLevel, message: string, fields: JsonObject) => void;
  /** The same, for what is written often: `members` is JSON text, each member with a comma behind it, and so is `message`. */
  readonly writeText: (level: LogLevel, message: string, members: string) => void;
}

export const recordWriter = (
  file: Pick<LogFile, 'write'>,
  maskText: (text: string) => string,
  settings: LogSettings,
): RecordWriter => {
  const logger = pino({ level: levelOf(settings) }, { write: (line) => file.write(line) });
  const takes = (level: LogLevel) => logger.isLevelEnabled(level);
  return {
    takes,
    adjust(next) {
      logger.level = levelOf(next);
    },
    write(level, message, fields) {
      if (!takes(level)) return;
      logger[level](fields ? maskFields(fields, maskText) : {}, maskLongText(message, maskText));
    },
    writeClean(level, message, fields) {
      logger[level](fields, message);
    },
    writeText(level, message, members) {
      if (takes(level))
        file.write(`{"level":${levels[level]},"time":${Date.now()}${whose}${members}"msg":${message}}\n`);
    },
  };
};

/** Source: interface specification, "Log line". */
const levels: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };
const whose = `,"pid":${process.pid},"hostname":${JSON.stringify(hostname())},`;

const levelOf = ({ enabled, level }: LogSettings): LogLevel | 'silent' => (enabled ? level : 'silent');
