import { performance } from 'node:perf_hooks';
import { type SteadyClock, steadyClock } from './steady-clock.ts';

/** A stall of the event loop. */
export interface LoopStall {
  /** The step that ran: a step of a plan's graph, a stage by its name, or `other`. */
  readonly step: string;
  readonly ms: number;
}

/** From this many milliseconds on, a stall is reported. */
const shortestStallMs = 200;

/** Milliseconds between two looks at the loop itself, which find what no step did. */
const tickMs = 100;

const idle = '';
let current = idle;
/** When the current step was entered. In an array, since a variable would be allocated again for each value. */
const since = new Float64Array(1);
const listeners = new Set<(stall: LoopStall) => void>();
let reported = false;

/** Distinguishes a stall from the computer's sleep, and from a stopped process. */
interface SleepSource {
  readonly clock: SteadyClock;
  /** Processor time of this process, in milliseconds. */
  readonly cpuMs: () => number;
}

const system: SleepSource = {
  clock: steadyClock,
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

/** Whether a time since the latest look at the loop was sleep: a clock noticed one, and the process hardly ran. */
let wasSleep = (_ms: number): boolean => false;

const report = (step: string, ms: number): void => {
  reported = true;
  if (wasSleep(ms)) return;
  for (const listener of listeners) listener({ step, ms });
};

/**
 * Enters a step and leaves the one before, which is returned: whoever enters a step enters that one again when it returns. Costs
 * one look at the clock; called a few times per network chunk.
 */
export const enterStep = (step: string): string => {
  const nowMs = performance.now();
  const ms = nowMs - (since[0] ?? nowMs);
  if (ms >= shortestStallMs && current !== idle) report(current, ms);
  since[0] = nowMs;
  const before = current;
  current = step;
  return before;
};

/** Whether a step has been entered. */
export const isInStep = (): boolean => current !== idle;

/** The step of a stage. */
export const stageStep = (name: string): string => `stage ${name}`;

/** Runs work as a step. */
export const inStep = <T>(step: string, work: () => T): T => {
  const before = enterStep(step);
  try {
    return work();
  } finally {
    enterStep(before);
  }
};

let stopTicking: (() => void) | undefined;

/** Calls `stalled` for each stall of this process, until the returned function is called. The machine's sleep is none. */
export const watchLoop = (stalled: (stall: LoopStall) => void, source: SleepSource = system): (() => void) => {
  listeners.add(stalled);
  stopTicking ??= startTicking(source);
  return () => {
    listeners.delete(stalled);
    if (listeners.size > 0) return;
    stopTicking?.();
    stopTicking = undefined;
  };
};

const startTicking = ({ clock, cpuMs }: SleepSource): (() => void) => {
  let lastMs = performance.now();
  let lastCpuMs = cpuMs();
  let woke = false;
  reported = false;
  const stopListening = clock.onWake(() => {
    woke = true;
  });
  wasSleep = (ms) => {
    // The clock notices a sleep when it is asked.
    clock.nowMs();
    return woke && cpuMs() - lastCpuMs < ms / 2;
  };
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const lateMs = nowMs - lastMs - tickMs;
    lastMs = nowMs;
    if (lateMs >= shortestStallMs && !reported) report('other', lateMs);
    reported = false;
    lastCpuMs = cpuMs();
    woke = false;
  }, tickMs).unref();
  return () => {
    clearInterval(timer);
    stopListening();
    wasSleep = () => false;
  };
};
