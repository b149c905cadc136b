import type { Figure } from '../measure/figure.ts';
import type { Row } from '../scenes/scene.ts';
import { short } from './columns.ts';
import { wordMachine } from './machine.ts';
import type { RunReport } from './run-report.ts';
import { columns, goalsOf } from './table.ts';

const colours: Readonly<Record<string, string>> = { converted: '#b9c2cc', bytes: '#b9c2cc', bare: '#b9c2cc' };
const gateways = ['#2f6f9f', '#c0602f', '#4f8a4f', '#8a5aa0'] as const;

const barWidth = 460;
const lineHeight = 22;

/** One page that needs nothing else: a bar for what each participant cost in each scene, and the whole table. */
export const renderChart = (report: RunReport): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cost of a gateway beside the floor of its stack</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1d2730; }
svg { display: block; max-width: 100%; }
svg text { font: 12px system-ui, sans-serif; fill: #1d2730; }
table { border-collapse: collapse; font-size: 13px; margin-top: 2rem; }
th, td { border-bottom: 1px solid #dde3e8; padding: 2px 8px; text-align: left; white-space: nowrap; }
.no { color: #a02020; font-weight: 600; }
</style>
<h1>Cost of a gateway beside the floor of its stack</h1>
<p>${escapeHtml(wordMachine(report.machine))}. Processor time of the whole process tree, the median of all rounds; grey is the floor.</p>
${groupsOf(report.rows).map(renderGroup).join('\n')}
${renderEveryRow(report)}
</html>
`;

interface Group {
  readonly title: string;
  readonly rows: readonly (Row & { readonly cpuUs: Figure })[];
}

const groupsOf = (rows: readonly Row[]): readonly Group[] => {
  const groups = new Map<string, (Row & { readonly cpuUs: Figure })[]>();
  for (const row of rows) {
    if (row.cpuUs === undefined) continue;
    const title = `${row.scene}, ${row.pair}`;
    groups.set(title, [...(groups.get(title) ?? []), { ...row, cpuUs: row.cpuUs }]);
  }
  return [...groups].map(([title, list]) => ({ title, rows: list }));
};

const renderGroup = ({ title, rows }: Group): string => {
  const longest = Math.max(...rows.map(({ cpuUs }) => cpuUs.median));
  let gateway = -1;
  const bars = rows.map(({ participant, cpuUs: { median: us, modes }, unit, ratio, failed }, at) => {
    const grey = colours[participant];
    if (grey === undefined) gateway += 1;
    const y = at * lineHeight;
    const words =
      failed === undefined
        ? `${short(us)} µs/${unit}${ratio ? `, ${ratio.median.toFixed(2)} ×` : ''}${modes ? ', unstable' : ''}`
        : 'failed';
    return (
      `<text x="0" y="${y + 15}">${escapeHtml(participant)}</text>` +
      `<rect x="120" y="${y + 3}" width="${((us / longest) * barWidth).toFixed(1)}" height="16" rx="2" fill="${grey ?? gateways[gateway % gateways.length]}"/>` +
      `<text x="${(126 + (us / longest) * barWidth).toFixed(1)}" y="${y + 15}">${escapeHtml(words)}</text>`
    );
  });
  const height = rows.length * lineHeight;
  return `<h3>${escapeHtml(title)}</h3>\n<svg viewBox="0 0 760 ${height}" width="760" height="${height}" role="img">${bars.join('')}</svg>`;
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
  return `<table><tr>${head}<th></th></tr>\n${body.join('\n')}\n</table>`;
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
