// @ts-check
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { bundleUrl } from '../../engine/launch/bundle.js';
import { bundleOptions } from '../../engine/launch/compile.js';
import { freshBuild, recordBuild } from '../../engine/launch/stale-build.js';
import { groupTests, isGroup, titleIn, writeGroups } from './groups.js';
import { tierOf, tiers } from './tiers.js';

/*
 * The tests as JavaScript. A test file's process loads a few compiled modules instead of a thousand through a loader, which takes
 * most of the processor time of short tests.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'junctor-tests');

/** What decides how the tests are compiled. */
const own = ['engine/launch/compile.js', 'test/runner/compile.js', 'test/runner/groups.js', 'test/runner/tiers.js'];

/** Programs that tests start as processes of their own. Through a loader, each start takes many times the processor time. */
const programs = ['test/engine/hub/store-process.ts', 'test/engine/upstream/tls-client.ts'];

/** Compiled folders are removed at this age, in milliseconds: no run takes so long. */
const maxAgeMs = 3_600_000;

/** All test files, relative to the root. */
export const testFiles = () =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.test.ts') && !isGroup(file) && !file.includes('node_modules'))
    .sort();

/**
 * Compiles the tests of a run. All are compiled, once for as long as no source changes; a run of a few named files compiles only
 * these. A run that names none has groups.
 * @param {readonly string[]} args the runner's arguments
 * @param {import('./tiers.js').Tier} tier of a run that names none
 * @returns {Promise<{ readonly folder: string, readonly files: readonly string[] }>} where they are, and the files to run
 */
export const compileTests = async (args, tier) => {
  const whole = args.every((arg) => /^(?:-|\d+$|\w+\.config\.js$)/.test(arg));
  const groups = whole ? groupsOf(tier) : new Map(testFiles().map((file) => [file, [file]]));
  if (whole) {
    // Those of both: the other tier may run beside this one.
    writeGroups(root, new Map(tiers.flatMap((one) => [...groupsOf(one)])));
    // While one of the gateway's processes makes the bundle, those that others start load the sources, which takes far longer.
    await bundleUrl();
  }
  const files = [...groups.keys()];
  const record = join(cache, whole ? `${tier}.json` : 'files.json');
  const key = JSON.stringify([...groups]);
  const compiled = freshBuild(record, root, key);
  if (compiled && existsSync(compiled)) return { folder: compiled, files };
  removeOld();
  const named = whole ? undefined : namedFiles(args);
  const folder = join(cache, `${Date.now()}-${process.pid}`);
  const startedAtMs = Date.now();
  // The compiler is a process of its own, which would stay for as long as the runner.
  const inputs = await compileTo(folder, named ?? files, [namedTests(groups)]).finally(stop);
  if (!named) {
    const sources = [...own, ...Object.keys(inputs).filter((file) => !/^(?:slim|declared-by):/.test(file))];
    recordBuild(record, root, { key, folder, files: sources, startedAtMs });
  }
  return { folder, files };
};

/** @param {import('./tiers.js').Tier} tier */
const groupsOf = (tier) => {
  const known = new Map();
  const tests = testFiles().filter((test) => tierOf(root, test, known) === tier);
  return groupTests(root, tests, tier);
};

/**
 * Test files in groups get a `test` that puts their own title before each test's.
 * @param {ReadonlyMap<string, readonly string[]>} groups
 * @returns {import('esbuild').Plugin}
 */
const namedTests = (groups) =>
  declaredBy(new Set([...groups].flatMap(([file, tests]) => (isGroup(file) ? tests : []))), (test) => {
    const title = JSON.stringify(titleIn(test));
    return `import { groupedTest } from './grouped-test.js';\nexport default groupedTest(${title});`;
  });

/**
 * Has test files import another module in place of the runner's.
 * @param {ReadonlySet<string>} tests
 * @param {(test: string) => string} moduleOf its text; it imports from beside this file
 * @returns {import('esbuild').Plugin}
 */
export const declaredBy = (tests, moduleOf) => ({
  name: 'declared-by',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ava$/ }, ({ importer }) => {
      const path = relative(root, importer);
      return tests.has(path) ? { path, namespace: 'declared-by' } : undefined;
    });
    onLoad({ filter: /./, namespace: 'declared-by' }, ({ path }) => ({
      contents: moduleOf(path),
      resolveDir: import.meta.dirname,
    }));
  },
});

/**
 * The test files that the arguments name; `undefined` if they name anything else, or nothing.
 * @param {readonly string[]} args
 */
const namedFiles = (args) => {
  const named = args
    .filter((arg) => !arg.startsWith('-'))
    .map((arg) => relative(root, resolve(arg.replace(/:[\d,-]+$/, ''))));
  const all = named.every((file) => file.endsWith('.test.ts') && existsSync(join(root, file)));
  return all && named.length > 0 ? named : undefined;
};

const removeOld = () => {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > maxAgeMs) {
      rmSync(path, { recursive: true, force: true });
    }
  }
};

/**
 * Compiles these tests, and returns the files that went in, relative to the root, with their imports.
 * @param {string} folder
 * @param {readonly string[]} tests
 * @param {readonly import('esbuild').Plugin[]} [first] plugins that come before the usual ones
 */
export const compileTo = async (folder, tests, first = []) => {
  const options = bundleOptions(root, folder);
  const { metafile } = await build({
    ...options,
    entryPoints: {
      ...options.entryPoints,
      ...Object.fromEntries([...programs, ...tests].map((file) => [file.slice(0, -3), file])),
    },
    chunkNames: 'chunks/[hash]',
    // A test's own import of the API is the gateway's.
    external: [...(options.external ?? []).filter((name) => !name.startsWith('junctor/')), ...external],
    plugins: [...first, ownPlaces, wholeUndici, ...options.plugins],
    metafile: true,
  });
  return metafile.inputs;
};

/** The runner itself, and packages that look for files beside their own. */
const external = ['ava', 'axe-core', 'playwright-core'];

/**
 * Files of the tests keep their own addresses: they look for others beside them.
 * @type {import('esbuild').Plugin}
 */
const ownPlaces = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\/test\/.*\.[jt]s$/ }, ({ path }) => {
      if (!path.startsWith(join(root, 'test/'))) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path));
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/**
 * Tests use more of undici than the gateway does.
 * @type {import('esbuild').Plugin}
 */
const wholeUndici = {
  name: 'whole-undici',
  setup({ onResolve }) {
    const path = createRequire(import.meta.url).resolve('undici');
    onResolve({ filter: /^undici$/ }, ({ importer }) =>
      importer.startsWith(join(root, 'test/')) ? { path } : undefined,
    );
  },
};
