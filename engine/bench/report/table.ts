import type { Figure } from '../measure/figure.ts';
import type { Ratio, Row } from '../scenes/scene.ts';
import { inColumns, short } from './columns.ts';
import { type Reach, reachOf } from './reach.ts';

/** A column: its title, and what it shows of a row. */
type Column = readonly [title: string, cell: (row: Row, goals: readonly Reach[]) => string];

const inTimes = ({ median, low, high }: Ratio): string =>
  low === high ? median.toFixed(2) : `${median.toFixed(2)} [${low.toFixed(2)}–${high.toFixed(2)}]`;

/** A figure with the span of its rounds; an unstable one with its two modes, each with its number of rounds. */
export const wordFigure = ({ median, low, high, modes }: Figure): string => {
  if (modes) return `${modes.map((mode) => `${short(mode.median)} (${mode.rounds}×)`).join(' or ')}, unstable`;
  return low === high ? short(median) : `${short(median)} [${short(low)}–${short(high)}]`;
};

/** The columns of the table. */
export const columns: readonly Column[] = [
  ['scene', ({ scene }) => scene],
  ['pair', ({ pair }) => pair],
  ['who', ({ participant }) => participant],
  ['asked /s', ({ asked }) => (asked === undefined ? '' : String(asked))],
  ['µs CPU', ({ cpuUs, unit }) => (cpuUs === undefined ? '' : `${wordFigure(cpuUs)} /${unit}`)],
  ['serving thread, µs p10/p50', ({ mainUs: at }) => (at ? `${short(at.p10)}/${short(at.median)}` : '')],
  ['µs over floor', ({ ratio }) => (ratio?.moreUs ? wordFigure(ratio.moreUs) : '')],
  ['× floor', ({ ratio }) => (ratio ? inTimes(ratio) : '')],
  ['µs over first', ({ beside }) => (beside?.moreUs ? wordFigure(beside.moreUs) : '')],
  ['× first', ({ beside }) => (beside ? inTimes(beside) : '')],
  ['reached', (_, goals) => goals.map(({ verdict, wanted }) => `${verdict} ${wanted}`).join('; ')],
  ['KB allocated', ({ allocatedKb }) => (allocatedKb === undefined ? '' : short(allocatedKb))],
  ['scavenges/marks per 1,000', ({ collections: at }) => (at ? `${short(at.scavenges)}/${short(at.marks)}` : '')],
  ['/s', ({ perSecond }) => (perSecond === undefined ? '' : perSecond.toFixed(0))],
  ['latency p50/p99 ms', ({ latencyMs: at }) => (at ? `${short(at.p50)}/${short(at.p99)}` : '')],
  ['TTFT p50/p99 ms', ({ firstTokenMs: at }) => (at ? `${short(at.p50)}/${short(at.p99)}` : '')],
  ['ITL p50/p99 ms', ({ betweenTokensMs: at }) => (at ? `${short(at.p50)}/${short(at.p99)}` : '')],
  ['delay p50/p99 ms', ({ delayMs: at }) => (at ? `${short(at.p50)}/${short(at.p99)}` : '')],
  ['MB', ({ peakMb, idleMb }) => (peakMb ?? idleMb)?.toFixed(0) ?? ''],
  ['load CPU', ({ loadShare }) => (loadShare === undefined ? '' : `${(loadShare * 100).toFixed(0)} %`)],
  ['s', ({ startSeconds }) => startSeconds?.toFixed(2) ?? ''],
];

/** The rows as text. Empty columns are left out; a fault or a note stands below its row. `goals`: those to show; absent: all. */
export const renderTable = (rows: readonly Row[], goals: readonly Reach[] = reachOf(rows)): string => {
  const cellsOf = (row: Row): readonly string[] => columns.map(([, cell]) => cell(row, goalsOf(row, goals)));
  const cells = rows.map(cellsOf);
  const used = columns.flatMap((_, at) => (cells.some((line) => line[at] !== '') ? [at] : []));
  const lines = [columns.map(([title]) => title), ...cells].map((line) => used.map((at) => line[at] ?? ''));
  const [head = '', ...body] = inColumns(lines);
  return [head, ...body.flatMap((line, at) => [line, ...remarks(rows[at])])].map((line) => line.trimEnd()).join('\n');
};

/** What was to be reached, and whether it was: a table in Markdown. */
export const renderReach = (goals: readonly Reach[]): string =>
  renderRows([
    ['scene', 'pair', 'who', 'figure', 'goal', 'reached'],
    ...goals.map(({ scene, pair, participant, what, figure, wanted, verdict }) => [
      scene,
      pair,
      participant,
      `${short(figure)} ${what}`,
      wanted,
      verdict,
    ]),
  ]);

/** Lines of cells, the first of them titles, as a table in Markdown. */
export const renderRows = (lines: readonly (readonly string[])[]): string => {
  const [head = '', ...body] = inColumns(lines, ' | ').map((line) => `| ${line} |`);
  return [head, head.replaceAll(/[^|]/g, '-'), ...body].join('\n');
};

/** Those of one row. */
export const goalsOf = (row: Row, goals: readonly Reach[]): readonly Reach[] =>
  goals.filter(
    ({ scene, pair, participant }) => scene === row.scene && pair === row.pair && participant === row.participant,
  );

const remarks = (row: Row | undefined): readonly string[] => [
  ...(row?.failed === undefined ? [] : [`    FAILED: ${row.failed}`]),
  ...(row?.note === undefined ? [] : [`    ${row.note}`]),
];
