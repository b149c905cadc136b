/** The end of each record of a body, after its empty line; the last one is the body's end. */
const recordEnds = (bytes: Uint8Array): readonly number[] =>
  [
    ...Buffer.from(bytes)
      .toString('latin1')
      .matchAll(/\r?\n\r?\n/g),
  ].map(({ index, 0: gap }) => index + gap.length);

/**
 * Where to cut a body of records: at each record's end, one byte before and one after. Without the body's end, and without records
 * that only go on with the text or arguments of the one before: a cut after them leaves off where one after that record does.
 */
export const cutPoints = (bytes: Uint8Array): readonly number[] => {
  const ends = recordEnds(bytes);
  const shapes = ends.map((end, at) => shapeOf(bytes.subarray(ends[at - 1] ?? 0, end)));
  return ends
    .filter((_, at) => shapes[at] !== shapes[at - 1] || shapes[at] !== shapes[at + 1])
    .flatMap((end) => [end - 1, end, end + 1])
    .filter((point) => point < bytes.length);
};

/** A record without the values of its strings but the types, which are single words. */
const shapeOf = (record: Uint8Array): string => {
  const [, json] = /^data: (\{.*\})\r?$/m.exec(Buffer.from(record).toString()) ?? [];
  if (json === undefined) return '';
  return JSON.stringify(JSON.parse(json), (key, value) => (typeof value === 'string' && key !== 'type' ? '' : value));
};

/** Where the last record of a body begins. */
export const lastRecordAt = (bytes: Uint8Array): number => recordEnds(bytes).at(-2) ?? 0;
