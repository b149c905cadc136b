import type { ModelRequest } from '../request.ts';

/** The ids of tool calls that a vendor accepts. */
export interface CallIdForm {
  /** Matches the accepted ids. */
  readonly fits: RegExp;
  /** Replacements have this length in characters, at most 37, and consist of letters and digits. */
  readonly length: number;
  /** Begins each replacement. */
  readonly prefix: string;
  /** Other ids are rejected. Otherwise this form is only the safest one, so a request with others may be relayed. */
  readonly strict: boolean;
}

/** Ids of at most 40 characters from an alphabet that all vendors accept. */
export const shortCallIds: CallIdForm = {
  fits: /^[a-zA-Z0-9_-]{1,40}$/,
  length: 37,
  prefix: 'call_',
  strict: true,
};

/**
 * Maps a request's tool call ids to ids for the upstream: vendors restrict their length and characters, and other vendors' ids
 * don't fit. A replacement is a hash of the id: the same in the call, in its result and in later requests.
 */
export class CallIds {
  /** Created with the first id that doesn't fit: most requests have none. */
  #toWire: Map<string, string> | undefined;
  #toClient: Map<string, string> | undefined;

  /** The id for the upstream. `form`: the vendor's; `undefined`: it accepts all ids. */
  wire(id: string, form: CallIdForm | undefined): string {
    if (form === undefined || form.fits.test(id)) return id;
    this.#toWire ??= new Map();
    this.#toClient ??= new Map();
    const known = this.#toWire.get(id);
    if (known !== undefined) return known;
    let wire = replacement(id, form);
    for (let count = 1; this.#toClient.has(wire); count += 1) wire = replacement(`${count} ${id}`, form);
    this.#toWire.set(id, wire);
    this.#toClient.set(wire, id);
    return wire;
  }

  /** The client's id of the call with the upstream's id `wire`. */
  client(wire: string): string {
    return this.#toClient?.get(wire) ?? wire;
  }
}

/** Whether the vendor accepts all call ids of a request unchanged. */
export const callIdsFit = ({ turns }: ModelRequest, { fits }: CallIdForm): boolean =>
  turns.every(({ parts }) =>
    parts.every((part) => (part.type !== 'tool-call' && part.type !== 'tool-result') || fits.test(part.id)),
  );

const replacement = (id: string, { prefix, length }: CallIdForm): string =>
  (prefix + [1, 2, 3, 4].map((seed) => hash(id, seed)).join('')).slice(0, length);

/** FNV-1a over UTF-16 units, 32 bits in hexadecimal. */
const hash = (text: string, seed: number): string => {
  let value = Math.imul(0x811c9dc5, seed);
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  // Final mix: the last units have affected few bits so far.
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return ((value ^ (value >>> 13)) >>> 0).toString(16).padStart(8, '0');
};
