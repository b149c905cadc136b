import type { Json } from '../engine/model/json.ts';
import type { WholeReply } from '../engine/reply-part.ts';

/** A JSON answer that nobody may keep. */
export const jsonReply = (body: Json, status = 200): WholeReply => ({
  type: 'whole',
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: JSON.stringify(body),
});
