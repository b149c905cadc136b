/*
 * A request's figures in classes, packed into one number: facets are counted by it, and filters ask for its parts. From the lowest
 * bit: duration 3 bits, first byte 3, cost 3, tools 2, lossy 1, failed 1.
 */

/** The lower ends of classes. Those of times are milliseconds, of costs billionths of a USD. */
export const classBounds = {
  duration: [0, 300, 1_000, 3_000, 10_000, 30_000, 60_000, 180_000],
  // Class 0: unknown.
  firstByte: [0, 300, 1_000, 3_000, 10_000, 30_000, 60_000],
  // Class 0: unknown.
  cost: [0, 1e6, 1e7, 1e8, 5e8, 1e9, 1e10],
  tools: [0, 1, 2, 5],
} as const;

/** Figures that have classes. */
export type Classed = keyof typeof classBounds;

const places = {
  duration: { shift: 0, mask: 7, unknown: false },
  firstByte: { shift: 3, mask: 7, unknown: true },
  cost: { shift: 6, mask: 7, unknown: true },
  tools: { shift: 9, mask: 3, unknown: false },
} as const satisfies Record<Classed, object>;

/** The bits of requests with a dropped or approximated field, and of failed ones. */
export const shapeBits = { lossy: 1 << 11, failed: 1 << 12 } as const;

/** Figures of a request. */
interface Figures {
  readonly duration: number;
  readonly firstByte: number | undefined;
  readonly cost: number | undefined;
  readonly tools: number;
  readonly lossy: boolean;
  readonly failed: boolean;
}

export const shapeOf = (figures: Figures): number => {
  let shape = (figures.lossy ? shapeBits.lossy : 0) | (figures.failed ? shapeBits.failed : 0);
  let name: Classed;
  for (name in places) shape |= classOf(name, figures[name]) << places[name].shift;
  return shape;
};

const classOf = (name: Classed, value: number | undefined): number => {
  if (value === undefined) return 0;
  const { unknown } = places[name];
  return (
    (unknown ? 1 : 0) +
    Math.max(
      0,
      classBounds[name].findLastIndex((bound) => value >= bound),
    )
  );
};

/** The class of a figure in a shape: the index of its lower end; `undefined`: the figure is unknown. */
export const classIn = (name: Classed, shape: number): number | undefined => {
  const { shift, mask, unknown } = places[name];
  const packed = (shape >> shift) & mask;
  if (!unknown) return packed;
  return packed === 0 ? undefined : packed - 1;
};

/** An SQL condition on `shape`: the class lies in a span, both ends included. */
export const isInClasses = (name: Classed, first: number, last: number): string => {
  const { shift, mask, unknown } = places[name];
  const by = unknown ? 1 : 0;
  return `(shape >> ${shift} & ${mask}) BETWEEN ${first + by} AND ${last + by}`;
};
