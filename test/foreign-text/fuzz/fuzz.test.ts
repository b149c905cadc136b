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
