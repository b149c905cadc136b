import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, JsonBytes, openBrace, openBracket, quote } from './json.ts';

/** Counts the arrays and objects in JSON text without parsing it. Linear; meaningless for other input. */
export const countNodes = (body: Uint8Array): number => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const json = new JsonBytes(bytes);
  let nodes = 0;
  let at = 0;
  while (at >= 0 && at < bytes.length) {
    const byte = bytes[at];
    if (byte === openBracket || byte === openBrace) nodes += 1;
    at = byte === quote ? json.stringEnd(at) : at + 1;
  }
  return nodes;
};

/** Counts those in a parsed value; `undefined`: it is nested deeper than `levels`. */
export const nodesWithin = (value: Json | undefined, levels: number): number | undefined => {
  if (typeof value !== 'object' || value === null) return 0;
  if (levels === 0) return undefined;
  let nodes = 1;
  // No list of an object's values, which would be garbage: parsed JSON inherits nothing enumerable.
  if (isJsonObject(value)) {
    for (const name in value) {
      const own = nodesWithin(value[name], levels - 1);
      if (own === undefined) return undefined;
      nodes += own;
    }
  }
  if (Array.isArray(value)) {
    for (const member of value) {
      const own = nodesWithin(member, levels - 1);
      if (own === undefined) return undefined;
      nodes += own;
    }
  }
  return nodes;
};
