// @ts-check
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';

/** What can be loaded from outside, by its file's name in the bundle. */
const entryPoints = {
  main: 'engine/cli/main.ts',
  'run-worker': 'engine/workers/run-worker.ts',
  'resolve-hook': 'engine/custom/resolve-hook.ts',
  'count-thread': 'engine/tokens/count-thread.ts',
  'transformer-api': 'engine/transformer-api.ts',
  rxjs: 'rxjs',
  'rxjs-operators': 'rxjs/operators',
  typebox: 'typebox',
};

/** Native code, WebAssembly, and what looks for files beside its own. */
const external = ['uWebSockets.js', 'uWebSockets.js-glibc227', 'tiktoken', 'open', 'tsx', 'esbuild'];

/** Packages import each other's CommonJS files by this. */
const banner = [
  "import { createRequire as createOwnRequire } from 'node:module';",
  'const require = createOwnRequire(import.meta.url);',
].join('\n');

/**
 * All of undici that the gateway uses. The package's own index loads everything that it has (fetch, web sockets, caches), which
 * takes longer than all of the gateway's own modules.
 */
const slimUndici = `
  export { default as Client } from 'undici/lib/dispatcher/client.js';
  export { default as errors } from 'undici/lib/core/errors.js';
`;

/** @type {import('esbuild').Plugin} */
const standIns = {
  name: 'stand-ins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'slim' }));
    onLoad({ filter: /^undici$/, namespace: 'slim' }, () => ({
      contents: slimUndici,
      resolveDir: import.meta.dirname,
    }));
    // The same modules in a form that can be cut down to what is used, and with the classes of today.
    onResolve({ filter: /^rxjs(?:\/operators)?$/ }, ({ path }) => ({ path: join(rxjs, path.slice(4), 'index.js') }));
  },
};

const rxjs = join(dirname(createRequire(import.meta.url).resolve('rxjs/package.json')), 'dist/esm');

/**
 * Compiles the gateway and its packages into `outdir`. Rejects with esbuild's own error.
 * @param {string} root
 * @param {string} outdir
 * @returns {Promise<string[]>} the files that went in, relative to `root`
 */
export const compile = async (root, outdir) => {
  const { metafile } = await build({
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
    // Functions keep their names: stacks show them.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    external,
    plugins: [standIns],
    banner: { js: banner },
    define: {
      'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'engine/places.ts')).href),
      SWITCHYARD_BUNDLE: JSON.stringify(`${pathToFileURL(outdir).href}/`),
    },
    metafile: true,
    logLevel: 'silent',
    // The compiler is a process of its own, and would stay for as long as the gateway runs.
  }).finally(stop);
  return Object.keys(metafile.inputs).filter((file) => !file.startsWith('slim:'));
};
