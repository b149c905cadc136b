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
  readonly reached: boolean;
}

interface Goal {
  readonly scene: string;
  /** None: whatever pair was measured. */
  readonly pair?: string;
  readonly what: string;
  readonly wanted: string;
  readonly figure: (row: Row, floor: Row | undefined) => number | undefined;
  readonly isReached: (figure: number, row: Row) => boolean;
}

const ratio = (scene: string, pair: string | undefined, most: number, what = '× floor'): Goal => ({
  scene,
  ...(pair !== undefined && { pair }),
  what,
  wanted: `≤ ${most}`,
  figure: (row) => row.ratio?.median,
  isReached: (figure) => figure <= most,
});

const most = (scene: string, pair: string, limit: number, what: string, figure: Goal['figure']): Goal => ({
  scene,
  pair,
  what,
  wanted: `≤ ${limit}`,
  figure,
  isReached: (found) => found <= limit,
});

/** On a slower machine both take longer; then what counts is how many times longer than the bare stack. */
const start = { seconds: 0.45, timesBare: 0.45 / 0.19 };

const goals: readonly Goal[] = [
  ratio('convert', 'messages→chat', 1.3, '× JSON.parse'),
  ratio('plain-64', 'messages→chat', 1.6),
  ratio('plain-64', 'chat→chat', 1.8),
  ratio('body-100k', 'messages→chat', 1.4),
  ratio('body-1m', 'messages→chat', 1.3),
  most('body-1m', 'messages→chat', 25, 'longest block, ms', ({ longestBlockMs }) => longestBlockMs),
  ratio('stream-fast', 'messages→chat', 1),
  ratio('stream-fast', 'chat→chat', 1.5),
  ratio('paced-200', 'messages→chat', 1.15),
  most('paced-200', 'messages→chat', 2, 'added delay p99, ms', ({ delayMs }, floor) =>
    delayMs && floor?.delayMs ? delayMs.p99 - floor.delayMs.p99 : undefined,
  ),
  ratio('paced-1000', 'messages→chat', 1.15),
  most('paced-1000', 'messages→chat', 200, 'peak MB', ({ peakMb }) => peakMb),
  ratio('flat-deltas', undefined, 1.15, '× short stream'),
  ratio('flat-bodies', undefined, 1.15, '× small body, per byte'),
  ratio('flat-memory', undefined, 1.15, '× first half'),
  {
    scene: 'workers',
    what: '× one worker',
    wanted: '≥ 1.7',
    figure: ({ scaling }) => scaling,
    isReached: (figure) => figure >= 1.7,
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

/** The floors take part in order to be compared with. */
const floors: ReadonlySet<string> = new Set(['direct', 'bytes', 'converted', 'bare']);

/** All that was to be reached by the gateways in these rows; a row with a fault reaches nothing. */
export const reachOf = (rows: readonly Row[]): readonly Reach[] =>
  goals.flatMap((goal) =>
    rows.flatMap((row) => {
      const { scene, pair, participant } = row;
      if (scene !== goal.scene || (goal.pair ?? pair) !== pair || floors.has(participant)) return [];
      const floor = rows.find(
        (each) => each.scene === scene && each.pair === pair && each.participant === row.ratio?.to,
      );
      const figure = goal.figure(row, floor);
      if (figure === undefined && row.failed === undefined) return [];
      const reached = row.failed === undefined && figure !== undefined && goal.isReached(figure, row);
      const { what, wanted } = goal;
      return [{ scene, pair, participant, what, figure: figure ?? Number.NaN, wanted, reached }];
    }),
  );
