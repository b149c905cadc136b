// Loaded by `--import` into a gateway under test. Plain JavaScript: it is loaded before anything could translate it. Writes what
// it sees of its process to a file of its own in `PROBE_FOLDER`, once a second: how late the event loop is, how much memory is
// held, and how many rejections and exceptions were unhandled. SIGUSR2 collects all garbage and writes at once.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const { PROBE_FOLDER: folder } = process.env;
const tickMs = 2;
/** The widest delay that is told apart, in steps of a quarter of a millisecond. */
const steps = 4_000;

if (folder) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const counts = new Uint32Array(steps + 1);
  let ticks = 0;
  let unhandled = 0;
  let collected = 0;
  let at = performance.now();
  let cpu = process.cpuUsage();
  process.on('uncaughtExceptionMonitor', () => {
    unhandled += 1;
  });
  setInterval(() => {
    const now = performance.now();
    const used = process.cpuUsage(cpu);
    // A busy machine takes the processor away at will: the loop was late by no more than this process was at work.
    const lateMs = Math.max(0, Math.min(now - at - tickMs, (used.user + used.system) / 1e3));
    counts[Math.min(steps, Math.round(lateMs * 4))] += 1;
    ticks += 1;
    at = now;
    cpu = process.cpuUsage();
  }, tickMs).unref();
  const percentileMs = (share) => {
    let seen = 0;
    for (let step = 0; step <= steps; step += 1) {
      seen += counts[step];
      if (seen >= ticks * share) return step / 4;
    }
    return steps / 4;
  };
  const write = () => {
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
    const told = {
      p50Ms: percentileMs(0.5),
      p99Ms: percentileMs(0.99),
      rss,
      heapTotal,
      heapUsed,
      external,
      unhandled,
      collected,
    };
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(told));
  };
  setInterval(write, 1_000).unref();
  process.on('SIGUSR2', () => {
    collect();
    collected += 1;
    write();
  });
}
