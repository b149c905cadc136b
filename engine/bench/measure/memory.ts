import { readFileSync, writeFileSync } from 'node:fs';
import { treeOf } from './process-tree.ts';

/** Resident memory of a tree of processes, in MB of 1,000,000 bytes. */
interface MemoryReading {
  readonly rssMb: number;
  /** The most since `forgetPeak`, or since the start: each process's own peak, added up. */
  readonly peakMb: number;
}

/** Reads it. Needs Linux. */
export const readMemory = (root: number): MemoryReading => {
  let rssMb = 0;
  let peakMb = 0;
  for (const pid of treeOf(root)) {
    const status = statusOf(pid);
    rssMb += fieldMb(status, 'VmRSS');
    peakMb += fieldMb(status, 'VmHWM');
  }
  return { rssMb, peakMb };
};

/** Begins a new peak. Source: proc(5), `clear_refs`, value 5. */
export const forgetPeak = (root: number): void => {
  for (const pid of treeOf(root)) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // A process that has ended, or one of another user: then the peak is the one since its start.
    }
  }
};

const statusOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
};

const fieldMb = (status: string, name: string): number => {
  const line = status.split('\n').find((each) => each.startsWith(`${name}:`)) ?? '';
  return (Number.parseInt(line.slice(name.length + 1), 10) * 1024) / 1e6 || 0;
};
