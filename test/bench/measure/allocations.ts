import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { treeOf } from './process-tree.ts';

let folder: string | undefined;
process.once('exit', () => folder && rmSync(folder, { recursive: true, force: true }));

/** The environment that puts the probe into a Node.js program and its children. */
export const allocationProbe = (): Readonly<Record<string, string>> => {
  folder ??= mkdtempSync(join(tmpdir(), 'bench-allocations-'));
  return {
    BENCH_ALLOCATIONS: folder,
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('./allocation-probe.js', import.meta.url))}`,
  };
};

/**
 * Bytes that a tree of processes has allocated on V8's heaps since the call before; 0 at the first call. `undefined` when none of
 * them has the probe.
 */
export const takeAllocated = async (root: number): Promise<number | undefined> => {
  const probed = treeOf(root).filter((pid) => existsSync(fileOf(pid)));
  if (probed.length === 0) return undefined;
  const bytes = await Promise.all(probed.map(askProbe));
  return bytes.reduce((sum, each) => sum + each, 0);
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

const askProbe = async (pid: number): Promise<number> => {
  const before = readFileSync(fileOf(pid), 'utf8').length;
  if (hasEnded(pid)) return 0;
  process.kill(pid, 'SIGUSR2');
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += 2) {
    const line = readFileSync(fileOf(pid), 'utf8').slice(before);
    if (line.endsWith('\n')) return Number(line);
    if (hasEnded(pid)) return 0;
    await wait(2);
  }
  throw new Error(`process ${pid} didn’t say within ${longestMs} ms what it had allocated`);
};
