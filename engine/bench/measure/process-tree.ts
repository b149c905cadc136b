import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What `/proc/<pid>/stat` says of a process. */
interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks, user and system, of all its threads, ended ones and waited-for children included. */
  readonly ticks: number;
}

/** The text of a file of `/proc`; empty when the process has ended meanwhile. */
const readProc = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
};

const statOf = (pid: number): Stat | undefined => {
  const text = readProc(`${pid}/stat`);
  // The name in parentheses may hold anything; fields are counted from behind it. Source: proc(5).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (text === '') return undefined;
  const [, parent = '0'] = fields;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(parent), ticks };
};

/** Whether this system tells the processor time and the memory of other processes. */
export const hasProcessorTime = existsSync('/proc/self/schedstat');

const allStats = (): readonly Stat[] =>
  (hasProcessorTime ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);

/** A process and all that descend from it; the process alone where the system doesn't tell. */
export const treeOf = (root: number): readonly number[] =>
  hasProcessorTime ? treeStats(root).map(({ pid }) => pid) : [root];

const treeStats = (root: number): readonly Stat[] => {
  const stats = allStats();
  const found = stats.filter(({ pid }) => pid === root);
  for (let at = 0; at < found.length; at += 1) {
    found.push(...stats.filter(({ parent }) => parent === found[at]?.pid));
  }
  return found;
};

/** Ticks a second: 100 on every Linux that Node runs on. */
const tickMs = 10;

/** Processor time that a tree of processes has used so far. */
interface CpuReading {
  /** Complete, in steps of 10 ms. */
  readonly coarseMs: number;
  /** To the nanosecond, but without threads and processes that have ended. */
  readonly fineMs: number;
}

/** Reads the processor time, user and system, of a process, its threads and its descendants. Needs Linux. */
export const readCpu = (root: number): CpuReading => {
  const stats = treeStats(root);
  return {
    coarseMs: stats.reduce((sum, { ticks }) => sum + ticks, 0) * tickMs,
    fineMs: stats.reduce((sum, { pid }) => sum + readOwnCpuMs(pid), 0),
  };
};

/** Processor time of the main threads of a process and its descendants that run: without the threads of V8, of stores, of counting. */
export const readMainMs = (root: number): number =>
  treeOf(root).reduce((sum, pid) => sum + threadMs(pid, String(pid)), 0);

const threadMs = (pid: number, task: string): number =>
  Number(readProc(`${pid}/task/${task}/schedstat`).split(' ')[0] ?? 0) / 1e6;

/** Processor time of one process and its threads, without descendants. */
export const readOwnCpuMs = (pid: number): number => {
  let tasks: string[] = [];
  try {
    tasks = readdirSync(`/proc/${pid}/task`);
  } catch {
    return 0;
  }
  return tasks.reduce((sum, task) => sum + threadMs(pid, task), 0);
};

/**
 * Processor time between two readings. The fine one where it agrees with the complete one; they part when something ended in
 * between.
 */
export const cpuBetween = (before: CpuReading, after: CpuReading): number => {
  const coarse = after.coarseMs - before.coarseMs;
  const fine = after.fineMs - before.fineMs;
  return fine > 0 && Math.abs(coarse - fine) <= 5 * tickMs ? fine : coarse;
};
