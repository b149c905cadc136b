import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Metafile, stop } from 'esbuild';
import { compileTests, compileTo, testFiles, together } from './compile.js';
import { canShare, groupTests } from './groups.js';
import { type Mutant, mutantsOf } from './mutants.ts';
import { readReport } from './report.ts';

/*
 * Changes the sources one small place at a time, runs the tests that belong to the changed file, and prints the changes that no
 * test notices: each is behaviour that nothing holds.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    /** Folders or files whose sources are changed. */
    only: {
      type: 'string',
      multiple: true,
      default: [
        'protocols',
        'transformers',
        'engine/routing',
        'engine/operators/retry',
        'engine/upstream/health',
        'engine/http',
      ],
    },
    jobs: { type: 'string', default: String(availableParallelism()) },
    /** The part of all changes that must be noticed, in percent. */
    least: { type: 'string', default: '85' },
    /** Shows what the nearest tests don't notice to all others that load the file too, which takes minutes for each change. */
    far: { type: 'boolean', default: false },
  },
});

/** Tests that take long and look at the product from far outside: others notice sooner. */
const farTests =
  /^test\/(?:ui|reliability|bench|container|security|sdk|losses\/silent|fuzz|engine\/(?:service|launch|cli|reload))/;

/** A changed place may make tests run for ever: after so long, in milliseconds, the change counts as noticed. */
const nearLimitMs = 120_000;
const farLimitMs = 400_000;

interface Change extends Mutant {
  readonly file: string;
  readonly source: string;
}

/** A small generator of numbers from 0 to 1, the same for each seed (mulberry32). */
const randomOf = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
};

const sourcesIn = (place: string): readonly string[] =>
  place.endsWith('.ts')
    ? [place]
    : readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(place, file))
        .sort();

const allChanges = (): Change[] =>
  values.only.flatMap(sourcesIn).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return mutantsOf(source).map((mutant) => ({ ...mutant, file, source }));
  });

/** So many of them, by chance. */
const sampleOf = <T>(list: readonly T[], count: number, random: () => number): readonly T[] => {
  const rest = [...list];
  for (let at = 0; at < Math.min(count, rest.length); at += 1) {
    const other = at + Math.floor(random() * (rest.length - at));
    const [a, b] = [rest[at], rest[other]];
    if (a === undefined || b === undefined) continue;
    rest[at] = b;
    rest[other] = a;
  }
  return rest.slice(0, count);
};

/** For each source, how many imports away each test is that loads it. */
const distancesOf = (
  inputs: Metafile['inputs'],
  tests: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, number>> => {
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

/** The tests that belong to a file, the nearest first; those that are looked at only if these notice nothing. */
const testsOf = (
  file: string,
  distances: ReadonlyMap<string, number>,
): readonly [near: readonly string[], far: readonly string[]] => {
  const place = join('test', dirname(file));
  const mirror = join('test', file.replace(/\.ts$/, '.test.ts'));
  const rank = (test: string): number => {
    if (test === mirror) return 0;
    const away = distances.get(test) ?? Number.POSITIVE_INFINITY;
    return away + (dirname(test) === place ? 0 : 2);
  };
  const sorted = [...distances.keys()].filter((test) => !farTests.test(test)).sort((a, b) => rank(a) - rank(b));
  const near = sorted.filter((test, index) => index < 6 || (dirname(test) === place && index < 16));
  return [near, sorted.filter((test) => !near.includes(test))];
};

const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const scratch = mkdtempSync(join(cache, 'switchyard-mutants-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

interface TestRun {
  readonly outcome: 'passed' | 'failed' | 'endless';
  readonly output: string;
}

/** Compiled tests, and those files of them to run, each of which may run others in its process. */
interface Compiled {
  readonly folder: string;
  readonly files: readonly string[];
}

/** Runs compiled tests. */
const runTests = (
  { folder, files }: Compiled,
  { limitMs, failFast = true }: { readonly limitMs: number; readonly failFast?: boolean },
): Promise<TestRun> =>
  new Promise((resolve) => {
    const ava = join(root, 'node_modules/ava/entrypoints/cli.mjs');
    const child = spawn(
      process.execPath,
      [ava, ...(failFast ? ['--fail-fast', '--concurrency=1'] : []), '--timeout=2m', ...files],
      {
        cwd: root,
        detached: true,
        env: { ...process.env, COMPILED_TESTS: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    const end = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has ended.
      }
    };
    let endless = false;
    const timer = setTimeout(() => {
      endless = true;
      end();
    }, limitMs);
    process.once('exit', end);
    child.once('exit', (code) => {
      clearTimeout(timer);
      process.off('exit', end);
      end();
      resolve({ outcome: endless ? 'endless' : code === 0 ? 'passed' : 'failed', output });
    });
  });

/** Compiles these tests with one place changed; `undefined` when that leaves no program. */
const compileChanged = async (
  { file, source, start, end, replacement }: Change,
  tests: readonly string[],
  name: string,
): Promise<Compiled | undefined> => {
  const folder = join(scratch, name);
  const [first, ...others] = tests.filter((test) => canShare(root, test));
  const files = tests.filter((test) => !others.includes(test));
  const contents = source.slice(0, start) + replacement + source.slice(end);
  try {
    await compileTo(folder, files, [
      ...(first !== undefined && others.length > 0 ? together([first, ...others]) : []),
      {
        name: 'changed',
        setup({ onLoad }) {
          onLoad({ filter: /\.ts$/ }, ({ path }) =>
            path === join(root, file) ? { contents, loader: 'ts' } : undefined,
          );
        },
      },
    ]);
    return { folder, files };
  } catch {
    return undefined;
  }
};

type Outcome = 'noticed' | 'endless' | 'survived' | 'no program';

const judge = async (
  change: Change,
  [near, far]: readonly [readonly string[], readonly string[]],
  number: number,
): Promise<Outcome> => {
  for (const [all, name, limitMs] of [
    [near, 'near', nearLimitMs],
    [values.far ? far : [], 'far', farLimitMs],
  ] as const) {
    const tests = all.filter((test) => !unfit.includes(test));
    if (tests.length === 0) continue;
    const compiled = await compileChanged(change, tests, `${number}-${name}`);
    if (compiled === undefined) return 'no program';
    const { outcome, output } = await runTests(compiled, { limitMs });
    rmSync(compiled.folder, { recursive: true, force: true });
    if (outcome === 'endless') return 'endless';
    if (outcome === 'passed') continue;
    // What only a test from afar notices may also be that test's own weakness: the reader is to judge.
    if (name === 'far')
      console.log(`\nnoticed from afar: ${diffOf(change)}\n  by ${readReport(output).failures.join('; ')}`);
    return 'noticed';
  }
  return 'survived';
};

/** The lines that a change touches, before and after. */
const diffOf = ({ file, source, start, end, replacement, what }: Change): string => {
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const found = source.indexOf('\n', end);
  const to = found < 0 ? source.length : found;
  const marked = (sign: string, text: string) => text.split('\n').map((line) => `  ${sign} ${line}`);
  const line = source.slice(0, start).split('\n').length;
  return [
    `${file}:${line}  ${what}`,
    ...marked('-', source.slice(from, to)),
    ...marked('+', source.slice(from, start) + replacement + source.slice(end, to)),
  ].join('\n');
};

const seed = Number(values.seed);
const changes = allChanges();
const sample = sampleOf(changes, Number(values.count), randomOf(seed));
const tests = testFiles();
const whole = join(scratch, 'whole');
const distances = distancesOf(await compileTo(whole, tests), tests);
rmSync(whole, { recursive: true, force: true });
const testsOfChange = ({ file }: Change) => testsOf(file, distances.get(file) ?? new Map<string, number>());
const judging = new Set(
  sample.flatMap((change) => {
    const [near, far] = testsOfChange(change);
    return values.far ? [...near, ...far] : near;
  }),
);
// The unchanged sources first, in the groups of a whole run.
const { folder } = await compileTests([]);
const groups = [...groupTests(root, tests)].filter(([, members]) => members.some((test) => judging.has(test)));
const unchanged = await runTests(
  { folder, files: groups.map(([file]) => file) },
  { limitMs: 1_800_000, failFast: false },
);
const unfit: readonly string[] =
  unchanged.outcome === 'passed' ? [] : (unchanged.output.match(/\btest\/[\w./-]+\.test\.ts/g) ?? []);
if (unchanged.outcome !== 'passed') {
  const { failures } = readReport(unchanged.output);
  console.log(`Tests that fail without any change; their files judge nothing:\n${failures.join('\n')}`);
  if (unfit.length === 0) process.exit(1);
}
console.log(`${sample.length} of ${changes.length} changes, seed ${seed}`);

const outcomes = new Map<Change, Outcome>();
const startedAtMs = Date.now();
const queue = [...sample.entries()];
const work = async (): Promise<void> => {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [number, change] = next;
    const outcome = await judge(change, testsOfChange(change), number);
    outcomes.set(change, outcome);
    if (outcome === 'survived') console.log(`\nsurvived: ${diffOf(change)}`);
    if (outcomes.size % 25 === 0) console.log(`\n${outcomes.size} of ${sample.length}`);
  }
};
await Promise.all(Array.from({ length: Number(values.jobs) }, work)).finally(stop);

const countOf = (place: string, ...kinds: readonly Outcome[]): number =>
  [...outcomes].filter(([{ file }, outcome]) => file.startsWith(place) && kinds.includes(outcome)).length;
console.log('\n| Sources | Changes | Noticed | without end | Survived | Noticed, % |\n|---|---|---|---|---|---|');
let least = 100;
for (const place of [...values.only, '']) {
  const noticed = countOf(place, 'noticed', 'endless');
  const survived = countOf(place, 'survived');
  const percent = (noticed / Math.max(1, noticed + survived)) * 100;
  if (place === '') least = percent;
  console.log(
    `| ${place || 'all'} | ${noticed + survived} | ${noticed} | ${countOf(place, 'endless')} | ${survived} | ${percent.toFixed(1)} |`,
  );
}
console.log(
  `\n${countOf('', 'no program')} changes were no program; ${Math.round((Date.now() - startedAtMs) / 1000)} s`,
);
process.exitCode = least >= Number(values.least) && unfit.length === 0 ? 0 : 1;
