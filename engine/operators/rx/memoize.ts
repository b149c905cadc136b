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
