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
  /** Writes a record of level `info`, unmasked, whatever the level of the log. `members` are JSON, each with a comma after it. */
  readonly writeInfo: (members: string, message: string) => void;
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
    writeInfo: (members, message) =>
      file.write(`${infoHead}${Date.now()},${place}${members}"msg":${jsonText(message)}}\n`),
  };
};

/** Level numbers of records. Source: interface specification, "Log line". */
const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const satisfies Record<LogLevel, number>;
const infoHead = `{"level":${levels.info},"time":`;
const place = `"pid":${process.pid},"hostname":${JSON.stringify(os.hostname())},`;

/** A text in JSON. Most texts need no escapes, which a pattern finds sooner than `JSON.stringify` does. */
const jsonText = (text: string): string => (unescaped.test(text) ? `"${text}"` : JSON.stringify(text));

const unescaped = /^[ !#-[\]-~]*$/;

/** A member whose value is a text; empty without one. */
const textMember = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `"${name}":${jsonText(text)},`;

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
    const name = maskLongText(method, maskText);
    writer.writeInfo(
      `"req":{"id":${reqId},"method":${jsonText(name)},"url":${jsonText(shown)},"remoteAddress":${jsonText(remoteAddress)}},`,
      'incoming request',
    );
  },
  completed({ reqId, statusCode, responseTimeMs, aborted }) {
    if (!writer.takes('info')) return;
    const responseTime = Math.max(0, Math.round(responseTimeMs));
    writer.writeInfo(
      `"reqId":${reqId},"res":{"statusCode":${statusCode},"responseTime":${responseTime}},`,
      aborted ? 'request aborted' : 'request completed',
    );
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
      const { requestId, requestedModel, tokens, relays, losses } = record;
      // Generated ids hold no secrets, and would fill the cache of masked texts.
      const id = generatedId.test(requestId) ? requestId : masked(requestId);
      const asked = requestedModel === undefined ? undefined : masked(requestedModel);
      const count = tokens === undefined ? '' : `"tokens":${tokens},`;
      const lost = losses ? `"losses":${JSON.stringify(maskFields({ losses }, maskText).losses)},` : '';
      writer.writeInfo(
        `${textMember('requestId', id)}${textMember('namedClient', record.namedClient)}${textMember('client', record.client)}${textMember('asked', asked)}${textMember('scenario', record.scenario)}${textMember('reason', masked(record.reason))}${count}${textMember('url', masked(record.url))}"relays":{"request":${relays.request},"reply":${relays.reply}},${lost}`,
        masked(`routed to ${record.provider},${record.model}`),
      );
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
