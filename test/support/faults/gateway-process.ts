import { readdirSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { treeOf } from '../../../engine/bench/measure/process-tree.ts';
import { addressIn, type CommandRig, commandRig, type Running } from '../processes/command.ts';

/** A gateway as a separate process, as users run it. */
export interface GatewayProcess extends Pick<CommandRig, 'home' | 'run'> {
  readonly baseUrl: string;
  readonly pid: number;
  readonly running: Running;
  /** Open files and sockets of all its processes. Needs Linux. */
  readonly openFiles: () => number;
  /** The sum of a metric's lines, those that have all these labels (`type="Timeout"`). */
  readonly metric: (name: string, label?: string) => Promise<number>;
}

/** Starts `junctor start` with this configuration; the test's end stops it. */
export const gatewayProcess = async (
  t: ExecutionContext,
  config: object,
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> => {
  const { home, run, begin } = await commandRig(t, config);
  const running = begin(['start'], { env });
  await running.says('listens on');
  const baseUrl = addressIn(running.out());
  const pid = running.child.pid ?? 0;
  return {
    baseUrl,
    pid,
    running,
    home,
    run,
    openFiles: () => openFilesOf(pid),
    async metric(name, label = '') {
      const text = await (await fetch(`${baseUrl}/metrics`)).text();
      return text
        .split('\n')
        .filter((line) => line.startsWith(name) && line.includes(label))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
  };
};

/** Open files and sockets of a process and its descendants. Needs Linux. */
export const openFilesOf = (root: number): number =>
  treeOf(root).reduce((sum, pid) => {
    try {
      return sum + readdirSync(`/proc/${pid}/fd`).length;
    } catch {
      // It has exited.
      return sum;
    }
  }, 0);
