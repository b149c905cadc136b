import type { Json } from '../engine/model/json.ts';
import type { Headers } from '../engine/model/protocol.ts';
import type { WholeReply } from '../engine/reply-part.ts';

/** A JSON answer that nobody may keep. */
export const jsonReply = (body: Json, status = 200, headers: Headers = {}): WholeReply =>
  jsonTextReply(JSON.stringify(body), status, headers);

/** The same for a body that is JSON text already. */
export const jsonTextReply = (body: string, status = 200, headers: Headers = {}): WholeReply => ({
  type: 'whole',
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body,
});
