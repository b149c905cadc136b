// @ts-check
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeSource, isUnchanged } from './sources.js';

/*
 * The bundle: the gateway and its packages as a few JavaScript files. Loads about twenty times faster than a thousand modules
 * through a TypeScript loader. Built on first use, and again after a source has changed.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'switchyard');
const manifestPath = join(cache, 'manifest.json');

/** Number of bundles kept; a running service may still load parts of an earlier one. */
const keptBundles = 4;

/** Age after which another process's build lock is considered stale, in milliseconds. */
const lockMs = 20_000;

/**
 * @typedef {{ readonly root: string, readonly node: string, readonly folder: string, readonly sources: readonly import('./sources.js').Source[] }} Manifest
 */

/**
 * Returns the URL of the bundle's folder; builds it first if it is missing or outdated. `undefined` if there is none: no
 * esbuild, a read-only folder, a syntax error, or another process is building it.
 * @returns {Promise<string | undefined>}
 */
export const bundleUrl = async () => current() ?? (await make().catch(() => undefined));

/** @returns {string | undefined} */
const current = () => {
  try {
    /** @type {Manifest} */
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
    const fits = manifest.root === root && manifest.node === process.versions.node;
    return fits && manifest.sources.every((source) => isUnchanged(root, source))
      ? folderUrl(manifest.folder)
      : undefined;
  } catch {
    return undefined;
  }
};

/** @returns {Promise<string | undefined>} */
const make = async () => {
  mkdirSync(cache, { recursive: true });
  const startedAtMs = Date.now();
  const unlock = lock(startedAtMs);
  if (!unlock) return undefined;
  try {
    const folder = `${startedAtMs}-${process.pid}`;
    const { node } = process.versions;
    const { compile } = await import('./compile.js');
    const sources = watched(await compile(root, join(cache, folder))).map((path) => describeSource(root, path));
    // If a source changed during the build, which version was bundled is unknown; then the next start builds again.
    if (sources.every(({ mtimeMs }) => mtimeMs < startedAtMs)) writeManifest({ root, node, folder, sources });
    for (const old of oldBundles()) rmSync(join(cache, old), { recursive: true, force: true });
    return folderUrl(folder);
  } finally {
    unlock();
  }
};

/**
 * Files whose change makes a bundle outdated: the gateway's own sources, and each package's `package.json`, which holds its
 * version.
 * @param {readonly string[]} files
 */
const watched = (files) => [...new Set([...launcher, ...files.map((file) => packageFile(file) ?? file)])];

const launcher = readdirSync(import.meta.dirname).map((name) => `engine/launch/${name}`);

/** @param {string} file */
const packageFile = (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file)?.[0].concat('package.json');

/** @param {number} nowMs */
const lock = (nowMs) => {
  const path = join(cache, 'lock');
  const make = () => {
    try {
      writeFileSync(path, String(nowMs), { flag: 'wx' });
      return true;
    } catch {
      return false;
    }
  };
  if (!make()) {
    if (nowMs - Number(readFileSync(path, 'utf8')) < lockMs) return undefined;
    rmSync(path, { force: true });
    if (!make()) return undefined;
  }
  return () => rmSync(path, { force: true });
};

/** @param {Manifest} manifest */
const writeManifest = (manifest) => {
  const draft = `${manifestPath}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(manifest));
  renameSync(draft, manifestPath);
};

const oldBundles = () =>
  readdirSync(cache)
    .filter((name) => /^\d+-\d+$/.test(name))
    .sort()
    .slice(0, -keptBundles);

/** @param {string} folder */
const folderUrl = (folder) => `${pathToFileURL(join(cache, folder)).href}/`;
