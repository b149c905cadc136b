import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** Where a run took place. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Programs that wanted a core in the last minute, as the run began. */
  readonly busy: number;
}

/** This machine, now. */
export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1e9),
  system: `${type()} ${release()}`,
  node: process.versions.node,
  busy: loadavg()[0] ?? 0,
});

/** In one line. */
export const wordMachine = ({ cpu, cores, memoryGb, system, node, busy }: Machine): string =>
  `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}, load before the run ${busy.toFixed(1)}`;
