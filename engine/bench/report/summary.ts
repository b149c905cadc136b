import type { Figure, Span } from '../measure/figure.ts';
import { floors } from '../scenes/participants.ts';
import type { Row } from '../scenes/scene.ts';
import { short } from './columns.ts';
import { wordFigure } from './table.ts';

/** The rows in plain words, for a reader who has never seen the table, and how to read it. */
export const renderSummary = (rows: readonly Row[]): string =>
  ['In short', ...rows.flatMap((row) => wordRow(row, rows)), '', ...howToRead].join('\n');

const howToRead = [
  'How to read this',
  '  floor      the same work done by a minimal program on the same stack: uWebSockets.js and undici, with a conversion by hand if the',
  '             formats differ. It checks, logs and keeps nothing.',
  '  µs         processor time of all processes and threads of the gateway; not what a client waits, which is the latency.',
  '  [a–b]      the cheapest and the dearest round; the figure before it is the median.',
  '  unstable   the rounds differ by more than 25 %: the two figures are the medians of the cheaper and of the dearer rounds. On an idle',
  '             machine, that is mostly the garbage collector: see scavenges and marks per 1,000 requests.',
  '  cold       the first seconds after the start, before the code is compiled.',
  '  More: docs/performance.md',
];

/** One gateway in one scene, once warm. */
const wordRow = (row: Row, rows: readonly Row[]): readonly string[] => {
  const { scene, pair, participant, unit, cpuUs, ratio, beside, latencyMs, note } = row;
  if (floors.has(participant) || scene.endsWith(coldEnd)) return [];
  const title = `  ${scene}, ${pair}: ${participant}`;
  if (row.failed !== undefined) return [`${title} FAILED: ${row.failed}`];
  if (!cpuUs) return [];
  const cost = `${title} takes ${inWords(cpuUs)} µs per ${unit}`;
  const unstable = cpuUs.modes || ratio?.modes ? ' (unstable)' : '';
  if (beside?.moreUs) return [`${cost}: ${wordMore(beside.moreUs)} than ${beside.to}${unstable}`];
  const find = (name: string, who = participant): Row | undefined =>
    rows.find((each) => each.scene === name && each.pair === pair && each.participant === who);
  const floor = find(scene, ratio?.to);
  if (!ratio?.moreUs || !floor?.cpuUs) return [`${cost}${unstable}`];
  const cold = find(`${scene}${coldEnd}`)?.cpuUs;
  const coldFloor = find(`${scene}${coldEnd}`, ratio.to)?.cpuUs;
  return [
    `${cost}, the floor ${inWords(floor.cpuUs)}: ${wordMore(ratio.moreUs)}, ${ratio.median.toFixed(2)} ×${unstable}`,
    ...(cold && coldFloor ? [`in the first seconds ${inWords(cold)} µs, the floor ${inWords(coldFloor)}`] : []),
    ...(unit === 'request' && latencyMs && floor.latencyMs
      ? [`half of the answers within ${short(latencyMs.p50)} ms, at the floor ${short(floor.latencyMs.p50)}`]
      : []),
    ...(note === undefined ? [] : [note]),
  ].map((line, at) => (at === 0 ? line : `      ${line}`));
};

const coldEnd = ', cold';

const inWords = (figure: Figure): string =>
  figure.modes?.map((mode) => short(mode.median)).join(' or ') ?? wordFigure(figure);

const wordMore = ({ median }: Span): string => `${short(Math.abs(median))} µs ${median < 0 ? 'less' : 'more'}`;
