#!/usr/bin/env node
// Builds the web interface into ui/dist unless that was made from these very sources. With `--optional`, a build that isn't
// possible here (the packages for development are missing, the folder can't be written) is no failure; with `--gently` it lets
// others go first, and leaves a build that is under way elsewhere to them.
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

/** A build takes seconds; what takes that long isn't one. */
const mostWaitMs = 120_000;

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

/** Two builds at once would cost twice the time and end up the same. A build that was killed holds nothing up. */
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
    // A file that was made but not yet written to names nobody; it will in a moment.
    return pid === 0 ? existsSync(lock) : process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const build = async (sources) => {
  // Whatever is set where it is started: React's other build is twice as large and slow.
  process.env.NODE_ENV = 'production';
  const { build: bundle } = await import('vite');
  const { default: config } = await import('./vite.config.js');
  const drafts = join(ui, `.dist-${process.pid}`);
  const outgoing = `${drafts}-before`;
  for (const name of readdirSync(ui)) {
    // Left by builds that were killed.
    if (name.startsWith('.dist-')) rmSync(join(ui, name), { recursive: true, force: true });
  }
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
  const patience = Date.now() + mostWaitMs;
  for (;;) {
    const sources = stateOfSources();
    if (builtFrom() === sources) return;
    if (takeLock()) return buildLocked(sources);
    if (gently) return;
    // Somebody else builds. Whoever waits for files wants those of these sources, which may not be the ones at work there.
    if (Date.now() > patience) throw new Error(`another build holds ${lock}; remove that file if there is none`);
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
  if (error.code === 'ERR_MODULE_NOT_FOUND') return 'the packages for development are not installed';
  const missing = [error, error.cause].find((one) => one?.code === 'MODULE_NOT_FOUND');
  const [line] = (missing ?? error).message.split('\n');
  return missing ? `${line}; run \`npm install\` again on this machine` : line;
};

let failed = false;
const fail = (error) => {
  if (!failed) process.stderr.write(`The web interface was not built: ${causeOf(error)}\n`);
  failed = true;
  process.exitCode = optional ? 0 : 1;
};

// A bundler whose native package is missing fails a second time where nothing waits for it.
process.on('unhandledRejection', fail);
await run().catch(fail);
