import { hostname } from 'node:os';
import { pino } from 'pino';
import type { JsonObject } from '../model/json/json.ts';
import type { LogWriter } from './log-writer.ts';
import type { AppLog, LogFields, LogLevel, LogSettings, ServerLog } from './logs.ts';
import { maskFields, maskLongText } from './mask-fields.ts';
import { maskUrl } from './mask-text.ts';

/**
 * Writes records as JSON lines: level (debug 20, info 30, warn 40, error 50), time in milliseconds since 1970, pid, hostname,
 * msg, and the record's own members.
 */
export interface RecordWriter {
  readonly adjust: (settings: LogSettings) => void;
  /** Whether records of this level are written. */
  readonly takes: (level: LogLevel) => boolean;
  /** Writes a record; secrets are masked. */
  readonly write: (level: LogLevel, message: string, fields?: LogFields) => void;
  /** Writes a record without secrets, unmasked. */
  readonly writeClean: (level: LogLevel, message: string, fields: JsonObject) => void;
  /** As `writeClean`, without serializing. `members`: JSON members, each followed by a comma. `message`: a JSON string. */
  readonly writeText: (level: LogLevel, message: string, members: string) => void;
}

export const recordWriter = (
  file: Pick<LogWriter, 'write'>,
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
        file.write(`{"level":${levels[level]},"time":${Date.now()}${origin}${members}"msg":${message}}\n`);
    },
  };
};

/** Source: interface specification, "Log line". */
const levels: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };
const origin = `,"pid":${process.pid},"hostname":${JSON.stringify(hostname())},`;

const levelOf = ({ enabled, level }: LogSettings): LogLevel | 'silent' => (enabled ? level : 'silent');

const maxUrlChars = 2048;

/**
 * The server log. `req` (id, method, url, remoteAddress) starts a request and `res` (statusCode, responseTime in whole
 * milliseconds) completes it; `reqId` correlates the two. Source: interface specification, "Log line".
 */
export const serverLog = (writer: RecordWriter, maskText: (text: string) => string): ServerLog => ({
  request({ reqId, method, url, remoteAddress }) {
    if (!writer.takes('info')) return;
    const clean = maskUrl(url, maskText);
    const shown = JSON.stringify(clean.length > maxUrlChars ? `${clean.slice(0, maxUrlChars)}…` : clean);
    const verb = JSON.stringify(maskLongText(method, maskText));
    const req = `"req":{"id":${reqId},"method":${verb},"url":${shown},"remoteAddress":"${remoteAddress}"},`;
    writer.writeText('info', '"incoming request"', req);
  },
  completed({ reqId, statusCode, responseTimeMs, aborted }) {
    const res = `"reqId":${reqId},"res":{"statusCode":${statusCode},"responseTime":${Math.max(0, Math.round(responseTimeMs))}},`;
    writer.writeText('info', aborted ? '"request aborted"' : '"request completed"', res);
  },
  event: writer.write,
});

/** The application log. The record of a route is text with fixed names: only what clients or the configuration word is masked. */
export const appLog = (writer: RecordWriter, maskText: (text: string) => string): AppLog => {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => writer.write(level, message, fields);
  const masked = (text: string): string => JSON.stringify(maskLongText(text, maskText));
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    routed({ requestId, namedClient, provider, model, client, asked, scenario, reason, tokens, url, relays, losses }) {
      if (!writer.takes('info')) return;
      // Generated ids hold no secrets, and would fill the cache of masked texts.
      const id = generatedId.test(requestId) ? `"${requestId}"` : masked(requestId);
      const members =
        `"requestId":${id},${namedClient === undefined ? '' : `"namedClient":"${namedClient}",`}"client":"${client}",${asked === undefined ? '' : `"asked":${masked(asked)},`}` +
        `"scenario":"${scenario}","reason":${masked(reason)},${tokens === undefined ? '' : `"tokens":${tokens},`}` +
        `"url":${masked(url)},"relays":{"request":${relays.request},"reply":${relays.reply}},` +
        (losses ? `"losses":${JSON.stringify(maskFields({ losses }, maskText).losses)},` : '');
      writer.writeText('info', masked(`routed to ${provider},${model}`), members);
    },
  };
};

const generatedId = /^req_[0-9a-f]{24}$/;
