import type { Row } from '../scenes/scene.ts';
import type { Host } from './host.ts';
import { type Reach, reachOf } from './reach.ts';

/** It grows when a file can no longer be read as before. */
export const reportVersion = 1;

/** A whole run, as `--json` writes it. */
export interface RunReport {
  readonly junctor: 'bench';
  /** Of this format. */
  readonly version: number;
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Host;
  readonly quick: boolean;
  /** Cores that other programs used during the rounds. */
  readonly foreignCores: number;
  readonly rows: readonly Row[];
  /** Empty for a quick run, whose rounds are too few to judge by. */
  readonly reach: readonly Reach[];
}

/** Puts it together. */
export const runReport = (run: Omit<RunReport, 'junctor' | 'version' | 'reach'>): RunReport => ({
  junctor: 'bench',
  version: reportVersion,
  ...run,
  reach: run.quick ? [] : reachOf(run.rows),
});

/** Figures are published only if other programs use at most so many cores. */
const mostForeignCores = 0.2;

/** Why figures that were measured beside other programs aren't published; `undefined`: they may be. */
export const whyForeign = (cores: number): string | undefined =>
  cores > mostForeignCores
    ? `other programs use ${cores.toFixed(1)} cores (at most ${mostForeignCores} for figures to publish)`
    : undefined;

/** Why the figures of a run must not be published; empty: they may be. */
export const whyUnpublishable = ({
  quick,
  foreignCores,
  rows,
}: Pick<RunReport, 'quick' | 'foreignCores' | 'rows'>): readonly string[] => {
  const foreign = whyForeign(foreignCores);
  const failed = rows.find((row) => row.failed !== undefined);
  return [
    ...(quick ? ['it was a quick run'] : []),
    ...(foreign === undefined ? [] : [foreign]),
    ...(failed ? [`${failed.scene} failed: ${failed.failed}`] : []),
  ];
};
