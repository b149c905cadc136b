import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { treeOf } from '../../../engine/bench/measure/process-tree.ts';

/** What the probe measured in a gateway's processes: the maximum of each, or their sum. Memory in bytes. */
export interface Probed {
  /** How late the event loop was. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rss: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Unhandled rejections and exceptions. */
  readonly unhandled: number;
}

/** The environment that loads the probe into a gateway; results go to files in `folder`. */
export const probeEnvironment = (folder: string): Readonly<Record<string, string>> => ({
  PROBE_FOLDER: folder,
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./probe.js', import.meta.url))}`,
});

interface Written extends Probed {
  readonly collected: number;
}

const filesOf = (folder: string, root: number): readonly (readonly [pid: number, told: Written])[] =>
  treeOf(root).flatMap((pid) => {
    try {
      // The probe's own words, in the form that it has.
      const told: Written = JSON.parse(readFileSync(join(folder, `${pid}.json`), 'utf8'));
      return [[pid, told] as const];
    } catch {
      // No probe in this process, or its file is being written.
      return [];
    }
  });

/** The last results of the probes in a process and its descendants. */
export const readProbe = (folder: string, root: number): Probed => {
  const all = filesOf(folder, root).map(([, told]) => told);
  const sum = (of: (told: Written) => number): number => all.reduce((total, told) => total + of(told), 0);
  return {
    p50Ms: Math.max(0, ...all.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(0, ...all.map(({ p99Ms }) => p99Ms)),
    rss: sum(({ rss }) => rss),
    heapTotal: sum(({ heapTotal }) => heapTotal),
    heapUsed: sum(({ heapUsed }) => heapUsed),
    external: sum(({ external }) => external),
    unhandled: sum(({ unhandled }) => unhandled),
  };
};

/** Makes the processes collect garbage, and returns what is left. */
export const collectGarbage = async (folder: string, root: number): Promise<Probed> => {
  const before = filesOf(folder, root);
  for (const [pid] of before) process.kill(pid, 'SIGUSR2');
  const isDone = (): boolean => {
    const after = new Map(filesOf(folder, root));
    return before.every(([pid, { collected }]) => (after.get(pid)?.collected ?? 0) > collected);
  };
  for (let waited = 0; waited < 5_000 && !isDone(); waited += 50) await wait(50);
  return readProbe(folder, root);
};
