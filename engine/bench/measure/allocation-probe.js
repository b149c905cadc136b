// @ts-check
// Loaded by `--import` into a process under test. At each SIGUSR2 it appends a line to its file with what happened since the signal
// before: the bytes that V8 has allocated on its heap, the scavenges, and the full marks; zeros at the first. Buffers outside the heap
// and other threads aren't in it. V8 counts what is in use before and after each collection, so the sum of what came in between is
// exact, and costs nothing between collections. Plain JavaScript: it is loaded before anything could translate it.
import { appendFileSync, writeFileSync } from 'node:fs';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/** What this thread allocates and collects from its making on. */
export class Allocated {
  #profiler = new GCProfiler();
  #startedWith = inUse();

  constructor() {
    this.#profiler.start();
  }

  end() {
    const endsWith = inUse();
    const counts = { bytes: 0, Scavenge: 0, MarkSweepCompact: 0 };
    let left = this.#startedWith;
    for (const { gcType, beforeGC, afterGC } of this.#profiler.stop().statistics) {
      counts.bytes += beforeGC.heapStatistics.usedHeapSize - left;
      left = afterGC.heapStatistics.usedHeapSize;
      if (gcType === 'Scavenge' || gcType === 'MarkSweepCompact') counts[gcType] += 1;
    }
    return { bytes: counts.bytes + endsWith - left, scavenges: counts.Scavenge, marks: counts.MarkSweepCompact };
  }
}

const inUse = () => getHeapStatistics().used_heap_size;

const { BENCH_ALLOCATIONS: folder } = process.env;

if (folder && isMainThread) {
  const file = `${folder}/${process.pid}`;
  /** @type {Allocated | undefined} */
  let allocated;
  process.on('SIGUSR2', () => {
    const { bytes, scavenges, marks } = allocated?.end() ?? { bytes: 0, scavenges: 0, marks: 0 };
    appendFileSync(file, `${bytes} ${scavenges} ${marks}\n`);
    allocated = new Allocated();
  });
  writeFileSync(file, '');
}
