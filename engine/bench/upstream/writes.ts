import { emptyStamp, stampDigits } from '../corpus.ts';
import type { Wire } from '../wire.ts';
import { streamRecords } from './answers.ts';
import type { UpstreamPlan } from './plan.ts';

/** One write of a streamed answer. */
export interface Write {
  readonly bytes: Buffer;
  /** Where the digits of its time stamp stand, or -1. */
  readonly stampAt: number;
}

/** All writes of a streamed answer, made once; every stream sends the same ones. */
export const writesOf = (wire: Wire, plan: UpstreamPlan): readonly Write[] => {
  const { opening, deltas, closing } = streamRecords(wire, plan);
  const texts: string[] = [];
  for (let from = 0; from < deltas.length; from += plan.perWrite) {
    texts.push(deltas.slice(from, from + plan.perWrite).join(''));
  }
  const all = [opening, ...texts, closing].filter((text) => text !== '').map((text) => Buffer.from(text));
  return (plan.cuts === 'odd' ? cutOddly(Buffer.concat(all)) : all).map((bytes) => ({
    bytes,
    stampAt: plan.stamped ? digitsIn(bytes) : -1,
  }));
};

const stampOpening = emptyStamp.slice(0, -stampDigits - 1);

const digitsIn = (bytes: Buffer): number => {
  const at = bytes.indexOf(emptyStamp);
  return at < 0 ? -1 : at + stampOpening.length;
};

/** Lengths without a common period with any record's. */
const oddLengths = [1, 7, 211, 13, 1021, 3, 97, 2, 499];

const cutOddly = (bytes: Buffer): Buffer[] => {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = oddLengths[turn % oddLengths.length] ?? 1;
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
};

/** Writes the machine's monotonic clock, in microseconds, over a stamp's digits. */
export const stampNow = ({ bytes, stampAt }: Write): void => {
  if (stampAt < 0) return;
  const [seconds, nanoseconds] = process.hrtime();
  let rest = seconds * 1e6 + Math.floor(nanoseconds / 1e3);
  for (let at = stampAt + stampDigits - 1; at >= stampAt; at -= 1) {
    bytes[at] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
};
