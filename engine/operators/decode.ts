import { TextDecoder } from 'node:util';
import { map, type OperatorFunction } from 'rxjs';
import type { Decoded, Exchange } from '../exchange.ts';
import { fail } from '../model/fault.ts';
import { isShallow } from '../model/is-shallow.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The client's bytes → its request. Throws `invalid-request` for what isn't JSON or is nested deeper than `maxDepth`, and what
 * the client's protocol throws.
 */
export const decode = (maxDepth: number): OperatorFunction<Exchange, Decoded> =>
  map((exchange) => {
    const text = readText(exchange.body);
    const asked = readObject(text);
    if (!isShallow(asked, maxDepth)) fail('invalid-request', `The body is nested deeper than ${maxDepth} levels.`);
    const request = exchange.client.decodeRequest(asked);
    exchange.delivery.streaming = request.stream;
    return { ...exchange, text, asked, request };
  });

const readText = (body: Uint8Array): string => {
  try {
    return utf8.decode(body);
  } catch {
    return fail('invalid-request', 'The body is not valid UTF-8.');
  }
};

const readObject = (text: string): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it can not be parsed';
    return fail('invalid-request', text.trim() === '' ? 'The body is empty.' : `The body is not valid JSON: ${why}.`);
  }
  return isJsonObject(value) ? value : fail('invalid-request', 'The body must be a JSON object.');
};
