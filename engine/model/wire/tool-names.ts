import type { CustomTool, FunctionTool, ModelRequest, Tool } from '../request.ts';

/**
 * Maps a request's tool names and call ids to names for the upstream. Vendors restrict characters and length, so a name that
 * doesn't fit is replaced; the reply's decoder restores it. One per request, filled by the request's encoder.
 */
export class ToolNames {
  readonly callIds = new CallIds();
  /** Created with the first name: many requests have no tools. */
  #toWire: Map<string, string> | undefined;
  #toModel: Map<string, string> | undefined;
  #unused: UnusedNames | undefined;

  /** Whether any tool has a different name upstream. */
  get changed(): boolean {
    for (const [name, wire] of this.#toWire ?? []) if (name !== wire) return true;
    return false;
  }

  /** The name for the upstream. `fits` matches names that the vendor accepts; `maxLength`: its limit in characters. */
  wire(name: string, fits: RegExp, maxLength: number): string {
    this.#toWire ??= new Map();
    this.#toModel ??= new Map();
    const known = this.#toWire.get(name);
    if (known !== undefined) return known;
    const wire = fits.test(name) && !this.#toModel.has(name) ? name : this.#safe(name, fits, maxLength);
    this.#toWire.set(name, wire);
    this.#toModel.set(wire, name);
    return wire;
  }

  /** The request's name of the tool with the upstream's name `wire`. */
  model(wire: string): string {
    return this.#toModel?.get(wire) ?? wire;
  }

  #safe(name: string, fits: RegExp, maxLength: number): string {
    const safe = name.replace(/[^a-zA-Z0-9_-]/g, '_') || '_';
    // Some vendors reject a digit or hyphen as the first character.
    const plain = fits.test(safe.slice(0, maxLength)) ? safe : `_${safe}`;
    this.#unused ??= new UnusedNames();
    return this.#unused.find(plain, maxLength, (candidate) => this.#toModel?.has(candidate) ?? false);
  }
}

/** Characters reserved for a suffix `_<number>`. */
const maxSuffix = 8;

/**
 * Finds unused names: the name itself, or with a suffix `_1`, `_2` … Remembers the last number per prefix, so that many equal
 * names take linear time.
 */
export class UnusedNames {
  readonly #next = new Map<string, number>();

  /** Returns `plain`, cut to `maxLength` characters and numbered if needed. */
  find(plain: string, maxLength: number, isUsed: (name: string) => boolean): string {
    const whole = plain.slice(0, maxLength);
    if (!isUsed(whole)) return whole;
    const prefix = plain.slice(0, Math.max(maxLength - maxSuffix, 0));
    for (let number = this.#next.get(prefix) ?? 1; ; number += 1) {
      const tail = `_${number}`;
      const candidate = plain.slice(0, maxLength - tail.length) + tail;
      if (isUsed(candidate)) continue;
      this.#next.set(prefix, number + 1);
      return candidate;
    }
  }
}

/** A tool that is called by its name. */
type NamedTool = FunctionTool | CustomTool;

/**
 * The function and custom tools of a request by name; the first of several with the same name. Cached per list, since every
 * call of a conversation looks up its tool.
 */
export const toolsByName = (tools: readonly Tool[]): ReadonlyMap<string, NamedTool> => {
  const before = known.get(tools);
  if (before) return before;
  const byName = new Map<string, NamedTool>();
  for (const tool of tools) {
    if ((tool.type === 'function' || tool.type === 'custom') && !byName.has(tool.name)) byName.set(tool.name, tool);
  }
  known.set(tools, byName);
  return byName;
};

const known = new WeakMap<readonly Tool[], ReadonlyMap<string, NamedTool>>();

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
