/** Memoizes a function of an object, such as a plan or a gateway. A result is released with its object. */
export const memoize = <K extends object, T>(build: (key: K) => T): ((key: K) => T) => {
  const built = new WeakMap<K, T>();
  return (key) => {
    const known = built.get(key);
    if (known !== undefined) return known;
    const made = build(key);
    built.set(key, made);
    return made;
  };
};

/** A map of at most `max` entries: beyond, the one that was set first goes. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  /** Sets an entry, as the newest. */
  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#max) this.#dropOldest();
    return super.set(key, value);
  }

  /** The value of a key; it is built and kept if there is none. A `build` that isn't made for the call costs the least. */
  remember(key: K, build: (key: K) => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = build(key);
    this.set(key, made);
    return made;
  }

  #dropOldest(): void {
    for (const oldest of this.keys()) {
      this.delete(oldest);
      return;
    }
  }
}
