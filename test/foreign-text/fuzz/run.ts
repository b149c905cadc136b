import { parseArgs } from 'node:util';
import { runTarget } from './run-target.ts';
import { targets } from './targets.ts';
import { watchdog } from './watchdog.ts';

/** Without a case ending for so long, in milliseconds, a run is given up; slow ones are failures long before. */
const patienceMs = 10_000;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    target: { type: 'string', default: '' },
  },
});
const chosen = targets.filter(({ name }) => name.includes(values.target));
const seed = Number(values.seed);
const cases = Math.ceil(Number(values.cases) / chosen.length);
const again = (name: string): string => `npm run fuzz -- --seed ${seed} --cases ${cases} --target "${name}"`;

console.log(`${chosen.length} targets of ${cases} cases, seed ${seed}`);
let failures = 0;
const startedMs = Date.now();
for (const target of chosen) {
  const dog = watchdog(again(target.name), patienceMs);
  const targetFromMs = Date.now();
  const { failure, slowestMs } = runTarget(target, { seed, cases, each: dog.next });
  await dog.stop();
  const took = `${((Date.now() - targetFromMs) / 1000).toFixed(1)} s, slowest case ${slowestMs.toFixed(1)} ms`;
  console.log(`${failure === undefined ? 'held' : 'BROKEN'}  ${target.name}  (${took})`);
  if (failure === undefined) continue;
  failures += 1;
  console.log(`${failure.slice(0, 6_000)}\nagain: ${again(target.name)}`);
}
console.log(
  `${cases * chosen.length} cases, ${failures} targets broken, ${((Date.now() - startedMs) / 1000).toFixed(0)} s`,
);
process.exitCode = failures === 0 ? 0 : 1;
