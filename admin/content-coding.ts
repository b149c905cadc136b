import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { from, type Observable, of } from 'rxjs';
import type { HttpRequest, ReplyPart, WholeReply } from '../engine/http/endpoint.ts';

/** Content codings of answers. */
export type ContentCoding = 'br' | 'gzip' | 'identity';

/** Best content coding that the client accepts. Source: RFC 9110, "Accept-Encoding". */
export const chooseEncoding = (accepted: string | undefined): ContentCoding => {
  const codings = new Set(
    (accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((entry) => entry.split(';').map((part) => part.trim()))
      .filter(([, weight]) => weight === undefined || !/^q=0(?:\.0*)?$/.test(weight))
      .map(([coding]) => coding),
  );
  if (codings.has('br')) return 'br';
  return codings.has('gzip') ? 'gzip' : 'identity';
};

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Encodes bytes, outside the event loop's thread. `quality` from 1, the fastest, to 9, the smallest. */
export const encode = async (bytes: Uint8Array, coding: ContentCoding, quality: number): Promise<Uint8Array> => {
  if (coding === 'br') return brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
  return coding === 'gzip' ? zip(bytes, { level: quality }) : bytes;
};

/** Bodies below this size fit into a packet, so compression doesn't help. */
const smallBytes = 1_400;

/** Several times faster than the best quality, and hardly larger. */
const fastQuality = 4;

/** Compresses a whole JSON answer for a client that accepts it. Streams and other types stay as they are. */
export const compressed = (part: ReplyPart, request: HttpRequest): Observable<ReplyPart> => {
  if (part.type !== 'whole' || !isPlainJson(part)) return of(part);
  const reply = { ...part, headers: { ...part.headers, vary: 'accept-encoding' } };
  const coding = chooseEncoding(request.header('accept-encoding'));
  if (coding === 'identity' || part.body.length < smallBytes) return of(reply);
  return from(
    encode(Buffer.from(part.body), coding, fastQuality).then((body) => ({
      ...reply,
      headers: { ...reply.headers, 'content-encoding': coding },
      body,
    })),
  );
};

const isPlainJson = ({ headers }: WholeReply): boolean =>
  headers['content-encoding'] === undefined && (headers['content-type'] ?? '').startsWith('application/json');
