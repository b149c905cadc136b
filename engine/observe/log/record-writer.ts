import os from 'node:os';
import { pino } from 'pino';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../model/json/json.ts';
import type { LogWriter } from './log-writer.ts';
import type { AppLog, LogFields, LogLevel, LogSettings, ServerLog } from './logs.ts';
import { isSecretName, masked, maskUrl } from './mask-text.ts';

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
  /** Writes a record without secrets, unmasked, whatever its level. One literal: a head put before it would copy the line. */
  readonly writeUnmasked: (record: UnmaskedRecord) => void;
}

/** A whole record, in the order of its members; the message comes last. Those that are `undefined` aren't written. */
interface UnmaskedRecord {
  readonly level: number;
  readonly time: number;
  readonly pid: number;
  readonly hostname: string;
  readonly [name: string]: unknown;
  readonly msg: string;
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
    writeUnmasked: (record) => file.write(`${JSON.stringify(record)}\n`),
  };
};

/** Level numbers of records. Source: interface specification, "Log line". */
const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const satisfies Record<LogLevel, number>;
const { pid } = process;
const hostname = os.hostname();

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
    const shown = clean.length > maxUrlChars ? `${clean.slice(0, maxUrlChars)}…` : clean;
    const req = { id: reqId, method: maskLongText(method, maskText), url: shown, remoteAddress };
    writer.writeUnmasked({ level: levels.info, time: Date.now(), pid, hostname, req, msg: 'incoming request' });
  },
  completed({ reqId, statusCode, responseTimeMs, aborted }) {
    if (!writer.takes('info')) return;
    const res = { statusCode, responseTime: Math.max(0, Math.round(responseTimeMs)) };
    const msg = aborted ? 'request aborted' : 'request completed';
    writer.writeUnmasked({ level: levels.info, time: Date.now(), pid, hostname, reqId, res, msg });
  },
  event: writer.write,
});

/** The application log. The record of a route has fixed names: only texts of clients or the configuration are masked. */
export const appLog = (writer: RecordWriter, maskText: (text: string) => string): AppLog => {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => writer.write(level, message, fields);
  const masked = (text: string): string => maskLongText(text, maskText);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    routed(record) {
      if (!writer.takes('info')) return;
      const { requestId, requestedModel, losses } = record;
      writer.writeUnmasked({
        level: levels.info,
        time: Date.now(),
        pid,
        hostname,
        // Generated ids hold no secrets, and would fill the cache of masked texts.
        requestId: generatedId.test(requestId) ? requestId : masked(requestId),
        namedClient: record.namedClient,
        client: record.client,
        asked: requestedModel === undefined ? undefined : masked(requestedModel),
        scenario: record.scenario,
        reason: masked(record.reason),
        tokens: record.tokens,
        url: masked(record.url),
        relays: record.relays,
        losses: losses && maskFields({ losses }, maskText).losses,
        msg: masked(`routed to ${record.provider},${record.model}`),
      });
    },
  };
};

const generatedId = /^req_[0-9a-f]{24}$/;

/** Bounds of a record: nesting levels, values, characters in total, characters per text. */
const maxDepth = 6;
const maxValues = 500;
const maxChars = 65_536;
const maxTextChars = 8192;

/** Members that every record already has; fields of these names get an underscore. */
const reserved = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

interface Walk {
  readonly maskText: (text: string) => string;
  values: number;
  chars: number;
}

/**
 * Converts a record's fields to plain JSON without secrets. Values with secret names are masked whole, also in header lists
 * of names and values; all other texts go through `maskText`. Errors keep name, message, stack, cause and own fields. Values
 * beyond the bounds are cut and marked with `…`. Never throws.
 */
export const maskFields = (
  fields: Readonly<Record<string, unknown>>,
  maskText: (text: string) => string,
): JsonObject => {
  const node = plainNode(fields, { maskText, values: 0, chars: 0 }, 0);
  if (!isJsonObject(node)) return { fields: node };
  if (![...reserved].some((name) => Object.hasOwn(node, name))) return node;
  const clean: JsonDraft = {};
  for (const [name, value] of Object.entries(node)) define(clean, reserved.has(name) ? `${name}_` : name, value);
  return clean;
};

/** Masks secrets in a text and bounds its length. */
const maskLongText = (text: string, maskText: (text: string) => string): string => {
  const clean = maskText(text);
  return clean.length > maxTextChars ? `${clean.slice(0, maxTextChars)}… (${clean.length} characters)` : clean;
};

const plain = (value: unknown, walk: Walk, depth: number): Json | undefined => {
  walk.values += 1;
  if (walk.values > maxValues) return '…';
  switch (typeof value) {
    case 'string':
      return plainText(value, walk);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : plainNode(value, walk, depth);
    default:
      return undefined;
  }
};

const plainText = (value: string, walk: Walk): string => {
  if (walk.chars > maxChars) return '…';
  const clean = maskLongText(value, walk.maskText);
  walk.chars += clean.length;
  return clean;
};

const plainNode = (value: object, walk: Walk, depth: number): Json | undefined => {
  if (depth >= maxDepth) return '…';
  try {
    if (value instanceof Error) return plainError(value, walk, depth);
    if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
    if (value instanceof Map || isHeaders(value)) return plainObject(Object.fromEntries(value), walk, depth);
    if (value instanceof Set) return plainList([...value], walk, depth);
    if (Array.isArray(value)) return plainList(value, walk, depth);
    if ('toJSON' in value && typeof value.toJSON === 'function') return plain(value.toJSON(), walk, depth + 1);
    return plainObject(value, walk, depth);
  } catch {
    // A getter, proxy or `toJSON` threw.
    return '(unreadable)';
  }
};

/** Avoids the global `Headers`: reading it makes Node.js load its fetch. */
const isHeaders = (value: object): value is Headers => Object.prototype.toString.call(value) === '[object Headers]';

const plainError = (error: Error, walk: Walk, depth: number): JsonObject =>
  plainObject(
    { ...error, name: error.name, message: error.message, stack: error.stack, cause: error.cause },
    walk,
    depth,
  );

const plainObject = (value: object, walk: Walk, depth: number): JsonObject => {
  const clean: JsonDraft = {};
  for (const [name, member] of Object.entries(value)) {
    if (walk.values >= maxValues) {
      clean['…'] = true;
      break;
    }
    // A name may be a secret itself, as in a table of keys.
    define(clean, walk.maskText(name), isSecretName(name) ? hidden(member) : plain(member, walk, depth + 1));
  }
  return clean;
};

const plainList = (values: readonly unknown[], walk: Walk, depth: number): Json[] => {
  const clean: Json[] = [];
  let named = false;
  for (const value of values) {
    if (walk.values >= maxValues) return [...clean, '…'];
    clean.push((named ? hidden(value) : plain(value, walk, depth + 1)) ?? null);
    // `['x-api-key', 'abc']` and `['accept', '*', 'cookie', 'abc']`: a header's value follows its name.
    named = !named && typeof value === 'string' && isSecretName(value);
  }
  return clean;
};

/** Masks a value with a secret name. Numbers, flags (`token: 5`, `apiKey: true`) and empty texts aren't secrets. */
const hidden = (value: unknown): Json | undefined => {
  if (value === undefined || value === null || value === '') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : masked;
};

/** Sets a member of any name; assigning to `__proto__` would change the prototype. */
const define = (target: JsonDraft, name: string, value: Json | undefined): void => {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true });
  else target[name] = value;
};
