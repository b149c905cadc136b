// @ts-check
// Makes the folder `package`, to be packed and published: `npm run package && npm pack ./package`. It has the bundle, the
// declarations of `junctor/transformer` and `junctor/testing`, the configuration's schema, the web interface, and a package.json without the packages
// that are in the bundle. The checkout's own package.json isn't changed for that: npm publishes the one that it reads after packing.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle, stop } from 'esbuild';
import { bundleOptions, compile } from './compile.js';
import { joinLicenses, licensesOf } from './licenses.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'dist');
const types = join(dist, 'types');
const staged = join(root, 'package');
const require = createRequire(import.meta.url);

/** @param {readonly string[]} args */
const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });

const build = async () => {
  rmSync(dist, { recursive: true, force: true });
  // The oldest release of Node.js that package.json allows.
  const files = await compile(root, dist, { target: 'node20.19', sourcemap: false });

  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  const apis = ['engine/transformer-api.ts', 'engine/trial/declared.ts'];
  const input = [...apis, '--rootDir', 'engine', '--ignoreConfig', '--allowImportingTsExtensions'];
  const language = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--skipLibCheck'];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--verbatimModuleSyntax'];
  node(tsc, ...input, ...language, ...strict, '--declaration', '--emitDeclarationOnly', '--outDir', types);

  // The rest of the package is the same encodings three times more, in other forms.
  const tiktoken = dirname(require.resolve('tiktoken'));
  const copied = ['tiktoken.cjs', 'tiktoken_bg.cjs', 'tiktoken_bg.wasm'].map((name) => join(tiktoken, name));
  for (const file of copied) cpSync(file, join(dist, file.slice(tiktoken.length)));
  const bundled = [
    ...files,
    ...(await bundleLibsql()),
    ...copied.map((file) => relative(root, file).replaceAll('\\', '/')),
  ];
  writeFileSync(join(dist, 'licenses.txt'), joinLicenses(licensesOf(root, bundled)));
  writeFileSync(join(dist, 'config.schema.json'), node(join(dist, 'main.mjs'), 'config', 'schema'));
  node(join(root, 'ui/build.js'));
};

/**
 * The part of libsql that is JavaScript: the packed gateway depends on its native builds alone. Returns the files in it.
 * @returns {Promise<string[]>}
 */
const bundleLibsql = async () => {
  const { metafile } = await bundle({
    ...{ entryPoints: [require.resolve('libsql')], outfile: join(dist, 'libsql.cjs'), absWorkingDir: root },
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20.19', minify: true, metafile: true },
    logLevel: 'error',
  });
  await stop();
  return Object.keys(metafile.inputs);
};

/**
 * Native builds of libsql, by its package.json. Without those for musl, which npm installs beside the others: the package doesn't say
 * for which C library they are.
 * @returns {Record<string, string>}
 */
const libsqlBuilds = () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(dirname(require.resolve('libsql')), 'package.json'), 'utf8'),
  );
  return Object.fromEntries(Object.entries(optionalDependencies).filter(([name]) => !name.includes('musl')));
};

/** Packages that the packed gateway is installed with: what isn't bundled, and what custom transformers are compiled against. */
const installed = new Set([...(bundleOptions(root, dist).external ?? []), 'rxjs', 'typebox']);
installed.delete('tiktoken');

const stage = () => {
  const { scripts, devDependencies, allowScripts, dependencies, optionalDependencies, ...manifest } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const { libsql, ...servers } = optionalDependencies;
  const packed = {
    ...manifest,
    imports: { '#libsql': './dist/libsql.cjs', '#tiktoken': './dist/tiktoken.cjs' },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => installed.has(name))),
    optionalDependencies: { ...servers, ...libsqlBuilds() },
  };
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged);
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`);
  // Of these, npm takes what `files` in package.json lists.
  for (const name of ['dist', 'engine/cli', 'engine/launch', 'ui/dist', 'tsconfig.json', ...texts]) {
    cpSync(join(root, name), join(staged, name), { recursive: true, filter: isBuilt });
  }
};

/** Without the sources, the launcher runs `dist`. @param {string} path */
const isBuilt = (path) => path.endsWith('.d.ts') || !path.endsWith('.ts');

const texts = ['README.md', 'LICENSE', 'CHANGELOG.md'];

if (process.env.npm_lifecycle_event === 'prepack') {
  process.stderr.write('Run `npm run package`, then pack or publish the folder that it makes: npm pack ./package\n');
  process.exitCode = 1;
} else {
  await build();
  stage();
}
