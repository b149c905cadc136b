import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { floors } from '../scenes/participants.ts';
import type { Row } from '../scenes/scene.ts';
import { ownFolder } from '../targets/junctor.ts';
import { short } from './columns.ts';
import { wordHost } from './host.ts';
import type { RunReport } from './run-report.ts';
import { renderReach, renderRows, wordFigure } from './table.ts';

const readme = 'README.md';
const page = 'docs/performance.md';

/** Why nothing can be published; `undefined`: this is a checkout. */
export const whyNoCheckout = (): string | undefined =>
  existsSync(join(ownFolder, page))
    ? undefined
    : '--publish writes the figures into the docs of a checkout: this is a package.';

/** Writes the figures of a run into the README and the page about performance; resolves to the names of the files. */
export const publishFigures = async (report: RunReport): Promise<readonly string[]> => {
  await rewrite(readme, (text) => withReadmeFigures(text, report));
  await rewrite(page, (text) => withFigures(text, report));
  return [readme, page];
};

const rewrite = async (file: string, change: (text: string) => string): Promise<void> => {
  const path = join(ownFolder, file);
  await writeFile(path, change(await readFile(path, 'utf8')));
};

/** The table whose first cell begins so is the README's. */
const tableOpening = '| Messages client, Chat Completions provider';

const pair = 'messages→chat';

/** The rows of the README: what is measured, in plain words, by scene. */
const shown = [
  ['stream-fast', 'One fast stream of 20,000 deltas, 10 per network chunk'],
  ['paced-200', '200 streams of 50 deltas a second'],
  ['plain-64', 'Requests of 1.4 KB, 64 clients'],
] as const;

/** The README with the figures of this run. Throws an error if the run or the README lacks them. */
export const withReadmeFigures = (text: string, { startedAt, machine, rows }: RunReport): string => {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.startsWith(tableOpening));
  if (from < 0) throw new Error(`${readme} has no table that begins with "${tableOpening}".`);
  const length = lines.slice(from).findIndex((line) => !line.startsWith('|'));
  const own = rowOf(rows, 'own').mainUs?.p10;
  const found = shown.map(([scene, words]) => [words, ...readmeCells(rowOf(rows, scene), own)].join(' | '));
  const table = [
    `${tableOpening}; ${machine.cores} cores, Node ${machine.node}, ${startedAt.slice(0, 10)} | Per second of one core | Processor time of the bare proxy = 1 |`,
    '|---|---|---|',
    ...found.map((line) => `| ${line} |`),
  ];
  return [...lines.slice(0, from), ...table, ...lines.slice(from + length)].join('\n');
};

const rowOf = (rows: readonly Row[], scene: string): Row => {
  const row = rows.find((each) => each.scene === scene && each.pair === pair && !floors.has(each.participant));
  if (!row) throw new Error(`The run has no ${scene} with ${pair}, which the ${readme} shows.`);
  return row;
};

/** `own`: µs of the gateway's own JavaScript in a request. */
const readmeCells = ({ unit, cpuUs, latencyMs, ratio }: Row, own = 0): readonly string[] => {
  const rate = cpuUs ? `${Math.round(1e6 / cpuUs.median).toLocaleString('en')} ${unit}s` : '';
  return [
    unit === 'request' && latencyMs
      ? `${rate}, of each ${short(own)} µs of its own JavaScript; half of the answers within ${short(latencyMs.p50)} ms`
      : rate,
    ratio ? `${short(ratio.median)} [${short(ratio.low)}–${short(ratio.high)}]` : '',
  ];
};

const opening = '<!-- figures: written by `junctor bench --publish` -->';
const closing = '<!-- end of the figures -->';

/** The page with the figures of this run between its marks. Throws an error if it has none. */
export const withFigures = (text: string, report: RunReport): string => {
  const [from, to] = [text.indexOf(opening), text.indexOf(closing)];
  if (from < 0 || to < from) throw new Error(`${page} lacks the lines between which the figures stand.`);
  return `${text.slice(0, from + opening.length)}\n\n${renderFigures(report)}\n${text.slice(to)}`;
};

/** The figures of a run in Markdown: the costs and their floors, then the goals. */
const renderFigures = ({ startedAt, machine, foreignCores, rows, reach }: RunReport): string => {
  const measured = rows.filter(({ participant, cpuUs, ratio }) => !floors.has(participant) && cpuUs && ratio?.moreUs);
  const conditions = `${startedAt.slice(0, 10)}, ${wordHost(machine)}; other programs used ${foreignCores.toFixed(2)} cores.`;
  return `${conditions}

${renderRows([
  ['scene', 'pair', 'who', 'µs', 'floor, µs', 'difference, µs', '× floor', 'per second of one core'],
  ...measured.map((row) => costCells(row, rows)),
])}

${renderOwn(rows)}

${renderReach(reach)}
`;
};

/** The gateway's own JavaScript, between simulated sockets. */
const renderOwn = (rows: readonly Row[]): string =>
  renderRows([
    ['scene', 'pair', 'own µs p10/p50', 'all threads, µs', 'KB allocated', 'scavenges/marks per 1,000'],
    ...rows
      .filter(({ scene }) => scene.startsWith('own'))
      .flatMap(({ scene, pair, unit, mainUs, cpuUs, allocatedKb = 0, collections: at }) =>
        mainUs && cpuUs && at
          ? [
              [
                scene,
                pair,
                `${short(mainUs.p10)}/${short(mainUs.median)} per ${unit}`,
                wordFigure(cpuUs),
                short(allocatedKb),
                `${short(at.scavenges)}/${short(at.marks)}`,
              ],
            ]
          : [],
      ),
  ]);

const costCells = ({ scene, pair, participant, unit, cpuUs, ratio }: Row, rows: readonly Row[]): readonly string[] => {
  const floor = rows.find((each) => each.scene === scene && each.pair === pair && each.participant === ratio?.to);
  return [
    scene,
    pair,
    participant,
    cpuUs ? `${wordFigure(cpuUs)} per ${unit}` : '',
    floor?.cpuUs ? wordFigure(floor.cpuUs) : '',
    ratio?.moreUs ? wordFigure(ratio.moreUs) : '',
    ratio ? wordFigure(ratio) : '',
    cpuUs ? `${Math.round(1e6 / cpuUs.median).toLocaleString('en')} ${unit}s` : '',
  ];
};
