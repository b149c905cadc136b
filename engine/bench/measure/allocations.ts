import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { moduleUrl } from '../../paths.ts';
import { treeOf } from './process-tree.ts';

let folder: string | undefined;
process.once('exit', () => folder && rmSync(folder, { recursive: true, force: true }));

/** The environment that puts the probe into a Node.js program and its children. */
export const allocationProbe = (): Readonly<Record<string, string>> => {
  folder ??= mkdtempSync(join(tmpdir(), 'bench-allocations-'));
  return {
    BENCH_ALLOCATIONS: folder,
    NODE_OPTIONS: `--import=${moduleUrl('bench-allocations', 'engine/bench/measure/allocation-probe.js').href}`,
  };
};

/** What a tree of processes allocated and collected. */
export interface Allocations {
  /** Allocated on V8's heaps. */
  readonly bytes: number;
  /** Collections of young objects. */
  readonly scavenges: number;
  /** Collections of a whole heap. */
  readonly marks: number;
}

/** Allocations of a tree of processes since the call before; zeros at the first call. `undefined` when none of them has the probe. */
export const takeAllocations = async (root: number): Promise<Allocations | undefined> => {
  const probed = treeOf(root).filter((pid) => existsSync(fileOf(pid)));
  if (probed.length === 0) return undefined;
  return (await Promise.all(probed.map(askProbe))).reduce(
    (sum, each) => ({
      bytes: sum.bytes + each.bytes,
      scavenges: sum.scavenges + each.scavenges,
      marks: sum.marks + each.marks,
    }),
    nothing,
  );
};

const fileOf = (pid: number): string => join(folder ?? '', String(pid));

const hasEnded = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8').includes('State:\tZ');
  } catch {
    return true;
  }
};

const longestMs = 5_000;

const nothing: Allocations = { bytes: 0, scavenges: 0, marks: 0 };

const askProbe = async (pid: number): Promise<Allocations> => {
  const before = readFileSync(fileOf(pid), 'utf8').length;
  if (hasEnded(pid)) return nothing;
  process.kill(pid, 'SIGUSR2');
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += 2) {
    const line = readFileSync(fileOf(pid), 'utf8').slice(before);
    if (line.endsWith('\n')) {
      const [bytes = 0, scavenges = 0, marks = 0] = line.split(' ').map(Number);
      return { bytes, scavenges, marks };
    }
    if (hasEnded(pid)) return nothing;
    await wait(2);
  }
  throw new Error(`process ${pid} didn’t say within ${longestMs} ms what it had allocated`);
};
