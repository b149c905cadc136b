import type { Row } from '../scenes/scene.ts';
import { type Reached, reachOf } from './reach.ts';

const columns: readonly (readonly [title: string, cell: (row: Row, reached: Reached | undefined) => string])[] = [
  ['scene', ({ scene }) => scene],
  ['pair', ({ pair }) => pair],
  ['who', ({ participant }) => participant],
  ['µs CPU', ({ cpuUs, unit }) => (cpuUs === undefined ? '' : `${short(cpuUs)}/${unit}`)],
  [
    '× floor',
    ({ ratio }) => (ratio ? `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)})` : ''),
  ],
  ['reach', (_, reached) => (reached ? `${reached.reached ? 'yes' : 'NO '} ${reached.wanted}` : '')],
  ['/s', ({ perSecond }) => (perSecond === undefined ? '' : perSecond.toFixed(0))],
  ['latency p50/p99 ms', ({ latencyMs: at }) => (at ? `${short(at.p50)}/${short(at.p99)}` : '')],
  ['delay p50/p99 ms', ({ delayMs: at }) => (at ? `${short(at.p50)}/${short(at.p99)}` : '')],
  ['peak MB', ({ peakMb }) => (peakMb === undefined ? '' : peakMb.toFixed(0))],
  ['load CPU', ({ loadShare }) => (loadShare === undefined ? '' : `${(loadShare * 100).toFixed(0)} %`)],
];

/** The rows as text, columns aligned. Rows with a fault say it instead of figures; those that miss their reach say NO. */
export const renderTable = (rows: readonly Row[]): string => {
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row, reachOf(row, rows))));
  const lines = [columns.map(([title]) => title), ...cells];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const aligned = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const [head = '', ...body] = aligned;
  const remarks = rows.map(({ failed, note }) => (failed ? `    FAILED: ${failed}` : note ? `    ${note}` : undefined));
  return [head, ...body.flatMap((line, at) => [line, remarks[at] ?? []].flat())].join('\n');
};

/** Three significant digits, no exponent. */
const short = (value: number): string => {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};
