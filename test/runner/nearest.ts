import { dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';

/** For each source, how many imports away each test is that loads it. */
type Distances = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Finds them in what the compiler says of the imports. */
export const distancesOf = (inputs: Metafile['inputs'], tests: readonly string[]): Distances => {
  const distances = new Map<string, Map<string, number>>();
  for (const test of tests) {
    const seen = new Set([test]);
    let edge = [test];
    for (let distance = 0; edge.length > 0; distance += 1) {
      const next: string[] = [];
      for (const file of edge) {
        const ofFile = distances.get(file) ?? new Map<string, number>();
        distances.set(file, ofFile.set(test, distance));
        for (const { path, external } of inputs[file]?.imports ?? []) {
          if (external || seen.has(path) || path.includes('node_modules/')) continue;
          seen.add(path);
          next.push(path);
        }
      }
      edge = next;
    }
  }
  return distances;
};

/** How far a test is from a source: imports away, and less in the folder that mirrors the source's. */
export const rankIn = (distances: Distances, file: string, test: string): number => {
  if (test === join('test', file.replace(/\.ts$/, '.test.ts'))) return 0;
  const away = distances.get(file)?.get(test) ?? Number.POSITIVE_INFINITY;
  return away + (dirname(test) === join('test', dirname(file)) ? 0 : 2);
};
