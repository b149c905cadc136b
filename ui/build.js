#!/usr/bin/env node
// Builds the web interface into ui/dist, unless it is up to date. With `--optional`, a build that is impossible here (missing
// development packages, a read-only folder) isn't a failure. With `--gently`, it runs at low priority and leaves a running
// build alone.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ui = fileURLToPath(new URL('.', import.meta.url));
const dist = join(ui, 'dist');
const lock = join(ui, '.building');
const optional = process.argv.includes('--optional');
const gently = process.argv.includes('--gently');

/** The longest wait for another build, in milliseconds. */
const mostWaitMs = 120_000;

/** A hash that changes with each source file and package version. */
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

/** Only one build runs at a time. The lock of a killed build is taken over. */
const takeLock = () => {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isAlive(holderOf(lock))) return false;
    rmSync(lock, { force: true });
    return takeLock();
  }
};

const holderOf = (file) => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
};

const isAlive = (pid) => {
  try {
    // An empty lock file is about to get its process id.
    return pid === 0 ? existsSync(lock) : process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const build = async (sources) => {
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
    writeFileSync(join(drafts, '.sources'), sources);
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
  const patience = Date.now() + mostWaitMs;
  for (;;) {
    const sources = stateOfSources();
    if (builtFrom() === sources) return;
    if (takeLock()) return buildLocked(sources);
    if (gently) return;
    // Another process is building, maybe from older sources: wait and compare again.
    if (Date.now() > patience) throw new Error(`another build holds ${lock}; remove that file if none is running`);
    await wait(200);
  }
};

const buildLocked = async (sources) => {
  try {
    if (gently) setPriority(10);
    await build(sources);
  } finally {
    rmSync(lock, { force: true });
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
