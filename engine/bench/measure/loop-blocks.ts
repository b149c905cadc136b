import { readFileSync, writeFileSync } from 'node:fs';
import { moduleUrl } from '../../paths.ts';

/** The environment that puts the probe into a Node.js program; what it sees goes to `file`. */
export const loopProbe = (file: string): Readonly<Record<string, string>> => ({
  BENCH_LOOP_LOG: file,
  NODE_OPTIONS: `--import=${moduleUrl('bench-loop-blocks', 'engine/bench/measure/loop-probe.js').href}`,
});

/** Forgets what the probe saw. */
export const clearBlocks = (file: string): void => writeFileSync(file, '');

/**
 * The longest stretch in milliseconds for which the event loop stood still: of each, the smaller of its wall time and its
 * processor time, since a busy machine takes the processor away at will. 0 when none was worth noting.
 */
export const longestBlockMs = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Math.min(...line.split(' ').map(Number)))
    .reduce((longest, ms) => Math.max(longest, ms), 0);
