/**
 * Names under which the tools of namespaces stand among all others: `namespace__name`, in characters and a length that every
 * vendor takes, and unique in the request.
 */
export class FlatNames {
  readonly #taken: Set<string>;
  readonly #flat = new Map<string, string>();

  /** `taken` are the names that are already in use. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** The flat name of this tool; the same for the same tool. */
  of(namespace: string, name: string): string {
    const key = `${namespace}\u0000${name}`;
    const known = this.#flat.get(key);
    if (known !== undefined) return known;
    const flat = this.#free(
      `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`.replace(/[^a-zA-Z0-9_-]/g, '_'),
    );
    this.#flat.set(key, flat);
    this.#taken.add(flat);
    return flat;
  }

  #free(plain: string): string {
    for (let count = 0; ; count += 1) {
      const tail = count === 0 ? '' : `_${count}`;
      const candidate = plain.slice(0, maxLength - tail.length) + tail;
      if (!this.#taken.has(candidate)) return candidate;
    }
  }
}

/** What the strictest vendors take. */
const maxLength = 64;
