#!/usr/bin/env node
// Builds the web interface into ui/dist, unless it is up to date. With `--optional`, a build that is impossible here (missing
// development packages, a read-only folder) isn't a failure. With `--gently`, it runs at low priority and leaves a running
// build alone. With `--watch`, it builds again after each change.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { joinLicenses, licensesOf } from '../engine/launch/licenses.js';
import { freshBuild, lockBuild, recordBuild } from '../engine/launch/stale-build.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const ui = join(root, 'ui');
const dist = join(ui, 'dist');
const optional = process.argv.includes('--optional');
const gently = process.argv.includes('--gently');

/** The sources, and what decides the packages' versions. */
const listSources = () => [
  ...readdirSync(join(ui, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort(),
  ...['ui/index.html', 'ui/build.js', 'package-lock.json'],
];

const main = 'ui/src/main.tsx';
const icon = 'ui/src/style/mark.svg';
const font = 'ui/src/style/geist.woff2';

/** esbuild's options for files in `outdir`. */
const optionsFor = (outdir) => ({
  absWorkingDir: root,
  outdir,
  entryNames: 'assets/[name]-[hash]',
  chunkNames: 'assets/[name]-[hash]',
  assetNames: 'assets/[name]-[hash]',
  bundle: true,
  minify: true,
  legalComments: 'none',
  format: 'esm',
  jsx: 'automatic',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  // Regardless of the environment: packages have checks for development.
  define: { 'process.env.NODE_ENV': '"production"' },
  // The sources and their packages are written for React. Preact does the same in a tenth of its size.
  alias: {
    react: 'preact/compat',
    'react-dom': 'preact/compat',
    'react-dom/client': 'preact/compat/client',
    'react/jsx-runtime': 'preact/jsx-runtime',
  },
  // The pages' policy admits files of the service alone: no `data:` address may stand in for one.
  loader: { '.svg': 'copy', '.woff2': 'file' },
  metafile: true,
  logLevel: 'silent',
});

/** Bundles the interface into `outdir`: a script per page and what they share, one style sheet, and the page. */
const bundle = async (outdir) => {
  const { build: run } = await import('esbuild');
  const options = optionsFor(outdir);
  const scripts = await run({ ...options, entryPoints: { index: main, mark: icon }, splitting: true });
  // Nothing would load the style sheets of scripts that are loaded later. Without splitting there is one with all styles.
  const styles = await run({ ...options, entryPoints: { index: main }, write: false });
  const sheet = styles.outputFiles.find(({ path }) => path.endsWith('.css'));
  const { outputs } = scripts.metafile;
  for (const path of Object.keys(outputs)) if (path.endsWith('.css')) rmSync(join(root, path));
  writeFileSync(join(outdir, 'assets', basename(sheet.path)), sheet.contents);
  const [script, { imports }] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === main);
  // The sheet names it only after it has come.
  const [type] = Object.entries(styles.metafile.outputs).find(
    ([path, { inputs }]) => font in inputs && path.endsWith('.woff2'),
  );
  const [mark] = Object.entries(outputs).find(([, { inputs }]) => icon in inputs);
  const shared = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
  // Relative to the page `ui`: a proxy may serve it below a path of its own.
  const url = (path) => `ui/assets/${basename(path)}`;
  const links = [
    `<link rel="stylesheet" href="${url(sheet.path)}" />`,
    `<link rel="preload" href="${url(type)}" as="font" type="font/woff2" crossorigin />`,
    ...shared.map((path) => `<link rel="modulepreload" href="${url(path)}" />`),
    `<script type="module" src="${url(script)}"></script>`,
  ];
  const page = readFileSync(join(ui, 'index.html'), 'utf8')
    .replace('/src/style/mark.svg', url(mark))
    .replace('<script type="module" src="/src/main.tsx"></script>', links.join('\n    '));
  writeFileSync(join(outdir, 'index.html'), page);
  const geist = `Geist (OFL-1.1)\n\n${readFileSync(join(ui, 'src/style/geist-license.txt'), 'utf8').trim()}\n`;
  const licenses = [...licensesOf(root, Object.keys(scripts.metafile.inputs)), geist];
  writeFileSync(join(outdir, 'licenses.txt'), joinLicenses(licenses));
};

const build = async () => {
  const startedAtMs = Date.now();
  const files = listSources();
  const drafts = join(ui, `.dist-${process.pid}`);
  const outgoing = `${drafts}-before`;
  for (const name of readdirSync(ui)) {
    // Left by killed builds.
    if (name.startsWith('.dist-')) rmSync(join(ui, name), { recursive: true, force: true });
  }
  try {
    await bundle(drafts);
    recordBuild(join(drafts, '.sources'), root, { key: 'ui', folder: 'dist', files, startedAtMs });
    // Replaced as a whole: a half-finished build is never served.
    if (existsSync(dist)) renameSync(dist, outgoing);
    renameSync(drafts, dist);
  } finally {
    rmSync(drafts, { recursive: true, force: true });
    rmSync(outgoing, { recursive: true, force: true });
  }
};

const run = async () => {
  // A container image has only the built files.
  if (!existsSync(join(ui, 'src'))) return;
  for (;;) {
    if (freshBuild(join(dist, '.sources'), root, 'ui') !== undefined) return;
    const unlock = lockBuild(join(ui, '.building'));
    if (unlock) {
      if (gently) setPriority(10);
      return build().finally(unlock);
    }
    if (gently) return;
    // Another process is building, maybe from older sources: wait and compare again.
    await wait(200);
  }
};

const causeOf = ({ code, message, errors: [{ text = '' } = {}] = [] }) => {
  if (code === 'ERR_MODULE_NOT_FOUND' || /^Could not resolve "\w/.test(text)) {
    return 'the development packages are not installed';
  }
  const [line] = message.split('\n');
  return /is needed by esbuild/.test(line) ? `${line} Run \`npm install\` again on this machine.` : message;
};

const report = (error) => {
  process.stderr.write(`Could not build the web interface: ${causeOf(error)}\n`);
  process.exitCode = optional ? 0 : 1;
};

await run().catch(report);
if (process.argv.includes('--watch')) {
  const tell = () => process.stdout.write('The web interface is built; waiting for changes.\n');
  let running = Promise.resolve();
  const changed = () => {
    running = running.then(run).then(tell, report);
  };
  watch(join(ui, 'src'), { recursive: true }, changed);
  watch(ui, (_event, name) => name === 'index.html' && changed());
  tell();
}
