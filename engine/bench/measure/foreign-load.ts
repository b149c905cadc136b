import { readFileSync } from 'node:fs';
import { hasProcessorTime, readCpu } from './process-tree.ts';

/** Processor time used so far, in milliseconds, at a time of the monotonic clock. */
interface HostReading {
  readonly atMs: number;
  /** Of all programs. */
  readonly busyMs: number;
  /** Of this process and its descendants. */
  readonly ownMs: number;
}

/** Cores that other programs use while this process and its descendants are at work. */
export class ForeignLoad {
  #foreignMs = 0;
  #wallMs = 0;

  /** Watches for as long as `work` lasts; sees nothing where the system doesn't tell. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (!hasProcessorTime) return work();
    const before = readHost();
    const result = await work();
    this.add(before, readHost());
    return result;
  }

  add(before: HostReading, after: HostReading): void {
    this.#foreignMs += after.busyMs - before.busyMs - (after.ownMs - before.ownMs);
    this.#wallMs += after.atMs - before.atMs;
  }

  /** On average over all that was watched; 0 if nothing was. */
  get cores(): number {
    // The machine and its processes are counted in steps of 10 ms, so the difference may be below 0.
    return this.#wallMs === 0 ? 0 : Math.max(0, this.#foreignMs / this.#wallMs);
  }
}

const readHost = (): HostReading => ({
  atMs: performance.now(),
  busyMs: busyMs(readFileSync('/proc/stat', 'utf8')),
  ownMs: readCpu(process.pid).coarseMs,
});

/** Length of a clock tick. */
const tickMs = 10;

/** The processor time of all programs in `/proc/stat`. Source: proc(5): user, nice, system, idle, iowait, irq, softirq, steal. */
export const busyMs = (stat: string): number => {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/ +/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq) * tickMs;
};
