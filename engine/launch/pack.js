// @ts-check
// Builds the contents of the package before packing: `dist` with the bundle, the declarations of
// `junctor/transformer` and the configuration's schema; and the web interface.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from './compile.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'dist');
const types = join(dist, 'types');

/** @param {readonly string[]} args */
const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });

rmSync(dist, { recursive: true, force: true });
// The oldest release of Node.js that package.json allows.
await compile(root, dist, { target: 'node20.19', sourcemap: false });

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const input = ['engine/transformer-api.ts', '--rootDir', 'engine', '--ignoreConfig', '--allowImportingTsExtensions'];
const language = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--skipLibCheck'];
const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--verbatimModuleSyntax'];
node(tsc, ...input, ...language, ...strict, '--declaration', '--emitDeclarationOnly', '--outDir', types);

writeFileSync(join(dist, 'config.schema.json'), node(join(dist, 'main.mjs'), 'config', 'schema'));
node(join(root, 'ui/build.js'));
