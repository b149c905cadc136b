import {
  jsonAnswer,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
  type UpstreamAnswer,
} from '../upstreams/upstream.ts';
import type { Vendor, VendorFailure } from './vendor.ts';

/** Puts a simulated vendor, whose key is `key`, on a loopback port. */
export const serveVendor = <Body>(vendor: Vendor<Body>, key: string): Promise<ScriptedUpstream> =>
  startUpstream(({ url, headers, body }) => {
    if (!vendor.paths.test(url)) return fail(vendor, 404, `no such path: ${url}`);
    if (vendor.key(headers) !== key) return fail(vendor, 401, 'no valid key');
    // The vendor's own checks find out whether this is such a body.
    const asked = body as Body;
    const refusal = vendor.refusal?.(asked, headers);
    if (refusal !== undefined) return failed(refusal, 400);
    const complaint = vendor.complaint(asked, url);
    if (complaint !== undefined) return fail(vendor, 400, complaint);
    const wanted = /fail with (\d+)/.exec(vendor.understand(asked).text)?.[1];
    if (wanted !== undefined) return fail(vendor, Number(wanted), `as you asked: ${wanted}`);
    const answer = vendor.answer(asked, url);
    if (answer.type === 'json') {
      return { headers: { 'content-type': 'application/json' }, pieces: inOddPieces(encode(answer.text)) };
    }
    const stream = answer.pieces.join('');
    const { framing } = vendor;
    return framing
      ? { headers: { 'content-type': framing.type }, pieces: inOddPieces(framing.bytes(stream)) }
      : sseAnswer(inOddPieces(encode(stream)));
  });

const fail = <Body>(vendor: Vendor<Body>, status: number, message: string): UpstreamAnswer =>
  failed(vendor.failure(status, message), status);

const failed = (failure: VendorFailure, status: number): UpstreamAnswer => {
  const answer = jsonAnswer(failure.body, failure.status ?? status);
  return { ...answer, headers: { ...answer.headers, ...failure.headers } };
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Bytes in pieces that keep neither to records nor to characters. */
const inOddPieces = (bytes: Uint8Array): Uint8Array[] => {
  const out: Uint8Array[] = [];
  for (let from = 0, size = 7; from < bytes.length; from += size, size = ((size * 31) % 301) + 1) {
    out.push(bytes.subarray(from, from + size));
  }
  return out;
};
