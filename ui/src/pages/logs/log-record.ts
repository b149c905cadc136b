import { isJsonObject, type JsonObject, parseObject } from '../../api/json.ts';

/** A log line, with what the filters and the list need. */
export interface LogRecord {
  /** Its number in what was read, from 0; stable when older lines are discarded. */
  readonly n: number;
  /** The line as written. */
  readonly line: string;
  /** 10 to 60; 0 for a line that isn't a record. */
  readonly level: number;
  /** When it was written, in milliseconds since 1970; 0 for a line that isn't a record. */
  readonly atMs: number;
  /** Its request: an `x-request-id`, or process and number; empty if it has none. */
  readonly request: string;
  /** Belongs to one of the interface's own calls. */
  readonly own: boolean;
}

/** Parses a line. `ownRequests` collects the interface's own requests: their last record doesn't have the URL. */
export const readRecord = (line: string, n: number, ownRequests: Set<string>): LogRecord => {
  const fields = parseObject(line);
  if (!fields) return { n, line, level: 0, atMs: 0, request: '', own: false };
  const request = requestOf(fields);
  if (isOwnCall(fields)) ownRequests.add(request);
  const level = typeof fields.level === 'number' ? fields.level : 0;
  const atMs = typeof fields.time === 'number' ? fields.time : 0;
  return { n, line, level, atMs, request, own: ownRequests.has(request) };
};

/** Numbers are unique within one process. */
const requestOf = ({ requestId, req, reqId, pid }: JsonObject): string => {
  if (typeof requestId === 'string') return requestId;
  const number = isJsonObject(req) ? req.id : reqId;
  return typeof number === 'number' ? `${pid}#${number}` : '';
};

const isOwnCall = ({ req }: JsonObject): boolean =>
  isJsonObject(req) && typeof req.url === 'string' && /^\/(?:api|ui|health)(?:[/?]|$)/.test(req.url);

/** Names of the levels, by their lowest value. Source: interface specification, "Log line". */
const levels = [
  { value: 0, name: 'text' },
  { value: 10, name: 'trace' },
  { value: 20, name: 'debug' },
  { value: 30, name: 'info' },
  { value: 40, name: 'warn' },
  { value: 50, name: 'error' },
  { value: 60, name: 'fatal' },
] as const;

/** A level's name. */
export const levelName = (level: number): string => levels.findLast(({ value }) => value <= level)?.name ?? 'text';

/** A record's fields in one line, without its message and the fields that every record has. */
export const briefOf = (fields: JsonObject): string => {
  const { req, res } = fields;
  const call = isJsonObject(req) ? [`${req.method} ${req.url}`] : [];
  const end = isJsonObject(res) ? [`${res.statusCode} in ${res.responseTime} ms`] : [];
  const others = Object.entries(fields).flatMap(([name, value]) =>
    commonFields.has(name) || value === undefined
      ? []
      : [`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
  return [...call, ...end, ...others].join('  ');
};

const commonFields: ReadonlySet<string> = new Set([
  'level',
  'time',
  'pid',
  'hostname',
  'msg',
  'req',
  'res',
  'reqId',
  'requestId',
]);
