import { parseJson } from '../../../model/json/json.ts';
import { reader } from '../../../model/schema.ts';
import { type Capture, type KeptRequest, RequestDetail } from '../../record/schema.ts';
import { chunkBytes } from '../capture-file.ts';

/** The text before and after the entries of a HAR. Source: HTTP Archive 1.2, section "log". */
export const harStart = (version: string): string =>
  `{"log":{"version":"1.2","creator":{"name":"Junctor","version":${JSON.stringify(version)}},"entries":[`;
export const harEnd = ']}}';

const detailReader = reader(RequestDetail);

/** A request as an entry of a HAR; `capture`: the JSON text of its `RequestDetail`, whose bodies and headers it then has. */
export const harEntry = (request: KeptRequest, baseUrl: string, capture: string | undefined): string => {
  const detail: unknown = capture === undefined ? undefined : parseJson(capture);
  const captured = detailReader.matches(detail) ? detail.capture : null;
  const { startedAt, path, status, durationMs, firstByteMs = durationMs } = request;
  const wait = Math.min(firstByteMs, durationMs);
  return JSON.stringify({
    startedDateTime: new Date(startedAt).toISOString(),
    time: durationMs,
    request: {
      method: 'POST',
      url: baseUrl + path,
      ...common,
      queryString: [],
      headers: headersOf(captured?.client.headers),
      ...(captured && { postData: { mimeType: 'application/json', text: captured.client.body } }),
    },
    response: {
      status,
      statusText: '',
      ...common,
      headers: headersOf(captured?.reply.headers),
      content: contentOf(captured),
      redirectURL: '',
    },
    cache: {},
    timings: { send: 0, wait, receive: durationMs - wait },
    comment: request.id,
    _junctor: request,
  });
};

/** -1: unknown. */
const common = { httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1, bodySize: -1 };

const headersOf = (headers: Readonly<Record<string, string>> = {}) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

const contentOf = (capture: Capture | null) => {
  if (!capture) return { size: -1, mimeType: '' };
  const text = Buffer.concat(capture.reply.chunks.map(chunkBytes)).toString();
  return { size: Buffer.byteLength(text), mimeType: capture.reply.headers['content-type'] ?? '', text };
};
