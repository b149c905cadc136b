import type { ServerLog } from './logs.ts';
import { maskLongText } from './mask-fields.ts';
import { maskUrl } from './mask-url.ts';
import type { RecordWriter } from './record-writer.ts';

const maxUrlChars = 2048;

/**
 * The server log's records. `req` (id, method, url, remoteAddress) opens a request and `res` (statusCode, responseTime in whole
 * milliseconds) completes it; `reqId` ties the two together. Source: interface specification, "Log line".
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
