// Loaded by `--import` into a gateway under test. Writes each stretch during which its event loop stood still to a file, a line
// each: the wall time in milliseconds, and the processor time of the whole process in it. A stretch that the machine gave to
// other programs has little of the latter. Plain JavaScript: it is loaded before anything could translate it.
import { appendFileSync } from 'node:fs';

const { BENCH_LOOP_LOG: file } = process.env;
const tickMs = 1;
const worthNotingMs = 4;

if (file) {
  let at = performance.now();
  let cpu = process.cpuUsage();
  let lines = '';
  setInterval(() => {
    const now = performance.now();
    const wallMs = now - at - tickMs;
    const { user, system } = process.cpuUsage(cpu);
    if (wallMs > worthNotingMs) lines += `${wallMs.toFixed(2)} ${((user + system) / 1e3).toFixed(2)}\n`;
    cpu = process.cpuUsage();
    at = now;
  }, tickMs).unref();
  setInterval(() => {
    if (lines === '') return;
    appendFileSync(file, lines);
    lines = '';
  }, 200).unref();
}
