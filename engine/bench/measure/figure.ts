/** The rounds of one figure: the middle one, of an even count the lower middle, and the extremes. */
export interface Span {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** A figure that is to be judged. */
export interface Figure extends Span {
  /** Present if the figure is unstable: the two groups that its rounds fall into, the lower one first. */
  readonly modes?: readonly [Mode, Mode];
}

/** Rounds that are close to each other. */
interface Mode {
  readonly median: number;
  readonly rounds: number;
}

/** From this difference between its rounds on, as a share of the smallest, a figure is unstable. */
const unstableFrom = 0.25;

/** Code is warm if this many rounds in a row differ by at most `warmWithin`, as a share of the cheapest. */
const warmRounds = 3;
const warmWithin = 0.1;

/** The middle one of some numbers; of an even count the lower middle; 0 without any. */
export const median = (numbers: readonly number[]): number => {
  const sorted = ascending(numbers);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
};

/** Where the cheapest tenth of some rounds ends: what other programs do to a machine makes rounds dearer, never cheaper. */
export const cheapestTenth = (rounds: readonly number[]): number =>
  ascending(rounds)[Math.floor((rounds.length - 1) / 10)] ?? 0;

/** `undefined` without rounds. */
const spanOf = (rounds: readonly number[]): Span | undefined =>
  rounds.length === 0 ? undefined : { median: median(rounds), low: Math.min(...rounds), high: Math.max(...rounds) };

/** The figure of some rounds, none of them negative; `undefined` without any. */
export const figureOf = (rounds: readonly number[]): Figure | undefined => {
  const span = spanOf(rounds);
  if (!span || differBy(rounds) <= unstableFrom) return span;
  return { ...span, modes: modesOf(ascending(rounds)) };
};

/** The figure of the ratios of two participants, round by round; `undefined` if they have no round in common. */
export const ratioOf = (own: readonly number[], other: readonly number[]): Figure | undefined =>
  figureOf(ratiosOf(own, other));

/** Round by round. */
const ratiosOf = (own: readonly number[], other: readonly number[]): readonly number[] =>
  pairwise(own, other, (a, b) => (b > 0 ? [a / b] : []));

/** The span of their differences. */
export const differenceOf = (own: readonly number[], other: readonly number[]): Span | undefined =>
  spanOf(pairwise(own, other, (a, b) => [a - b]));

/** Whether the last of these rounds are those of warm code. */
export const isWarm = (rounds: readonly number[]): boolean =>
  rounds.length >= warmRounds && differBy(rounds.slice(-warmRounds)) <= warmWithin;

/** How far the largest is above the smallest, as a share of the smallest. */
const differBy = (rounds: readonly number[]): number => {
  const low = Math.min(...rounds);
  const above = Math.max(...rounds) - low;
  return above === 0 ? 0 : above / low;
};

/** Divides sorted rounds where two neighbours differ most. */
const modesOf = (sorted: readonly number[]): readonly [Mode, Mode] => {
  let cut = 1;
  const step = (at: number): number => (sorted[at] ?? 0) / (sorted[at - 1] || Number.MIN_VALUE);
  for (let at = 2; at < sorted.length; at += 1) if (step(at) > step(cut)) cut = at;
  return [modeOf(sorted.slice(0, cut)), modeOf(sorted.slice(cut))];
};

const modeOf = (rounds: readonly number[]): Mode => ({ median: median(rounds), rounds: rounds.length });

const ascending = (numbers: readonly number[]): readonly number[] => [...numbers].sort((a, b) => a - b);

const pairwise = (
  own: readonly number[],
  other: readonly number[],
  combine: (own: number, other: number) => readonly number[],
): readonly number[] =>
  own.flatMap((value, round) => {
    const beside = other[round];
    return beside === undefined ? [] : combine(value, beside);
  });
