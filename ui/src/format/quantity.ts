const quantities = ['bytes', 'ms', 'minutes', 'days'] as const;

/** What a quantity counts: a unit of the configuration's schema. */
export type Quantity = (typeof quantities)[number];

type Units = readonly (readonly [name: string, size: number])[];

const times: Units = [
  ['ms', 1],
  ['s', 1_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
];

/** The units in which a quantity is shown, from the smallest on. */
const shownUnits: Readonly<Record<Quantity, Units>> = {
  bytes: [
    ['B', 1],
    ['KiB', 1_024],
    ['MiB', 1_048_576],
    ['GiB', 1_073_741_824],
  ],
  ms: times,
  minutes: times,
  days: times,
};

/** The size of the unit in which the configuration has a quantity. */
const baseSizes: Readonly<Record<Quantity, number>> = { bytes: 1, ms: 1, minutes: 60_000, days: 86_400_000 };

const readTimes: Readonly<Record<string, number>> = { sec: 1_000, m: 60_000 };

/** Further spellings that are read. */
const readUnits: Readonly<Record<Quantity, Readonly<Record<string, number>>>> = {
  bytes: { k: 1_024, m: 1_048_576, g: 1_073_741_824, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 },
  ms: readTimes,
  minutes: readTimes,
  days: readTimes,
};

/** A quantity in the largest unit of which it is a multiple: `32 MiB`, `15 s`. */
export const showQuantity = (kind: Quantity, value: number): string => {
  const total = value * baseSizes[kind];
  const [name, size] = shownUnits[kind].findLast(([, one]) => total >= one && total % one === 0) ?? ['', 1];
  return `${total / size} ${name}`.trim();
};

/**
 * Reads `32 MiB`, `1.5s` or a number alone, which has the unit of the configuration. `undefined`: it is none of these, or no whole
 * number of minutes or days.
 */
export const readQuantity = (kind: Quantity, text: string): number | undefined => {
  const [, number, unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?) *([a-z]{0,3})$/i.exec(text.trim()) ?? [];
  if (number === undefined) return undefined;
  const name = unit.toLowerCase();
  const base = baseSizes[kind];
  const known = shownUnits[kind].find(([one]) => one.toLowerCase() === name)?.[1];
  const size = name === '' ? base : (known ?? readUnits[kind][name]);
  if (size === undefined) return undefined;
  const value = (Number(number) * size) / base;
  return base === 1 ? Math.round(value) : Number.isInteger(value) ? value : undefined;
};

/** The quantity of a schema's `unit`; `undefined`: of none that has a form. */
export const quantityOf = (unit: unknown): Quantity | undefined => quantities.find((one) => one === unit);
