import type { RequestHooks } from '../http/settings.ts';
import type { Logs } from '../log/logs.ts';

/** Logs two records per request to the server log, with a request number of this process. */
export const httpLog = ({ server, app }: Logs): RequestHooks => {
  const numbers = new Map<object, number>();
  let count = 0;
  return {
    started(request) {
      count += 1;
      numbers.set(request, count);
      const url = request.query === '' ? request.path : `${request.path}?${request.query}`;
      server.request({ reqId: count, method: request.method, url, remoteAddress: request.remoteAddress });
    },
    finished(request, { status, durationMs, aborted }) {
      const reqId = numbers.get(request) ?? 0;
      numbers.delete(request);
      server.completed({ reqId, statusCode: status, responseTimeMs: durationMs, aborted });
    },
    failed(error, requestId) {
      app.error('internal error', { requestId, stack: error instanceof Error ? error.stack : String(error) });
    },
    warn: (line) => app.warn(line),
  };
};
