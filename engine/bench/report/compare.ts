import { readFile } from 'node:fs/promises';
import { isJsonObject, parseJson } from '../../model/json/json.ts';
import { median } from '../measure/figure.ts';
import { type Estimate, estimateOf } from '../measure/interval.ts';
import { floors } from '../scenes/participants.ts';
import type { Row } from '../scenes/scene.ts';
import { inColumns, short } from './columns.ts';
import { type RunReport, reportVersion } from './run-report.ts';

type What = 'processor time' | 'first token';

/** How a figure changed. */
export interface Change {
  readonly scene: string;
  readonly pair: string;
  readonly participant: string;
  /** What is compared: the time to the first token where the system doesn't tell the processor time. */
  readonly what: What;
  /** How many times as much. */
  readonly times: Estimate;
  readonly verdict: 'more' | 'less' | 'no difference' | 'too few rounds';
}

/** Reads the figures of an earlier run, which `--json` wrote. Rejects with the reason for users if it can't be used. */
export const readReport = async (file: string): Promise<RunReport> => {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`Cannot read ${file}.`);
  });
  const parsed = parseJson(text);
  if (!isJsonObject(parsed) || parsed.junctor !== 'bench')
    throw new Error(
      `${file} is not a run of the bench: a file that \`junctor bench --json\` writes begins with "junctor": "bench".`,
    );
  if (parsed.version !== reportVersion)
    throw new Error(
      `${file} is of version ${JSON.stringify(parsed.version ?? null)} of the format; this version of Junctor reads version ${reportVersion}.`,
    );
  if (!isReport(parsed)) throw new Error(`${file} is damaged: it has no rows, or no machine.`);
  return parsed;
};

/** The harness wrote it: what is looked at here is what a text editor damages. */
const isReport = (value: object): value is RunReport =>
  'rows' in value &&
  Array.isArray(value.rows) &&
  value.rows.every((row: unknown) => typeof row === 'object' && row !== null && 'scene' in row && 'pair' in row) &&
  'machine' in value &&
  typeof value.machine === 'object' &&
  value.machine !== null;

/** What makes two runs incomparable; `undefined`: nothing. */
export const whyIncomparable = (before: RunReport, now: RunReport): string | undefined =>
  before.machine.server === now.machine.server
    ? undefined
    : `The runs used different HTTP servers: ${before.machine.server}, now ${now.machine.server}.`;

/** What makes them less comparable; empty: nothing. */
export const warningsOf = (before: RunReport, now: RunReport): readonly string[] =>
  (['cpu', 'cores', 'node', 'system'] as const).flatMap((what) =>
    before.machine[what] === now.machine[what]
      ? []
      : [`Another ${what}: ${before.machine[what]}, now ${now.machine[what]}.`],
  );

/**
 * How each row that both runs have changed. Of a run, what counts is the processor time beside the bare stack's in the same rounds, so that
 * a machine that was busier in one of the runs changes little.
 */
export const changesOf = (before: readonly Row[], now: readonly Row[]): readonly Change[] =>
  now.flatMap((row) => {
    const earlier = before.find((each) => isSame(each, row));
    if (!earlier || floors.has(row.participant) || row.failed !== undefined) return [];
    const what = (row.rounds?.cpuUs.length ?? 0) > 0 ? 'processor time' : 'first token';
    const [own, other] = [relative(what, row, now), relative(what, earlier, before)];
    const times = estimateOf(own, other, (a, b) => median(a) / median(b));
    return times ? [changeOf(row, what, times, Math.min(own.length, other.length))] : [];
  });

/** How each later gateway of a run compares with the first one. Their rounds took turns. */
export const besideOf = (rows: readonly Row[]): readonly Change[] =>
  rows.flatMap((row) => {
    const first = rows.find(
      (each) => each.scene === row.scene && each.pair === row.pair && !floors.has(each.participant),
    );
    if (first === row || floors.has(row.participant)) return [];
    if (!first?.rounds || !row.rounds || row.failed !== undefined) return [];
    const what = row.rounds.cpuUs.length > 0 ? 'processor time' : 'first token';
    const ratios = pairwise(roundsOf(what, row), roundsOf(what, first), (a, b) => a / b);
    const times = estimateOf(ratios, [1], median);
    return times ? [changeOf(row, what, times, ratios.length)] : [];
  });

/** What each gets of two lists, place by place. */
export const pairwise = (
  one: readonly number[],
  other: readonly number[],
  of: (one: number, other: number) => number,
): readonly number[] =>
  one.flatMap((value, at) => {
    const beside = other[at];
    return beside === undefined ? [] : [of(value, beside)];
  });

const verdictOf = ({ low, high }: Estimate): Change['verdict'] =>
  low > 1 ? 'more' : high < 1 ? 'less' : 'no difference';

const changeOf = ({ scene, pair, participant }: Row, what: What, times: Estimate, rounds: number): Change => ({
  scene,
  pair,
  participant,
  what,
  times,
  verdict: rounds < fewestRounds ? 'too few rounds' : verdictOf(times),
});

const isSame = (one: Row, other: Row): boolean =>
  one.scene === other.scene && one.pair === other.pair && one.participant === other.participant;

/** Beside the bare stack's, round by round; alone where there is none. */
const relative = (what: What, row: Row, rows: readonly Row[]): readonly number[] => {
  const own = roundsOf(what, row);
  const floor = rows.find(
    ({ scene, pair, participant }) => scene === row.scene && pair === row.pair && participant === row.ratio?.to,
  );
  const beside = floor ? roundsOf(what, floor) : [];
  return beside.length > 0 ? pairwise(own, beside, (a, b) => a / b) : own;
};

/** Fewer rounds tell nothing of the noise. */
const fewestRounds = 3;

/** What each round took. */
const roundsOf = (what: What, { rounds }: Row): readonly number[] =>
  (what === 'processor time' ? rounds?.cpuUs : rounds?.firstTokenMs) ?? [];

/** Whether a change is more than this many times, and more than noise. */
export const isOver = ({ times, verdict }: Change, limit: number): boolean => times.value > limit && verdict === 'more';

/** The changes as text. */
export const renderChanges = (changes: readonly Change[]): string =>
  inColumns([
    ['scene', 'pair', 'who', 'what', 'times', 'verdict'],
    ...changes.map(({ scene, pair, participant, what, times, verdict }) => [
      scene,
      pair,
      participant,
      what,
      `${times.value.toFixed(2)}× [${times.low.toFixed(2)}–${times.high.toFixed(2)}]`,
      verdict,
    ]),
  ])
    .map((line) => line.trimEnd())
    .join('\n');

/** An estimate with its interval and unit. */
export const wordEstimate = ({ value, low, high }: Estimate, unit: string): string =>
  `${value < 0 ? '' : '+'}${short(value)} ${unit} [${short(low)}–${short(high)}]`;
