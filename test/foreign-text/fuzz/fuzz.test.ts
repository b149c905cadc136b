import { readFileSync } from 'node:fs';
import test from 'ava';
import { runTarget } from './run-target.ts';
import { targets } from './targets.ts';

const seed = Number(process.env.FUZZ_SEED) || Date.now() % 1_000_000_000;

/** A share of what `npm run fuzz` tries. */
const cases = 30;

for (const target of targets) {
  test(`R18 ${target.name}`, (t) => {
    t.log(`seed ${seed}`);
    t.is(runTarget(target, { seed, cases }).failure, undefined);
  });
}

test('R18 the page on guarantees says how many laws there are', (t) => {
  const page = readFileSync(new URL('../../../docs/contributing/guarantees.md', import.meta.url), 'utf8');
  const counts = [...page.matchAll(/(\d+) laws/g)].map(([, count]) => Number(count));
  t.true(counts.length > 0);
  t.deepEqual([...new Set(counts)], [targets.length]);
});
