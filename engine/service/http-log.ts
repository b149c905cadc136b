import type { RequestHooks } from '../http/settings.ts';
import type { Logs } from '../observe/log/logs.ts';

/** Logs two records per request to the server log. */
export const httpLog = ({ server, app }: Logs): RequestHooks => ({
  started({ number, method, path, query, remoteAddress }) {
    const url = query === '' ? path : `${path}?${query}`;
    server.request({ reqId: number, method, url, remoteAddress });
  },
  finished({ number }, { status, durationMs, aborted }) {
    server.completed({ reqId: number, statusCode: status, responseTimeMs: durationMs, aborted });
  },
  failed(error, requestId) {
    app.error('internal error', { requestId, stack: error instanceof Error ? error.stack : String(error) });
  },
  warn: (line) => app.warn(line),
});
