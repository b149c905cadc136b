import { from, mergeMap } from 'rxjs';
import Type, { type Static } from 'typebox';
import type { HttpRoute } from '../engine/http/router.ts';
import { appLogName, findLog, type LogEntry, type LogName, listLogs, openLogFile } from '../engine/log/list-logs.ts';
import type { Logs } from '../engine/log/open-logs.ts';
import { fail } from '../engine/model/fault.ts';
import { adminEndpoint } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';
import { noSuchLog } from './no-such-log.ts';
import { sendLog } from './send-log.ts';

/** One element of `GET /api/logs/files`. Source: interface specification, "Log file entry". */
const LogFileEntry = Type.Object({
  name: Type.String({ description: 'File name.' }),
  path: Type.String({ description: 'Complete path.' }),
  size: Type.Integer({ description: 'In bytes.' }),
  lastModified: Type.String({ description: 'ISO 8601.' }),
});
type LogFileEntry = Static<typeof LogFileEntry>;

/** Maximum size of a log excerpt, in bytes; of larger files only the end is sent. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Endpoints of the log files. `file` is a name or path as listed; default: `app.log`.
 *
 * - `GET /api/logs/files`: lists them, newest first.
 * - `GET /api/logs`: lines of a file; `limit`: only the newest, `after`: only those since an earlier reply.
 * - `DELETE /api/logs`: truncates a file.
 */
export const logRoutes = (home: string, logs: Logs): readonly HttpRoute[] => [
  {
    method: 'GET',
    path: '/api/logs/files',
    endpoint: adminEndpoint(async () => {
      await logs.flush();
      return jsonReply((await listLogs(home)).map(show));
    }),
  },
  {
    method: 'GET',
    path: '/api/logs',
    endpoint: adminEndpoint(({ query, backpressure }) => {
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
    }),
  },
  {
    method: 'DELETE',
    path: '/api/logs',
    endpoint: adminEndpoint(async ({ query }) => {
      const log = await askedFile(home, new URLSearchParams(query));
      // Buffered records must not appear after the truncation.
      await logs.flush();
      await emptyLog(log);
      return jsonReply({ success: true, message: `${log.name} was emptied.` });
    }),
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
  // The application log is created on its first record; until then it counts as empty.
  if (file === 'missing' && log.name === appLogName) return;
  if (typeof file === 'string') return noSuchLog();
  try {
    await file.truncate();
  } finally {
    await file.close();
  }
};
