import { defer, from, mergeMap } from 'rxjs';
import Type, { type Static } from 'typebox';
import type { Row } from '../engine/http/site.ts';
import type { Logs } from '../engine/log/index.ts';
import { appLogName, findLog, type LogEntry, type LogName, listLogs, openLogFile } from '../engine/log/log-files.ts';
import { fail } from '../engine/model/fault.ts';
import { jsonReply } from './json-reply.ts';
import { noSuchLog } from './no-such-log.ts';
import { sendLog } from './send-log.ts';
import { wordFault } from './word-fault.ts';

/** One element of `GET /api/logs/files`. Source: interface specification, "Log file entry". */
export const LogFileEntry = Type.Object({
  name: Type.String({ description: 'File name.' }),
  path: Type.String({ description: 'Complete path.' }),
  size: Type.Integer({ description: 'In bytes.' }),
  lastModified: Type.String({ description: 'ISO 8601.' }),
});
export type LogFileEntry = Static<typeof LogFileEntry>;

/** Of a larger file, `GET /api/logs` sends so much of the end. */
const maxBytes = 16 * 1024 * 1024;

/**
 * The logs of a config directory. `GET /api/logs/files` lists the files, newest first. `GET /api/logs` sends the lines of one,
 * `DELETE /api/logs` empties it in place; `file` is its name or path as listed, and without it `app.log` is meant. `limit` asks
 * for so many of the newest lines, `after` for those that came since an earlier answer.
 */
export const logRows = (home: string, logs: Logs): readonly Row[] => [
  {
    method: 'GET',
    path: '/api/logs/files',
    endpoint: {
      open: false,
      wordFault,
      handle: () =>
        defer(async () => {
          await logs.flush();
          return jsonReply((await listLogs(home)).map(show));
        }),
    },
  },
  {
    method: 'GET',
    path: '/api/logs',
    endpoint: {
      open: false,
      wordFault,
      handle: ({ query, flow }) =>
        defer(() => {
          const params = new URLSearchParams(query);
          const maxLines = readLimit(params.get('limit'));
          const after = readAfter(params.get('after'));
          return from(askedFile(home, params)).pipe(
            mergeMap(async (log) => {
              await logs.flush();
              return log;
            }),
            mergeMap((log) => sendLog(log, { maxBytes, maxLines, after }, flow)),
          );
        }),
    },
  },
  {
    method: 'DELETE',
    path: '/api/logs',
    endpoint: {
      open: false,
      wordFault,
      handle: ({ query }) =>
        defer(async () => {
          const log = await askedFile(home, new URLSearchParams(query));
          // What was logged before must not turn up after.
          await logs.flush();
          await emptyLog(log);
          return jsonReply({ success: true, message: `${log.name} was emptied.` });
        }),
    },
  },
];

const show = ({ name, path, size, modifiedMs }: LogEntry): LogFileEntry => ({
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
    : fail('invalid-request', 'after must be a number of bytes, as x-switchyard-log-offset told it.', {
        param: 'after',
      });
};

const emptyLog = async (log: LogName): Promise<void> => {
  const file = await openLogFile(log, 'write');
  // The application log is only made when there is something to write: then it is as empty as can be.
  if (file === 'missing' && log.name === appLogName) return;
  if (typeof file === 'string') return noSuchLog();
  try {
    await file.truncate();
  } finally {
    await file.close();
  }
};
