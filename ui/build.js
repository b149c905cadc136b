#!/usr/bin/env node
// Builds the web interface into ui/dist, unless it is up to date. With `--optional`, a build that is impossible here (missing
// development packages, a read-only folder) isn't a failure. With `--gently`, it runs at low priority and leaves a running
// build alone.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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
  ...['ui/index.html', 'ui/vite.config.js', 'ui/build.js', 'package-lock.json'],
];

const build = async (files) => {
  const startedAtMs = Date.now();
  // Regardless of the environment: React's development build is twice as large and slow.
  process.env.NODE_ENV = 'production';
  const { build: bundle } = await import('vite');
  const { default: config } = await import('./vite.config.js');
  const drafts = join(ui, `.dist-${process.pid}`);
  const outgoing = `${drafts}-before`;
  for (const name of readdirSync(ui)) {
    // Left by killed builds.
    if (name.startsWith('.dist-')) rmSync(join(ui, name), { recursive: true, force: true });
  }
  try {
    await bundle({ ...config, configFile: false, logLevel: 'warn', build: { ...config.build, outDir: drafts } });
    recordBuild(join(drafts, '.sources'), root, { key: files.join(), folder: 'dist', files, startedAtMs });
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
    const files = listSources();
    if (freshBuild(join(dist, '.sources'), root, files.join()) !== undefined) return;
    const unlock = lockBuild(join(ui, '.building'));
    if (unlock) {
      if (gently) setPriority(10);
      return build(files).finally(unlock);
    }
    if (gently) return;
    // Another process is building, maybe from older sources: wait and compare again.
    await wait(200);
  }
};

const causeOf = (error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') return 'the development packages are not installed';
  const missing = [error, error.cause].find((one) => one?.code === 'MODULE_NOT_FOUND');
  const [line] = (missing ?? error).message.split('\n');
  return missing ? `${line}; run \`npm install\` again on this machine` : line;
};

let failed = false;
const fail = (error) => {
  if (!failed) process.stderr.write(`Could not build the web interface: ${causeOf(error)}\n`);
  failed = true;
  process.exitCode = optional ? 0 : 1;
};

// A bundler without its native package fails again in an unawaited promise.
process.on('unhandledRejection', fail);
await run().catch(fail);
