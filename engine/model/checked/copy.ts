/**
 * Copies a value's plain objects and arrays, so that custom code may change them. Everything else stays what it is: an object that
 * keeps the digits of long numbers would lose them.
 */
export const copyOf = <T>(value: T, levels = maxDepth): T => copied(value, levels) as T;

/** Deeper than any request; what lies below isn't copied. */
const maxDepth = 512;

const copied = (value: unknown, levels: number): unknown => {
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    return prototype === Array.prototype ? value.map((member: unknown) => copied(member, levels - 1)) : value;
  }
  if (prototype !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') Object.defineProperty(copy, name, { value: member, enumerable: true, writable: true });
    else copy[name] = copied(member, levels - 1);
  }
  return copy;
};

/** Freezes a value and everything in it, so that code that changes it in place fails where it does so. */
export const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
};
