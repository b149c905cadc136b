import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stop } from 'esbuild';
import { Parse } from 'typebox/value';
import { compileTo, declaredBy, testFiles } from './compile.js';
import { type Order, Replies, type Reply } from './judge-changes.ts';
import { type Mutant, mutantsOf, withSwitches } from './mutants.ts';
import { distancesOf, rankIn } from './nearest.ts';

/*
 * Changes the sources one small place at a time, runs the tests that reach the place, and prints the changes that no test notices:
 * each is behaviour that nothing holds. One program carries all changes, each behind a switch, and one process judges many.
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
    /** Folders or files of the tests that judge. */
    tests: { type: 'string', multiple: true, default: ['test'] },
    jobs: { type: 'string', default: String(availableParallelism()) },
    /** The part of all changes that must be noticed, in percent. */
    least: { type: 'string', default: '85' },
  },
});

/** Tests that take long, look at the product from far outside, or run it in another process: others notice sooner. */
const farTests =
  /^test\/(?:ui|reliability|bench|packages|docs|runner|security|sdk|conversions\/losses\/silent|foreign-text|engine\/(?:service|launch|cli|reload|hub|fleet))/;
const inOtherProcesses = /node:child_process|support\/processes\/(?:browser|command|redis|workers)/;

/** Data: a test that repeated it would hold nothing. */
const facts = 'transformers/formats/facts/';

/** Their tests run once more over `node:http`, as in `.ci/run`, if the server on it is changed. */
const overNode = { sources: 'engine/http/node/', tests: 'test/engine/http/' };

/** Tests of a change are run up to this time, in milliseconds, as measured without it. */
const budgetMs = 15_000;

interface Change extends Mutant {
  /** From 1. */
  readonly number: number;
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
        .filter((file) => !file.startsWith(facts))
        .sort();

const allChanges = (): Omit<Change, 'number'>[] =>
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

const rankOf = (file: string, test: string): number => rankIn(distances, file, test);

const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const scratch = mkdtempSync(join(cache, 'junctor-mutants-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Compiles tests to a program that carries these changes; returns its main module. */
const compileChanged = async (changes: readonly Change[], tests: readonly string[]): Promise<string> => {
  const main = [
    `import { judgeChanges } from ${JSON.stringify(join(root, 'test/runner/judge-changes.ts'))};`,
    'const files = {',
    ...tests.map((test) => `${JSON.stringify(test)}: () => import(${JSON.stringify(join(root, test))}),`),
    '};',
    'judgeChanges((file) => files[file]());',
  ].join('\n');
  const carrying = new Map<string, Change[]>();
  for (const change of changes) {
    const file = join(root, change.file);
    carrying.set(file, [...(carrying.get(file) ?? []), change]);
  }
  const switches = `import { changed as isChanged } from ${JSON.stringify(join(root, 'test/runner/changed.ts'))};`;
  const folder = join(scratch, 'program');
  await compileTo(
    folder,
    ['program.ts'],
    [
      declaredBy(
        new Set(tests),
        (test) => `import { testOf } from './sequential-test.ts';\nexport default testOf(${JSON.stringify(test)});`,
      ),
      {
        name: 'changes',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^program\.ts$/ }, ({ path }) => ({ path, namespace: 'program' }));
          onLoad({ filter: /./, namespace: 'program' }, () => ({ contents: main, resolveDir: root }));
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const [first, ...others] = carrying.get(path) ?? [];
            if (first === undefined) return undefined;
            return { contents: switches + withSwitches(first.source, [first, ...others], 'isChanged'), loader: 'ts' };
          });
        },
      },
    ],
  );
  return join(folder, 'program.mjs');
};

/** A process that judges; `ask` gives `undefined` when it has ended or doesn't answer in time. */
const startJudge = (main: string, made = 0, http = '') => {
  const child: ChildProcess = fork(main, [], {
    cwd: root,
    env: { ...process.env, CHANGED: String(made), JUNCTOR_HTTP: http },
    execArgv: ['--max-old-space-size=1536'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return {
    end,
    ask: (order: Order, limitMs: number): Promise<Reply | undefined> =>
      new Promise((resolve) => {
        const settle = (reply?: Reply) => {
          clearTimeout(timer);
          child.removeAllListeners('message');
          child.off('exit', ended);
          if (!reply) end();
          resolve(reply);
        };
        const ended = () => settle();
        const timer = setTimeout(ended, limitMs);
        child.once('message', (message) => settle(Parse(Replies, message)));
        child.once('exit', ended);
        if (!child.connected) ended();
        else child.send(order);
      }),
  };
};
type Judge = ReturnType<typeof startJudge>;

interface SurveyedTest {
  readonly file: string;
  readonly title: string;
  /** The server that serves in it, as the environment names it. */
  readonly http: string;
  readonly ms: number;
}

/** What tests reach when nothing is changed. */
interface Survey {
  /** For each change, by its number. */
  readonly reaching: ReadonlyMap<number, readonly SurveyedTest[]>;
  /** Changes that act while the program loads. */
  readonly loading: ReadonlySet<number>;
  readonly failed: readonly string[];
}

/** Does something for each of a list, so many at a time. */
const inTurns = async <T>(list: readonly T[], act: (value: T, lane: number) => Promise<void>): Promise<void> => {
  const queue = [...list];
  await Promise.all(
    Array.from({ length: Number(values.jobs) }, async (_, lane) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await act(next, lane);
    }),
  );
};

const survey = async (main: string, tests: readonly string[]): Promise<Survey> => {
  const reaching = new Map<number, SurveyedTest[]>();
  const loading = new Set<number>();
  const failed: string[] = [];
  const changesNode = sample.some(({ file }) => file.startsWith(overNode.sources));
  const runs = tests.flatMap((file) =>
    (changesNode && file.startsWith(overNode.tests) ? ['', 'node'] : ['']).map((http) => ({ file, http })),
  );
  // Each file has a process of its own: only then what it loads is known.
  await inTurns(runs, async ({ file, http }) => {
    const judge = startJudge(main, 0, http);
    const reply = await judge.ask({ kind: 'survey', file }, 600_000);
    judge.end();
    if (reply?.kind !== 'surveyed' || reply.tests.length === 0) {
      failed.push(file);
      return;
    }
    const passing = reply.tests.filter(({ passed }) => passed);
    failed.push(...reply.tests.filter(({ passed }) => !passed).map(({ title }) => `${file} › ${title}`));
    for (const number of reply.loaded) loading.add(number);
    for (const { title, ms, reached } of passing) {
      for (const number of new Set([...reached, ...reply.loaded])) {
        reaching.set(number, [...(reaching.get(number) ?? []), { file, title, http, ms }]);
      }
    }
  });
  return { reaching, loading, failed };
};

type Outcome = 'noticed' | 'endless' | 'survived' | 'not reached';

/** The tests to run for a change: the nearest and shortest first, as many as the time allows. */
const chosenOf = ({ file }: Change, tests: readonly SurveyedTest[]): readonly SurveyedTest[] => {
  const ranked = tests
    .map((test) => ({ test, rank: rankOf(file, test.file) }))
    .sort((one, other) => one.rank - other.rank || one.test.ms - other.test.ms);
  let ms = 0;
  return ranked.flatMap(({ test }, index) => {
    // One that takes long leaves the rest of the time to others.
    if (index > 0 && ms + test.ms > budgetMs) return [];
    ms += test.ms;
    return [test];
  });
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
const all = allChanges();
const sample = sampleOf(all, Number(values.count), randomOf(seed)).map((change, index) => ({
  ...change,
  number: index + 1,
}));
const candidates = testFiles().filter(
  (test) =>
    values.tests.some((place) => test.startsWith(place)) &&
    !farTests.test(test) &&
    !inOtherProcesses.test(readFileSync(join(root, test), 'utf8')),
);
const distances = distancesOf(await compileTo(join(scratch, 'whole'), candidates), candidates);
const tests = candidates.filter((test) => sample.some(({ file }) => distances.get(file)?.has(test)));
const main = await compileChanged(sample, tests).finally(stop);
const startedAtMs = Date.now();
const secondsGone = () => Math.round((Date.now() - startedAtMs) / 1000);
const { reaching, loading, failed } = await survey(main, tests);
if (failed.length > 0) console.log(`They fail without any change, so they judge nothing:\n${failed.join('\n')}\n`);
console.log(
  `${sample.length} of ${all.length} changes, seed ${seed}; ${tests.length} files of tests; ${secondsGone()} s`,
);

const outcomes = new Map<Change, Outcome>();
const judges: (Judge | undefined)[] = [];

/**
 * Judges a change in the lane's process. A new one decides where the change acts while the program loads, and where an earlier
 * judgement may have left something.
 */
const judge = async (change: Change, lane: number): Promise<Outcome> => {
  const { number } = change;
  const chosen = chosenOf(change, reaching.get(number) ?? []);
  if (chosen.length === 0) return 'not reached';
  const tests = chosen.map(({ file, title, http, ms }) => ({ file, title, http, limitMs: 10_000 + 20 * ms }));
  const limitMs = chosen.reduce((sum, { ms }) => sum + 20 * ms, 30_000);
  const askOf = (asked: Judge) => asked.ask({ kind: 'judge', number, tests }, limitMs);
  if (!loading.has(number)) {
    const used = judges[lane] ?? startJudge(main);
    const reply = await askOf(used);
    const isSure = reply?.kind === 'judged' && reply.reached && reply.intact;
    if (!isSure) used.end();
    judges[lane] = isSure ? used : undefined;
    if (reply?.kind !== 'judged') return 'endless';
    if (isSure) return reply.by === undefined ? 'survived' : 'noticed';
  }
  const fresh = startJudge(main, number);
  const reply = await askOf(fresh);
  fresh.end();
  if (reply?.kind !== 'judged') return 'endless';
  return reply.by === undefined ? 'survived' : 'noticed';
};

await inTurns(sample, async (change, lane) => {
  const outcome = await judge(change, lane);
  outcomes.set(change, outcome);
  if (outcome === 'survived' || outcome === 'not reached') console.log(`\n${outcome}: ${diffOf(change)}`);
  if (outcomes.size % 50 === 0) console.log(`\n${outcomes.size} of ${sample.length}; ${secondsGone()} s`);
});
for (const judge of judges) judge?.end();

const countOf = (place: string, ...kinds: readonly Outcome[]): number =>
  [...outcomes].filter(([{ file }, outcome]) => file.startsWith(place) && kinds.includes(outcome)).length;
console.log(
  '\n| Sources | Changes | Noticed | of them without end | Survived | Not reached | Noticed, % |\n|---|---|---|---|---|---|---|',
);
let percent = 100;
for (const place of [...values.only, '']) {
  const noticed = countOf(place, 'noticed', 'endless');
  const [endless, survived, missed] = [
    countOf(place, 'endless'),
    countOf(place, 'survived'),
    countOf(place, 'not reached'),
  ];
  const count = noticed + survived + missed;
  percent = (noticed / Math.max(1, count)) * 100;
  console.log(
    `| ${place || 'all'} | ${count} | ${noticed} | ${endless} | ${survived} | ${missed} | ${percent.toFixed(1)} |`,
  );
}
console.log(`\n${secondsGone()} s`);
process.exitCode = percent >= Number(values.least) ? 0 : 1;
