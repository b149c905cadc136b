import type { WholeReply } from '../engine/http/endpoint.ts';
import type { Json } from '../engine/model/json/json.ts';
import type { Headers } from '../engine/model/protocol.ts';

/** A JSON reply that must not be cached. */
export const jsonReply = (body: Json, status = 200, headers: Headers = {}): WholeReply =>
  jsonTextReply(JSON.stringify(body), status, headers);

/** Like `jsonReply`, for a body that is JSON text already. */
export const jsonTextReply = (body: string, status = 200, headers: Headers = {}): WholeReply => ({
  type: 'whole',
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body,
});
