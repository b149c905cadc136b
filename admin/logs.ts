import { from, mergeMap, type Observable } from 'rxjs';
import Type from 'typebox';
import type { ReplyPart } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import {
  appLogName,
  findLog,
  type LogEntry,
  type LogName,
  listLogs,
  openLogFile,
} from '../engine/observe/log/list-logs.ts';
import type { Logs } from '../engine/observe/log/logs.ts';
import { findLinesEnd, findTail, readLines, type Tail } from '../engine/observe/log/read-lines.ts';
import type { Backpressure, Gate } from '../engine/runtime/backpressure.ts';
import { adminOperation, done, gated, jsonOperation, jsonReply } from './endpoint.ts';
import { LogFile, Outcome } from './schema.ts';

const fileQuery = {
  file: Type.String({ description: 'A log file as the list of them names it; default: app.log.' }),
};

/** Maximum size of a log excerpt, in bytes; of larger files only the end is sent. */
const maxBytes = 16 * 1024 * 1024;

/** The log files. `file` is a name or path as listed; default: `app.log`. */
export const logOperations = (home: string, logs: Logs) => ({
  files: jsonOperation({
    summary: 'The log files, newest first',
    says: 'The list.',
    reply: Type.Array(LogFile),
    answer: async () => {
      await logs.flush();
      return (await listLogs(home)).map(show);
    },
  }),
  lines: adminOperation({
    summary: 'One log file',
    says: 'Its lines, each a record as JSON text.',
    reply: Type.Array(Type.String()),
    query: {
      ...fileQuery,
      limit: Type.Integer({ minimum: 1, description: 'So many of the newest lines.' }),
      after: Type.Integer({
        minimum: 0,
        description: 'Only lines from this byte on, as `x-junctor-log-offset` of an earlier answer told it.',
      }),
    },
    answer: ({ query, backpressure }) => {
      const params = new URLSearchParams(query);
      const maxLines = readLimit(params.get('limit'));
      const after = readAfter(params.get('after'));
      return from(askedFile(home, params)).pipe(
        mergeMap(async (log) => {
          await logs.flush();
          return log;
        }),
        mergeMap((log) => sendLog(log, { maxBytes, maxLines, after }, backpressure)),
      );
    },
  }),
  clear: jsonOperation({
    summary: 'Clears one log file',
    says: 'It is empty.',
    reply: Outcome,
    query: fileQuery,
    answer: async ({ query }) => {
      const log = await askedFile(home, new URLSearchParams(query));
      // Buffered records must not appear after the truncation.
      await logs.flush();
      await emptyLog(log);
      return done(`${log.name} was emptied.`);
    },
  }),
});

/** The same for files that aren't logs, so that their existence isn't revealed. */
const noSuchLog = (): never =>
  fail('not-found', 'There is no such log file; GET /api/logs/files lists those that there are.');

const show = ({ name, path, size, modifiedMs }: LogEntry): LogFile => ({
  name,
  path,
  size,
  lastModified: new Date(modifiedMs).toISOString(),
});

const askedFile = async (home: string, params: URLSearchParams): Promise<LogName> =>
  (await findLog(home, params.get('file') ?? appLogName)) ?? noSuchLog();

const readLimit = (limit: string | null): number | undefined => {
  if (limit === null) return undefined;
  return /^[1-9]\d{0,8}$/.test(limit)
    ? Number(limit)
    : fail('invalid-request', 'limit must be a whole number of lines, at least 1.', { param: 'limit' });
};

const readAfter = (after: string | null): number | undefined => {
  if (after === null) return undefined;
  return /^\d{1,15}$/.test(after)
    ? Number(after)
    : fail('invalid-request', 'after must be a number of bytes, as x-junctor-log-offset told it.', {
        param: 'after',
      });
};

/** The size of a log file in bytes, with all that is logged so far. Rejects with a `not-found` fault if there is none. */
export const logSize = async (home: string, logs: Logs, params: URLSearchParams) => {
  const log = await askedFile(home, params);
  await logs.flush();
  const file = await openLogFile(log, 'read');
  if (typeof file === 'string')
    return file === 'missing' && log.name === appLogName ? { file: log.name, size: 0 } : noSuchLog();
  try {
    return { file: log.name, size: (await file.stat()).size };
  } finally {
    await file.close();
  }
};

const emptyLog = async (log: LogName): Promise<void> => {
  const file = await openLogFile(log, 'write');
  // The application log is created on its first record; until then it counts as empty.
  if (file === 'missing' && log.name === appLogName) return;
  if (typeof file === 'string') return noSuchLog();
  try {
    await file.truncate();
  } finally {
    await file.close();
  }
};

/**
 * Streams a log's newest lines as a JSON array of strings; any file size, with back-pressure. Headers:
 * `x-junctor-log-omitted` (bytes of omitted older lines, if any) and `x-junctor-log-offset` (byte offset at which the
 * next reply continues).
 */
export const sendLog = (log: LogName, tail: Tail, backpressure: Backpressure): Observable<ReplyPart> =>
  gated(backpressure, (gate) => readParts(log, tail, gate));

async function* readParts(log: LogName, tail: Tail, gate: Gate): AsyncGenerator<ReplyPart> {
  const file = await openLogFile(log, 'read');
  if (typeof file === 'string') {
    // The application log is created on its first record.
    yield file === 'missing' && log.name === appLogName ? jsonReply([], 200, { [offsetHeader]: '0' }) : noSuchLog();
    return;
  }
  try {
    const span = await findTail(file, tail);
    const { status, headers } = jsonReply([]);
    const { after = 0 } = tail;
    const begin = after > span.to ? 0 : after;
    const omitted = span.from > begin && { 'x-junctor-log-omitted': String(span.from - begin) };
    // An incomplete last line is sent with the next reply.
    const end = await findLinesEnd(file, span.from, span.to);
    yield { type: 'head', status, headers: { ...headers, ...omitted, [offsetHeader]: String(end) } };
    let separator = '[';
    for await (const lines of readLines(file, tail.after === undefined ? span : { from: span.from, to: end })) {
      await gate.opened;
      yield { type: 'data', data: separator + lines.map((line) => JSON.stringify(line)).join(',') };
      separator = ',';
    }
    yield { type: 'data', data: separator === '[' ? '[]' : ']' };
  } finally {
    await file.close();
  }
}

const offsetHeader = 'x-junctor-log-offset';
