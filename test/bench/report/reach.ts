import type { Row } from '../scenes/scene.ts';

/** A figure beside the one that is to be reached. */
export interface Reached {
  readonly reached: boolean;
  /** `≤ 1.6`. */
  readonly wanted: string;
}

/** The most that a gateway may cost beside the pair's floor, by scene and pair. */
const ratios: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'plain-64': { 'messages→chat': 1.6, 'chat→chat': 1.8 },
  'body-100k': { 'messages→chat': 1.4 },
  'body-1m': { 'messages→chat': 1.3 },
  'stream-fast': { 'messages→chat': 1.0, 'chat→chat': 1.5 },
  'paced-200': { 'messages→chat': 1.15 },
  'paced-1000': { 'messages→chat': 1.15 },
};

/** Whether a row reaches what was set for its scene and pair; `undefined` where nothing was, and for floors. */
export const reachOf = (row: Row, _rows: readonly Row[]): Reached | undefined => {
  if (!row.ratio || row.participant === 'converted') return undefined;
  const most = ratios[row.scene]?.[row.pair];
  if (most === undefined) return undefined;
  return { reached: row.failed === undefined && row.ratio.median <= most, wanted: `≤ ${most}` };
};
