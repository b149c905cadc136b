import type { Pair } from '../wire.ts';
import { floorOf, floors } from './participants.ts';
import type { Ratio, Row } from './scene.ts';
import type { Round } from './take-turns.ts';

/** The middle one of some numbers; of an even count the lower middle. */
export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? 0;

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
): readonly Row[] => {
  const units = ({ result }: Round): number => Math.max(1, result.good * perRequest);
  const costsOf = (participant: string): readonly number[] => {
    const rounds = done.get(participant);
    return typeof rounds === 'object' ? rounds.map((round) => (round.cpuMs * 1e3) / units(round)) : [];
  };
  const first = [...done.keys()].find((name) => !floors.has(name) && costsOf(name).length > 0) ?? '';
  return [...done].map(([participant, rounds]) => {
    const row = { scene, pair: pair.name, participant, unit };
    if (typeof rounds === 'string') return { ...row, failed: rounds };
    const wrong = rounds.find(({ result }) => result.bad > 0)?.result;
    const own = costsOf(participant);
    const besides = (other: string, takesPart: boolean): Ratio | undefined => {
      const ratio = takesPart && participant !== other ? ratioOf(own, costsOf(other)) : undefined;
      return ratio && { to: other, ...ratio };
    };
    const ratio = besides(floorOf(pair), participant !== 'direct');
    const beside = besides(first, !floors.has(participant));
    const allocated = rounds.flatMap((round) =>
      round.allocated === undefined ? [] : round.allocated / 1e3 / units(round),
    );
    const delays = rounds.flatMap(({ result }) => result.delay ?? []);
    return {
      ...row,
      ...(participant !== 'direct' && { cpuUs: median(own), peakMb: Math.max(...rounds.map(({ peakMb }) => peakMb)) }),
      ...(ratio && { ratio }),
      ...(beside && { beside }),
      ...(allocated.length > 0 && { allocatedKb: median(allocated) }),
      perSecond: median(rounds.map(({ result }) => (result.good * perRequest) / result.seconds)),
      latencyMs: {
        p50: median(rounds.map(({ result }) => result.latency.p50)),
        p99: median(rounds.map(({ result }) => result.latency.p99)),
      },
      ...(delays.length > 0 && {
        delayMs: { p50: median(delays.map(({ p50 }) => p50)), p99: median(delays.map(({ p99 }) => p99)) },
      }),
      loadShare: median(rounds.map(({ result }) => result.cpuMs / 1e3 / result.seconds)),
      ...(wrong && { failed: `${wrong.bad} wrong: ${wrong.reasons[0]}` }),
    };
  });
};

/** The ratio to a floor, round by round: the median, the smallest, the largest; `undefined` without rounds in common. */
export const ratioOf = (own: readonly number[], floor: readonly number[]): Omit<Ratio, 'to'> | undefined => {
  const ratios = own.flatMap((cost, round) => {
    const beside = floor[round];
    return beside ? [cost / beside] : [];
  });
  if (ratios.length === 0) return undefined;
  return { median: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
};
