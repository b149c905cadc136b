// Loaded by `--import` into a process under test. At each SIGUSR2 it appends a line to its file with what happened since the signal
// before: the bytes that V8 has allocated on its heap, the scavenges, and the full marks; zeros at the first. Buffers outside the heap
// and other threads aren't in it. V8 counts what is in use before and after each collection, so the sum of what came in between is
// exact, and costs nothing between collections. Plain JavaScript: it is loaded before anything could translate it.
import { appendFileSync, writeFileSync } from 'node:fs';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const { BENCH_ALLOCATIONS: folder } = process.env;

if (folder && isMainThread) {
  const file = `${folder}/${process.pid}`;
  const inUse = () => getHeapStatistics().used_heap_size;
  let profiler;
  let startedWith = 0;
  process.on('SIGUSR2', () => {
    const counts = { bytes: 0, Scavenge: 0, MarkSweepCompact: 0 };
    if (profiler) {
      const endsWith = inUse();
      let left = startedWith;
      for (const { gcType, beforeGC, afterGC } of profiler.stop().statistics) {
        counts.bytes += beforeGC.heapStatistics.usedHeapSize - left;
        left = afterGC.heapStatistics.usedHeapSize;
        if (gcType in counts) counts[gcType] += 1;
      }
      counts.bytes += endsWith - left;
    }
    appendFileSync(file, `${counts.bytes} ${counts.Scavenge} ${counts.MarkSweepCompact}\n`);
    profiler = new GCProfiler();
    profiler.start();
    startedWith = inUse();
  });
  writeFileSync(file, '');
}
