// @ts-check
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freshBuild, lockBuild, recordBuild } from './stale-build.js';

/*
 * The bundle: the gateway and its packages as a few JavaScript files. It loads about twenty times faster than a thousand
 * modules through a TypeScript loader. It is built on first use, and again after a source has changed.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'junctor');
const record = join(cache, 'manifest.json');
const key = `${root} ${process.versions.node}`;

/** Number of bundles kept; a running service may still load parts of an earlier one. */
const keptBundles = 4;

/** Whether this is a checkout. An installed package has no sources: its bundle is `dist`, made when it was packed. */
export const hasSources = existsSync(join(root, 'engine/cli/program.ts'));

/**
 * Returns the URL of the bundle's folder; builds it first if it is missing or outdated. `undefined` if there is none: no
 * esbuild, a read-only folder, a syntax error, or another process is building it.
 * @returns {Promise<string | undefined>}
 */
export const bundleUrl = async () => {
  if (!hasSources) return pathToFileURL(join(root, 'dist/')).href;
  const folder = freshBuild(record, root, key) ?? (await make().catch(() => undefined));
  return folder && `${pathToFileURL(join(cache, folder)).href}/`;
};

/** @returns {Promise<string | undefined>} */
const make = async () => {
  mkdirSync(cache, { recursive: true });
  const unlock = lockBuild(join(cache, 'lock'));
  if (!unlock) return undefined;
  try {
    const startedAtMs = Date.now();
    const folder = `${startedAtMs}-${process.pid}`;
    const { compile } = await import('./compile.js');
    const files = watched(await compile(root, join(cache, folder)));
    recordBuild(record, root, { key, folder, files, startedAtMs });
    for (const old of oldBundles()) rmSync(join(cache, old), { recursive: true, force: true });
    return folder;
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

const oldBundles = () =>
  readdirSync(cache)
    .filter((name) => /^\d+-\d+$/.test(name))
    .sort()
    .slice(0, -keptBundles);
