import { floors } from '../scenes/participants.ts';
import type { Quantiles, Row } from '../scenes/scene.ts';
import { inColumns, short } from './columns.ts';
import { renderTable } from './table.ts';

/**
 * The table of a run: six columns for each scene, a row for each way from a client to a provider. Rows of other kinds, such as a start,
 * have their own columns.
 */
export const renderBrief = (rows: readonly Row[]): string => {
  const scenes = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.scene.endsWith(', cold')) continue;
    scenes.set(row.scene, [...(scenes.get(row.scene) ?? []), row]);
  }
  return [...scenes]
    .map(([scene, own]) => (own.some(isLoad) ? renderScene(scene, own) : renderTable(own, [])))
    .join('\n\n');
};

const isLoad = ({ firstTokenMs }: Row): boolean => firstTokenMs !== undefined;

const renderScene = (scene: string, all: readonly Row[]): string => {
  const rows = all.filter(({ participant }) => !floors.has(participant));
  const names = new Set(rows.map(({ participant }) => participant));
  const unit = all.find(isLoad)?.unit ?? 'request';
  const isPerCore = rows.some(({ cpuUs }) => cpuUs !== undefined);
  const lines = [
    [
      scene,
      `${unit}s/s${isPerCore ? ' per core' : ''}`,
      'TTFT p50/p99 ms',
      'ITL p50/p99 ms',
      'CPU over bare stack',
      'MB',
    ],
    ...rows.map((row) => [
      names.size > 1 ? `${row.pair}: ${row.participant}` : row.pair,
      rateOf(row, isPerCore),
      inBoth(row.firstTokenMs),
      inBoth(row.betweenTokensMs),
      overFloor(row),
      row.peakMb === undefined ? '' : row.peakMb.toFixed(0),
    ]),
  ];
  const [head = '', ...body] = inColumns(lines);
  const cold = rows.filter(({ isCold }) => isCold).length;
  return [
    head,
    ...body.flatMap((line, at) => [line, ...failureOf(rows[at])]),
    ...(cold > 0
      ? [`    ${cold} of ${rows.length} perhaps not warm: the code was still being compiled, which costs more.`]
      : []),
  ]
    .map((line) => line.trimEnd())
    .join('\n');
};

const failureOf = (row: Row | undefined): readonly string[] =>
  row?.failed === undefined ? [] : [`    FAILED: ${row.failed}`];

/** Units per second of processor time of one core; of wall time where the former is unknown. */
const rateOf = ({ cpuUs, perSecond }: Row, isPerCore: boolean): string => {
  const rate = isPerCore ? cpuUs && 1e6 / cpuUs.median : perSecond;
  return rate === undefined ? '' : rate.toLocaleString('en', { maximumFractionDigits: rate < 100 ? 1 : 0 });
};

const inBoth = (times: Quantiles | undefined): string => (times ? `${short(times.p50)}/${short(times.p99)}` : '');

const overFloor = ({ ratio }: Row): string => {
  if (!ratio) return '';
  const times = `${ratio.median.toFixed(2)}× [${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)}]`;
  return ratio.moreUs ? `${ratio.moreUs.median < 0 ? '' : '+'}${short(ratio.moreUs.median)} µs, ${times}` : times;
};

/** What the columns mean. */
export const briefLegend = (isPerCore: boolean): string =>
  [
    isPerCore
      ? 'per core: per second of processor time of one core, of all processes of the gateway.'
      : 'This system doesn’t tell the processor time and memory of other processes: rates are per second of wall time.',
    'TTFT: from a request to its first token, or to the whole answer. ITL: between two tokens; streams are sent 50 a second, every 20 ms.',
    ...(isPerCore
      ? ['bare stack: the same HTTP server and client without a gateway; [the cheapest–the dearest round].']
      : []),
  ].join('\n');
