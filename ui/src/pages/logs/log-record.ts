import { isJsonObject, type JsonObject } from '../../api/json.ts';

/** A line of a log, as far as filters and the list look at it. */
export interface LogRecord {
  /** Its place in what was read, from 0 on; stays when older lines are let go. */
  readonly n: number;
  /** As it is in the file. */
  readonly line: string;
  /** 10 to 60; 0 for a line that isn't a record. */
  readonly level: number;
  /** The request it belongs to: an `x-request-id`, or process and number; empty when it belongs to none. */
  readonly request: string;
  /** It tells of a call of this interface. */
  readonly own: boolean;
}

/** The record of a line; `ownRequests` gathers the requests of this interface, whose ends don't say so. */
export const readRecord = (line: string, n: number, ownRequests: Set<string>): LogRecord => {
  const fields = fieldsOf(line);
  if (!fields) return { n, line, level: 0, request: '', own: false };
  const request = requestOf(fields);
  if (isOwnCall(fields)) ownRequests.add(request);
  const level = typeof fields.level === 'number' ? fields.level : 0;
  return { n, line, level, request, own: ownRequests.has(request) };
};

/** All fields of a line; `undefined` for one that isn't a record. */
export const fieldsOf = (line: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Numbers count the requests of one process. */
const requestOf = ({ requestId, req, reqId, pid }: JsonObject): string => {
  if (typeof requestId === 'string') return requestId;
  const number = isJsonObject(req) ? req.id : reqId;
  return typeof number === 'number' ? `${pid}#${number}` : '';
};

const isOwnCall = ({ req }: JsonObject): boolean =>
  isJsonObject(req) && typeof req.url === 'string' && /^\/(?:api|ui|health)(?:[/?]|$)/.test(req.url);

/** What a level is called; from this one on is what a filter asks for. Source: interface specification, "Log line". */
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

/** What a record says in one line beside its message: its other fields, those that are the same everywhere left out. */
export const briefOf = (fields: JsonObject): string => {
  const { req, res } = fields;
  const call = isJsonObject(req) ? [`${req.method} ${req.url}`] : [];
  const end = isJsonObject(res) ? [`${res.statusCode} after ${res.responseTime} ms`] : [];
  const others = Object.entries(fields).flatMap(([name, value]) =>
    everywhere.has(name) || value === undefined
      ? []
      : [`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
  return [...call, ...end, ...others].join('  ');
};

const everywhere: ReadonlySet<string> = new Set([
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
