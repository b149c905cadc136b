import type { Figure } from '../measure/figure.ts';
import { floors } from '../scenes/participants.ts';
import type { Quantiles, Row } from '../scenes/scene.ts';
import { short } from './columns.ts';
import { wordHost } from './host.ts';
import type { RunReport } from './run-report.ts';
import { columns, goalsOf } from './table.ts';

const barWidth = 460;
const labelWidth = 250;
const lineHeight = 24;

/**
 * One page that needs nothing else, for light and dark: in each scene what each participant costs, with every round and their span; the
 * times to the first token and between tokens; and the whole table.
 */
export const renderChart = (report: RunReport): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Cost of a gateway beside the bare stack</title>
<style>
:root { --text: #1d2730; --page: #fff; --line: #dde3e8; --floor: #b9c2cc; --one: #2f6f9f; --two: #c0602f; --three: #4f8a4f; --four: #8a5aa0; --bad: #a02020; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dbe3ea; --page: #14191e; --line: #323c45; --floor: #56616c; --one: #5b9fd0; --two: #e08a55; --three: #7bb97b; --four: #b58acb; --bad: #f08080; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: var(--text); background: var(--page); }
svg { display: block; max-width: 100%; }
svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
.span { stroke: var(--text); stroke-width: 1.5; }
.round { fill: var(--page); stroke: var(--text); }
.tables { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; margin-top: 2rem; }
th, td { border-bottom: 1px solid var(--line); padding: 2px 8px; text-align: left; white-space: nowrap; }
.no { color: var(--bad); font-weight: 600; }
</style>
<h1>Cost of a gateway beside the bare stack</h1>
<p>${escapeHtml(wordHost(report.machine))}. ${escapeHtml(report.startedAt)}.</p>
<p>Bars: the median of all rounds; circles: each round; line: from the cheapest to the dearest. Grey is the bare stack.</p>
${scenesIn(report.rows).map(renderScene).join('\n')}
${renderEveryRow(report)}
</html>
`;

interface SceneRows {
  readonly title: string;
  readonly rows: readonly Row[];
}

const scenesIn = (rows: readonly Row[]): readonly SceneRows[] => {
  const scenes = new Map<string, Row[]>();
  for (const row of rows) scenes.set(row.scene, [...(scenes.get(row.scene) ?? []), row]);
  return [...scenes].map(([title, list]) => ({ title, rows: list }));
};

/** A bar with its rounds. */
interface Bar {
  readonly label: string;
  readonly colour: string;
  readonly value: number;
  readonly high: number;
  readonly low: number;
  readonly rounds: readonly number[];
  readonly words: string;
}

const renderScene = ({ title, rows }: SceneRows): string => {
  const costs = rows.flatMap((row) => (row.cpuUs ? [costBar(row, row.cpuUs, rows)] : []));
  const gateways = rows.filter(({ participant }) => !floors.has(participant));
  const times = (of: (row: Row) => Quantiles | undefined): readonly Bar[] =>
    gateways.flatMap((row) => {
      const found = of(row);
      return found ? [timeBar(row, found, rows)] : [];
    });
  return [
    `<h2>${escapeHtml(title)}</h2>`,
    renderBars('Processor time', costs),
    renderBars(
      'Time to the first token: median, and 99th percentile',
      times((row) => row.firstTokenMs),
    ),
    renderBars(
      'Time between tokens: median, and 99th percentile',
      times((row) => row.betweenTokensMs),
    ),
  ].join('\n');
};

const costBar = (row: Row, { median, low, high, modes }: Figure, all: readonly Row[]): Bar => ({
  label: labelOf(row),
  colour: colourOf(row, all),
  value: median,
  low,
  high,
  rounds: row.rounds?.cpuUs ?? [],
  words:
    row.failed === undefined
      ? `${short(median)} µs/${row.unit}${row.ratio ? `, ${row.ratio.median.toFixed(2)} ×` : ''}${modes ? ', unstable' : ''}`
      : 'failed',
});

const timeBar = (row: Row, { p50, p99 }: Quantiles, all: readonly Row[]): Bar => ({
  label: labelOf(row),
  colour: colourOf(row, all),
  value: p50,
  low: p50,
  high: p99,
  rounds: [],
  words: `${short(p50)} ms, ${short(p99)} ms`,
});

const labelOf = ({ pair, participant }: Row): string => `${pair} ${participant}`;

const colours = ['--one', '--two', '--three', '--four'] as const;

const colourOf = ({ participant }: Row, all: readonly Row[]): string => {
  if (floors.has(participant)) return '--floor';
  const names = [...new Set(all.map((row) => row.participant))].filter((name) => !floors.has(name));
  return colours[names.indexOf(participant) % colours.length] ?? '--one';
};

const renderBars = (title: string, bars: readonly Bar[]): string => {
  if (bars.length === 0) return '';
  const most = Math.max(...bars.map(({ high }) => high), Number.MIN_VALUE);
  const x = (value: number): string => (labelWidth + (value / most) * barWidth).toFixed(1);
  const drawn = bars.map(({ label, colour, value, low, high, rounds, words }, at) => {
    const top = at * lineHeight;
    const middle = top + 11;
    const circles = rounds.map((round) => `<circle class="round" cx="${x(round)}" cy="${middle}" r="2.5"/>`);
    return (
      `<text x="0" y="${top + 15}">${escapeHtml(label)}</text>` +
      `<rect x="${labelWidth}" y="${top + 3}" width="${((value / most) * barWidth).toFixed(1)}" height="16" rx="2" fill="var(${colour})"/>` +
      `<line class="span" x1="${x(low)}" x2="${x(high)}" y1="${middle}" y2="${middle}"/>${circles.join('')}` +
      `<text x="${(Number(x(high)) + 8).toFixed(1)}" y="${top + 15}">${escapeHtml(words)}</text>`
    );
  });
  const height = bars.length * lineHeight;
  const width = labelWidth + barWidth + 260;
  return `<h3>${escapeHtml(title)}</h3>\n<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(title)}">${drawn.join('')}</svg>`;
};

const renderEveryRow = ({ rows, reach }: RunReport): string => {
  const head = columns.map(([title]) => `<th>${escapeHtml(title)}</th>`).join('');
  const body = rows.map((row) => {
    const goals = goalsOf(row, reach);
    const missed = row.failed !== undefined || goals.some(({ verdict }) => verdict !== 'yes');
    const cells = columns.map(([, cell]) => `<td>${escapeHtml(cell(row, goals))}</td>`).join('');
    const remark = row.failed ?? row.note;
    return `<tr${missed ? ' class="no"' : ''}>${cells}<td>${escapeHtml(remark ?? '')}</td></tr>`;
  });
  return `<div class="tables"><table><tr>${head}<th></th></tr>\n${body.join('\n')}\n</table></div>`;
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
