#!/usr/bin/env node
// Builds the web interface into ui/dist unless that was made from these very sources. With `--optional`, a build that isn't
// possible here (the packages for development are missing, the folder can't be written) is no failure; with `--gently` it lets
// others go first.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ui = fileURLToPath(new URL('.', import.meta.url));
const dist = join(ui, 'dist');
const lock = join(ui, '.building');
const optional = process.argv.includes('--optional');

/** A lock that old was left by a build that was killed. */
const staleLockMs = 120_000;

/** One line of text that changes when a source or a package's version does. */
const stateOfSources = () => {
  const hash = createHash('sha256');
  const sources = readdirSync(join(ui, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [
    ...sources,
    ...['index.html', 'vite.config.js', 'build.js', '../package-lock.json'].map((name) => join(ui, name)),
  ]) {
    hash
      .update(`${file.slice(ui.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
};

const builtFrom = () => {
  try {
    return readFileSync(join(dist, '.sources'), 'utf8');
  } catch {
    return '';
  }
};

/** Two builds at once would cost twice the time and end up the same. */
const takeLock = () => {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (Date.now() - statSync(lock).mtimeMs < staleLockMs) return false;
    rmSync(lock, { recursive: true, force: true });
    return takeLock();
  }
};

const build = async (sources) => {
  // Whatever is set where it is started: React's other build is twice as large and slow.
  process.env.NODE_ENV = 'production';
  const { build: bundle } = await import('vite');
  const { default: config } = await import('./vite.config.js');
  const drafts = join(ui, `.dist-${process.pid}`);
  const outgoing = `${drafts}-before`;
  try {
    await bundle({ ...config, configFile: false, logLevel: 'warn', build: { ...config.build, outDir: drafts } });
    writeFileSync(join(drafts, '.sources'), sources);
    // Put in its place as a whole: nobody is served half a build.
    if (existsSync(dist)) renameSync(dist, outgoing);
    renameSync(drafts, dist);
  } finally {
    rmSync(drafts, { recursive: true, force: true });
    rmSync(outgoing, { recursive: true, force: true });
  }
};

const run = async () => {
  // An image holds the built files alone.
  if (!existsSync(join(ui, 'src'))) return;
  const sources = stateOfSources();
  if (builtFrom() === sources || !takeLock()) return;
  try {
    if (process.argv.includes('--gently')) setPriority(10);
    await build(sources);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
};

await run().catch((error) => {
  const why = error.code === 'ERR_MODULE_NOT_FOUND' ? 'the packages for development are not installed' : error.message;
  process.stderr.write(`The web interface was not built: ${why}\n`);
  process.exitCode = optional ? 0 : 1;
});
