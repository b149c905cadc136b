import type { CustomTool, FunctionTool, Tool } from '../request.ts';
import { CallIds } from './call-ids.ts';

/**
 * Maps a request's tool names and call ids to names for the upstream. Vendors restrict characters and length, so a name that
 * doesn't fit is replaced; the reply's decoder restores it. One per request, filled by the request's encoder.
 */
export class ToolNames {
  /** Created on first use: many requests have no calls. */
  #callIds: CallIds | undefined;
  /** Created with the first name: many requests have no tools. */
  #toWire: Map<string, string> | undefined;
  #toModel: Map<string, string> | undefined;
  #unused: UnusedNames | undefined;

  get callIds(): CallIds {
    this.#callIds ??= new CallIds();
    return this.#callIds;
  }

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
