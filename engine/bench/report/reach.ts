import { floors } from '../scenes/participants.ts';
import type { Row } from '../scenes/scene.ts';

/** A figure beside the one that is to be reached. */
export interface Reach {
  readonly scene: string;
  readonly pair: string;
  readonly participant: string;
  /** What is meant, with its unit. */
  readonly what: string;
  readonly figure: number;
  /** `≤ 1.6`. */
  readonly wanted: string;
  readonly verdict: Verdict;
}

/** `unstable`: some rounds reach the goal and others don't, or the cost moves too much for any verdict. */
type Verdict = 'yes' | 'no' | 'unstable';

interface Goal {
  readonly scene: string;
  /** Without it, any pair. */
  readonly pairs?: readonly string[];
  readonly what: string;
  readonly wanted: string;
  readonly figure: (row: Row, floor: Row | undefined) => number | undefined;
  readonly isReached: (figure: number, row: Row) => boolean;
  /** The figure is a ratio of costs: one of unstable rounds reaches nothing. */
  readonly isRatio?: boolean;
}

/** The pairs with goals of their own: one is converted, the other passes through. */
const toConvert = 'messages→chat';
const toPass = 'chat→chat';

const most = (scene: string, limit: number, what: string, figure: Goal['figure'], pairs?: readonly string[]): Goal => ({
  scene,
  ...(pairs && { pairs }),
  what,
  wanted: `≤ ${limit}`,
  figure,
  isReached: (found) => found <= limit,
});

const ratio = (scene: string, limit: number, what: string, pairs?: readonly string[]): Goal => ({
  ...most(scene, limit, what, (row) => row.ratio?.median, pairs),
  isRatio: true,
});

const timesFloor = (scene: string, converted: number, passed: number): readonly Goal[] => [
  ratio(scene, converted, '× floor', [toConvert]),
  ratio(scene, passed, '× floor', [toPass]),
];

const owns = (scene: string, converted: number, passed: number): readonly Goal[] =>
  (
    [
      [converted, toConvert],
      [passed, toPass],
    ] as const
  ).map(([limit, pair]) => most(scene, limit, 'own µs', ({ mainUs }) => mainUs?.p10, [pair]));

const both = (scene: string, limit: number, what: string, figure: Goal['figure']): Goal =>
  most(scene, limit, what, figure, [toConvert, toPass]);

/** On a slower machine both take longer; then what counts is how many times longer than the bare stack. */
const start = { seconds: 0.45, timesBare: 0.45 / 0.19 };

const goals: readonly Goal[] = [
  ratio('convert', 1.3, '× JSON.parse', [toConvert]),
  ...owns('own', 28, 20),
  ...owns('own, 10 streams', 1.8, 1.3),
  ...owns('own, 1,000 streams', 2.2, 1.6),
  ...timesFloor('plain-64', 1.9, 2.3),
  both('plain-64', 25, 'KB allocated', ({ allocatedKb }) => allocatedKb),
  ...timesFloor('body-100k', 1.3, 2.2),
  ...timesFloor('body-1m', 1.2, 1.3),
  both('body-1m', 20, 'longest block, ms', ({ longestBlockMs }) => longestBlockMs),
  ...timesFloor('stream-fast', 1, 1.1),
  ...timesFloor('paced-200', 1.15, 1.4),
  both('paced-200', 2, 'added delay p99, ms', ({ delayMs }, floor) =>
    delayMs && floor?.delayMs ? delayMs.p99 - floor.delayMs.p99 : undefined,
  ),
  ...timesFloor('paced-1000', 1.4, 1.5),
  both('paced-1000', 175, 'peak MB', ({ peakMb }) => peakMb),
  both('paced-bodies', 220, 'peak MB', ({ peakMb }) => peakMb),
  ratio('flat-deltas', 1.15, '× short stream'),
  ratio('flat-bodies', 1.15, '× small body, per byte'),
  ratio('flat-memory', 1.15, '× first half'),
  {
    scene: 'workers',
    what: '× one worker',
    wanted: '≥ 1.8',
    figure: ({ scaling }) => scaling,
    isReached: (figure) => figure >= 1.8,
  },
  {
    scene: 'cold-start',
    what: 's',
    wanted: `≤ ${start.seconds}, or ${start.timesBare.toFixed(1)} × bare`,
    figure: (row) => (row.ratio ? row.startSeconds : undefined),
    isReached: (figure, row) => figure <= start.seconds || (row.ratio?.median ?? 9) <= start.timesBare,
  },
  {
    scene: 'idle-memory',
    what: 'MB',
    wanted: '≤ 105',
    figure: (row) => (row.ratio ? row.idleMb : undefined),
    isReached: (figure) => figure <= 105,
  },
];

/** All that was to be reached by the gateways in these rows; a row with a fault reaches nothing. */
export const reachOf = (rows: readonly Row[]): readonly Reach[] =>
  goals.flatMap((goal) =>
    rows.flatMap((row) => {
      const { scene, pair, participant } = row;
      if (scene !== goal.scene || goal.pairs?.includes(pair) === false || floors.has(participant)) return [];
      const floor = rows.find(
        (each) => each.scene === scene && each.pair === pair && each.participant === row.ratio?.to,
      );
      const figure = goal.figure(row, floor);
      if (figure === undefined && row.failed === undefined) return [];
      const { what, wanted } = goal;
      const verdict = figure === undefined || row.failed !== undefined ? 'no' : judge(goal, figure, row);
      return [{ scene, pair, participant, what, figure: figure ?? Number.NaN, wanted, verdict }];
    }),
  );

const judge = ({ isRatio, isReached }: Goal, figure: number, row: Row): Verdict => {
  const { ratio, cpuUs } = row;
  const isStable = !isRatio || (!ratio?.modes && !cpuUs?.modes);
  if (isStable) return isReached(figure, row) ? 'yes' : 'no';
  // Not even the best round reaches it.
  return ratio && !isReached(ratio.low, row) ? 'no' : 'unstable';
};
