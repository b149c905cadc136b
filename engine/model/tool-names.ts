/**
 * How a request's tool names are written upstream. Vendors allow few characters and lengths, so a name that doesn't fit gets
 * a safe one; the reply's decoder gives the client's own back. One per request: the request's encoder fills it.
 */
export class ToolNames {
  readonly #toWire = new Map<string, string>();
  readonly #toModel = new Map<string, string>();

  /** Whether any tool has another name upstream than the client gave it. */
  get changed(): boolean {
    for (const [name, wire] of this.#toWire) if (name !== wire) return true;
    return false;
  }

  /** The name to write upstream. `fits` says which names the vendor takes; `maxLength` is its limit in characters. */
  wire(name: string, fits: RegExp, maxLength: number): string {
    const known = this.#toWire.get(name);
    if (known !== undefined) return known;
    const wire = fits.test(name) && !this.#toModel.has(name) ? name : this.#safe(name, fits, maxLength);
    this.#toWire.set(name, wire);
    this.#toModel.set(wire, name);
    return wire;
  }

  /** The request's own name of the tool that the upstream calls `wire`. */
  model(wire: string): string {
    return this.#toModel.get(wire) ?? wire;
  }

  #safe(name: string, fits: RegExp, maxLength: number): string {
    const safe = name.replace(/[^a-zA-Z0-9_-]/g, '_') || '_';
    // Some vendors want another first character than a digit or a hyphen.
    const plain = fits.test(safe.slice(0, maxLength)) ? safe : `_${safe}`;
    for (let count = 0; ; count += 1) {
      const tail = count === 0 ? '' : `_${count}`;
      const candidate = plain.slice(0, maxLength - tail.length) + tail;
      if (!this.#toModel.has(candidate)) return candidate;
    }
  }
}
