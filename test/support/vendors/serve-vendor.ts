import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../upstream.ts';
import type { Vendor } from './vendor.ts';

/** Puts a simulated vendor on a loopback port. */
export const serveVendor = <Body>(vendor: Vendor<Body>): Promise<ScriptedUpstream> =>
  startUpstream(({ url, body }) => {
    if (!url.startsWith(vendor.path)) return jsonAnswer(vendor.error(`no such path: ${url}`), 404);
    // The vendor's own checks find out whether this is such a body.
    const asked = body as Body;
    const complaint = vendor.complaint(asked);
    if (complaint !== undefined) return jsonAnswer(vendor.error(complaint), 400);
    const answer = vendor.answer(asked);
    return answer.type === 'json' ? jsonAnswer(answer.body) : sseAnswer(inOddPieces(answer.pieces.join('')));
  });

/** The stream in pieces that keep neither to records nor to characters. */
const inOddPieces = (text: string): Uint8Array[] => {
  const bytes = new TextEncoder().encode(text);
  const out: Uint8Array[] = [];
  for (let from = 0, size = 7; from < bytes.length; from += size, size = ((size * 31) % 301) + 1) {
    out.push(bytes.subarray(from, from + size));
  }
  return out;
};
