/** What a quantity counts. */
export type Quantity = 'bytes' | 'ms';

/** The units in which a quantity is shown, from the smallest on. */
const shownUnits: Readonly<Record<Quantity, readonly (readonly [name: string, size: number])[]>> = {
  bytes: [
    ['B', 1],
    ['KiB', 1_024],
    ['MiB', 1_048_576],
    ['GiB', 1_073_741_824],
  ],
  ms: [
    ['ms', 1],
    ['s', 1_000],
    ['min', 60_000],
    ['h', 3_600_000],
  ],
};

/** Further spellings that are read. */
const readUnits: Readonly<Record<Quantity, Readonly<Record<string, number>>>> = {
  bytes: { k: 1_024, m: 1_048_576, g: 1_073_741_824, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 },
  ms: { sec: 1_000, m: 60_000, d: 86_400_000 },
};

/** A quantity in the largest unit of which it is a multiple: `32 MiB`, `15 s`. */
export const showQuantity = (kind: Quantity, value: number): string => {
  const [name, size] = shownUnits[kind].findLast(([, one]) => value >= one && value % one === 0) ?? ['', 1];
  return `${value / size} ${name}`.trim();
};

/** Reads `32 MiB`, `1.5s` or a number alone, which has the base unit. `undefined`: it is none of these. */
export const readQuantity = (kind: Quantity, text: string): number | undefined => {
  const [, number, unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?) *([a-z]{0,3})$/i.exec(text.trim()) ?? [];
  if (number === undefined) return undefined;
  const name = unit.toLowerCase();
  const known = shownUnits[kind].find(([one]) => one.toLowerCase() === name)?.[1];
  const size = name === '' ? 1 : (known ?? readUnits[kind][name]);
  return size === undefined ? undefined : Math.round(Number(number) * size);
};

/** What a field with such a name counts, by the ending of the name: `bodyBytes`, `idleMs`. */
export const quantityOf = (field: string): Quantity | undefined =>
  field.endsWith('Bytes') ? 'bytes' : field.endsWith('Ms') ? 'ms' : undefined;
