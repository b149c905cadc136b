import type { Row } from '../scenes/scene.ts';
import type { Machine } from './machine.ts';
import { type Reach, reachOf } from './reach.ts';

/** A whole run, as `--json` writes it. */
export interface RunReport {
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly quick: boolean;
  readonly rows: readonly Row[];
  readonly reach: readonly Reach[];
}

/** Puts it together. */
export const runReport = (run: Omit<RunReport, 'reach'>): RunReport => ({ ...run, reach: reachOf(run.rows) });
