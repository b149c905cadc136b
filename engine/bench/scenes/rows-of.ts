import type { Spread } from '../load/job.ts';
import { cheapestTenth, differenceOf, figureOf, median, ratioOf } from '../measure/figure.ts';
import type { Pair } from '../wire.ts';
import { floorOf, floors } from './participants.ts';
import type { Quantiles, Ratio, Row } from './scene.ts';
import { type Round, wordWrong } from './take-turns.ts';

/** What is counted in a scene. */
export interface Counted {
  readonly scene: string;
  readonly unit: 'request' | 'delta' | 'stream';
  /** Units of one request. */
  readonly perRequest: number;
}

/** The rounds of one pair as rows, each participant beside the pair's floor. */
export const rowsOf = (
  { scene, unit, perRequest }: Counted,
  pair: Pair,
  done: ReadonlyMap<string, readonly Round[] | string>,
  floor: string = floorOf(pair),
): readonly Row[] => {
  const units = ({ result }: Round): number => Math.max(1, result.good * perRequest);
  const costsOf = (participant: string): readonly number[] => {
    const rounds = done.get(participant);
    return typeof rounds === 'object'
      ? rounds.flatMap((round) => (round.cpuMs === undefined ? [] : (round.cpuMs * 1e3) / units(round)))
      : [];
  };
  const first = [...done].find(([name, rounds]) => !floors.has(name) && typeof rounds === 'object')?.[0] ?? '';
  return [...done].map(([participant, rounds]) => {
    const row = { scene, pair: pair.name, participant, unit };
    if (typeof rounds === 'string') return { ...row, failed: rounds };
    const wrong = rounds.find(({ result }) => result.bad > 0)?.result;
    const own = costsOf(participant);
    const besides = (other: string, takesPart: boolean): Ratio | undefined => {
      if (!takesPart || participant === other) return undefined;
      const ratio = ratioOf(own, costsOf(other));
      const moreUs = differenceOf(own, costsOf(other));
      return ratio && { to: other, ...ratio, ...(moreUs && { moreUs }) };
    };
    const ratio = besides(floor, participant !== 'direct');
    const beside = besides(first, !floors.has(participant));
    const allocated = rounds.flatMap((round) =>
      round.allocated === undefined ? [] : round.allocated.bytes / 1e3 / units(round),
    );
    const cpuUs = participant === 'direct' ? undefined : figureOf(own);
    const main = rounds.flatMap((round) => (round.mainMs === undefined ? [] : (round.mainMs * 1e3) / units(round)));
    const peaks = rounds.flatMap(({ peakMb }) => peakMb ?? []);
    const gaps = rounds.flatMap(({ result }) => result.betweenTokens ?? []);
    const delays = rounds.flatMap(({ result }) => result.delay ?? []);
    return {
      ...row,
      ...(cpuUs && { cpuUs, peakMb: Math.max(...peaks) }),
      ...(main.length > 0 && { mainUs: { p10: cheapestTenth(main), median: median(main) } }),
      rounds: {
        cpuUs: participant === 'direct' ? [] : own,
        firstTokenMs: rounds.map(({ result }) => result.firstToken.p50),
        peakMb: peaks,
      },
      ...(ratio && { ratio }),
      ...(beside && { beside }),
      ...(allocated.length > 0 && { allocatedKb: median(allocated), collections: collectionsOf(rounds) }),
      perSecond: median(rounds.map(({ result }) => (result.good * perRequest) / result.seconds)),
      latencyMs: quantiles(rounds.map(({ result }) => result.latency)),
      ...(delays.length > 0 && { delayMs: quantiles(delays) }),
      firstTokenMs: quantiles(rounds.map(({ result }) => result.firstToken)),
      ...(gaps.length > 0 && { betweenTokensMs: quantiles(gaps) }),
      loadShare: median(rounds.map(({ result }) => result.cpuMs / 1e3 / result.seconds)),
      ...(wrong && { failed: wordWrong(wrong) }),
    };
  });
};

/** The medians of the rounds' quantiles. */
const quantiles = (rounds: readonly Spread[]): Quantiles => ({
  p50: median(rounds.map(({ p50 }) => p50)),
  p99: median(rounds.map(({ p99 }) => p99)),
});

/** Per 1,000 requests. A full mark is too rare for a figure of each round. */
const collectionsOf = (rounds: readonly Round[]): NonNullable<Row['collections']> => {
  const sum = (count: (round: Round) => number): number => rounds.reduce((total, round) => total + count(round), 0);
  const thousands =
    Math.max(
      1,
      sum(({ result }) => result.good),
    ) / 1e3;
  return {
    scavenges: sum(({ allocated }) => allocated?.scavenges ?? 0) / thousands,
    marks: sum(({ allocated }) => allocated?.marks ?? 0) / thousands,
  };
};
