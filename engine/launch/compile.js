// @ts-check
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';

/** Modules that are loaded by URL, by their file name in the bundle. */
const entryPoints = {
  main: 'engine/cli/program.ts',
  'run-worker': 'engine/service/worker-main.ts',
  'resolve-hook': 'engine/config/custom/resolve-hook.ts',
  'count-thread': 'engine/routing/tokens/counting-thread-main.ts',
  'store-thread': 'engine/store/store-thread-main.ts',
  'try-thread': 'engine/trial/try-thread-main.ts',
  'stage-judge': 'transformers/judge/index.ts',
  'stage-see': 'transformers/see/index.ts',
  'stage-search': 'transformers/search/index.ts',
  'transformer-api': 'engine/transformer-api.ts',
  'testing-api': 'engine/testing-api.ts',
  'bench-load': 'engine/bench/load/serve.ts',
  'bench-upstream': 'engine/bench/upstream/serve.ts',
  'bench-floor': 'engine/bench/floors/forward.ts',
  'bench-ablated': 'engine/bench/targets/run-ablated.ts',
  'bench-own': 'engine/bench/own/serve.ts',
  'bench-allocations': 'engine/bench/measure/allocation-probe.js',
  'bench-loop-blocks': 'engine/bench/measure/loop-probe.js',
  rxjs: 'rxjs',
  'rxjs-operators': 'rxjs/operators',
  typebox: 'typebox',
};

/** Not bundled: native code, WebAssembly, packages that read files next to their own, and what modules get when they are loaded. */
const external = ['junctor/transformer', 'uWebSockets.js', 'uWebSockets.js-glibc227', 'tiktoken', 'tsx', 'esbuild'];

/** CommonJS packages in the bundle call `require`. */
const banner = [
  "import { createRequire as createOwnRequire } from 'node:module';",
  'const require = createOwnRequire(import.meta.url);',
].join('\n');

/**
 * The parts of undici that the gateway uses. The package's index also loads fetch, web sockets and caches, which takes longer
 * than all of the gateway's own modules.
 */
const slimUndici = `
  export { default as Client } from 'undici/lib/dispatcher/client.js';
  export { default as errors } from 'undici/lib/core/errors.js';
  export { default as util } from 'undici/lib/core/util.js';
`;

/** @type {import('esbuild').Plugin} */
const replacements = {
  name: 'replacements',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'slim' }));
    onLoad({ filter: /^undici$/, namespace: 'slim' }, () => ({
      contents: slimUndici,
      resolveDir: import.meta.dirname,
    }));
    // RxJS's ESM build: it can be tree-shaken, and it has native classes.
    onResolve({ filter: /^rxjs(?:\/\w+)?$/ }, ({ path }) => ({ path: join(rxjs, path.slice(4), 'index.js') }));
  },
};

const rxjs = join(dirname(createRequire(import.meta.url).resolve('rxjs/package.json')), 'dist/esm');

/**
 * esbuild options to compile the gateway and its packages to ES modules in `outdir`.
 * @param {string} root
 * @param {string} outdir
 * @returns {import('esbuild').BuildOptions & { readonly entryPoints: Readonly<Record<string, string>>, readonly plugins: import('esbuild').Plugin[] }}
 */
export const bundleOptions = (root, outdir) => ({
  absWorkingDir: root,
  entryPoints,
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: `node${process.versions.node}`,
  mainFields: ['module', 'main'],
  outExtension: { '.js': '.mjs' },
  sourcemap: 'linked',
  sourcesContent: false,
  external,
  plugins: [replacements],
  banner: { js: banner },
  define: {
    'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'engine/paths.ts')).href),
    JUNCTOR_BUNDLE: JSON.stringify(`${pathToFileURL(outdir).href}/`),
  },
  logLevel: 'silent',
});

/**
 * Makes a bundle that runs wherever `root` and `outdir` are moved together: each file derives its paths from its own location.
 * @param {string} root
 * @param {string} outdir
 * @returns {Pick<import('esbuild').BuildOptions, 'banner' | 'define'>}
 */
const movable = (root, outdir) => ({
  banner: {
    js: [
      banner,
      "const junctorBundle = new URL('./', import.meta.url).href;",
      `const junctorPaths = new URL('${relative(outdir, join(root, 'engine/paths.ts')).replaceAll('\\', '/')}', junctorBundle).href;`,
    ].join('\n'),
  },
  define: { 'import.meta.url': 'junctorPaths', JUNCTOR_BUNDLE: 'junctorBundle' },
});

/**
 * Compiles the gateway and its packages into `outdir`. Rejects with esbuild's error.
 * @param {string} root
 * @param {string} outdir
 * @param {import('esbuild').BuildOptions} [more] options to override
 * @returns {Promise<string[]>} the compiled source files, relative to `root`
 */
export const compile = async (root, outdir, more) => {
  const { metafile } = await build({
    ...bundleOptions(root, outdir),
    ...movable(root, outdir),
    // Identifiers aren't minified, so that stack traces keep function names.
    minifySyntax: true,
    minifyWhitespace: true,
    // To word a failed assertion of a package, Node.js parses the source from the start of its line.
    lineLimit: 160,
    legalComments: 'none',
    ...more,
    metafile: true,
    // esbuild's service process would otherwise run for as long as the gateway.
  }).finally(stop);
  return Object.keys(metafile.inputs).filter((file) => !file.startsWith('slim:'));
};
