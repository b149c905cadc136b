import type { ModelRequest } from '../request.ts';

/**
 * Maps a request's tool call ids to ids for the upstream. Some vendors limit their length, and other vendors' ids are longer. A
 * short id is a hash of the long one: the same in the call, in its result and in later requests.
 */
export class CallIds {
  /** Created with the first id that is too long: most requests have none. */
  #toWire: Map<string, string> | undefined;
  #toClient: Map<string, string> | undefined;

  /** The id for the upstream. `maxLength`: the vendor's limit in characters, at least 40; `undefined`: none. */
  wire(id: string, maxLength: number | undefined): string {
    if (maxLength === undefined || id.length <= maxLength) return id;
    this.#toWire ??= new Map();
    this.#toClient ??= new Map();
    const known = this.#toWire.get(id);
    if (known !== undefined) return known;
    let wire = shortId(id);
    for (let count = 1; this.#toClient.has(wire); count += 1) wire = shortId(`${count} ${id}`);
    this.#toWire.set(id, wire);
    this.#toClient.set(wire, id);
    return wire;
  }

  /** The client's id of the call with the upstream's id `wire`. */
  client(wire: string): string {
    return this.#toClient?.get(wire) ?? wire;
  }
}

/** Whether all call ids of a request have at most `maxLength` characters. */
export const callIdsFit = ({ turns }: ModelRequest, maxLength: number): boolean =>
  turns.every(({ parts }) =>
    parts.every((part) => (part.type !== 'tool-call' && part.type !== 'tool-result') || part.id.length <= maxLength),
  );

/** 37 characters. */
const shortId = (id: string): string => `call_${[1, 2, 3, 4].map((seed) => hash(id, seed)).join('')}`;

/** FNV-1a over UTF-16 units, 32 bits in hexadecimal. */
const hash = (text: string, seed: number): string => {
  let value = Math.imul(0x811c9dc5, seed);
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  // Final mix: the last units have affected few bits so far.
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return ((value ^ (value >>> 13)) >>> 0).toString(16).padStart(8, '0');
};
