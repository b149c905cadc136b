/** The end of each record of a body, after its empty line; the last one is the body's end. */
const recordEnds = (bytes: Uint8Array): readonly number[] =>
  [
    ...Buffer.from(bytes)
      .toString('latin1')
      .matchAll(/\r?\n\r?\n/g),
  ].map(({ index, 0: gap }) => index + gap.length);

/** Where to cut a body of records: at each record's end, one byte before and one after. Without the body's end. */
export const cutPoints = (bytes: Uint8Array): readonly number[] =>
  recordEnds(bytes)
    .flatMap((end) => [end - 1, end, end + 1])
    .filter((point) => point < bytes.length);

/** Where the last record of a body begins. */
export const lastRecordAt = (bytes: Uint8Array): number => recordEnds(bytes).at(-2) ?? 0;
