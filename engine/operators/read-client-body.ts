import { Buffer, isUtf8 } from 'node:buffer';
import type { Config } from '../config/config.ts';
import type { Decoded, Exchange } from '../exchange.ts';
import { FaultError, fail } from '../model/fault.ts';
import { countNodes, nodesWithin } from '../model/json/count-nodes.ts';
import { isJsonObject, type JsonObject, keepDigits } from '../model/json/json.ts';
import { minInParts, partsOf } from '../model/json/read-in-parts.ts';
import { utf8Text } from '../model/utf8.ts';

/** Throws the fault if there is no memory. */
export const reserveValues = (incoming: Exchange['incoming'], nodes: number): void => {
  const fault = incoming.reservation?.takeValues(nodes);
  if (fault) throw new FaultError(fault);
};

/**
 * Reads the whole body, and takes the memory for its values. Throws `invalid-request` for a body that isn't a JSON object or is nested too
 * deeply, and the fault of memory that isn't there.
 */
export const readClientBody = ({ incoming, body }: Exchange, config: Config): Pick<Decoded, 'text' | 'clientBody'> => {
  const parts = body.length < minInParts ? undefined : takeParts(incoming, body, config);
  if (parts) return { text: '', clientBody: parts };
  const text = readText(body);
  const clientBody = readObject(text);
  const { jsonDepth } = config.limits;
  const nodes = nodesWithin(clientBody, jsonDepth);
  if (nodes === undefined) return fail('invalid-request', `The body is nested deeper than ${jsonDepth} levels.`);
  // Those of a large body have it already.
  reserveValues(incoming, nodes);
  return { text, clientBody };
};

/** Takes the memory for a large body's values before they are parsed, and reads it in parts; `undefined`: it must be read as a whole. */
const takeParts = (incoming: Exchange['incoming'], body: Uint8Array, { limits }: Config): JsonObject | undefined => {
  const parts = isUtf8(body) ? partsOf(body, limits.jsonDepth) : undefined;
  reserveValues(incoming, parts?.nodes ?? countNodes(body));
  return parts?.read();
};

/** The text of a body, which is still held. */
export const clientText = ({ text, body }: Pick<Decoded, 'text' | 'body'>): string => text || readText(body);

/** Decodes UTF-8, without a byte order mark, as `TextDecoder` does. */
const readText = (body: Uint8Array): string => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!isUtf8(bytes)) fail('invalid-request', 'The body is not valid UTF-8.');
  const text = utf8Text(bytes);
  return text.startsWith('\ufeff') ? text.slice(1) : text;
};

const readObject = (text: string): JsonObject => {
  let value: unknown;
  try {
    value = keepDigits(text, JSON.parse(text));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it can't be parsed";
    return fail('invalid-request', text.trim() === '' ? 'The body is empty.' : `The body is not valid JSON: ${why}.`);
  }
  return isJsonObject(value) ? value : fail('invalid-request', 'The body must be a JSON object.');
};
