import type { JsonObject } from '../../engine/model/json.ts';

/**
 * The first field of a request that rests on state which only the vendor's own server keeps; `undefined` when there is none.
 * Such a request can't be served by an upstream that speaks another protocol.
 */
export const serverState = (body: JsonObject): string | undefined =>
  ['previous_response_id', 'conversation', 'prompt'].find((field) => (body[field] ?? null) !== null) ??
  (body.background === true ? 'background' : undefined);
