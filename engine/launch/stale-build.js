// @ts-check
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The sources of a build. A record beside the build lists them, so that the next start detects changes.
 */

/**
 * The record of a build. `key` covers all other inputs; `folder` has the built files.
 * @typedef {{ readonly key: string, readonly folder: string, readonly sources: readonly Source[] }} BuildRecord
 *
 * A source file as it was at build time.
 * @typedef {{ readonly path: string, readonly size: number, readonly mtimeMs: number, readonly digest: string }} Source
 */

/**
 * The folder of the recorded build. `undefined` if there is none, if it has another key, or if one of its sources has changed.
 * @param {string} record path of the record
 * @param {string} root the folder that the sources' paths are relative to
 * @param {string} key
 * @returns {string | undefined}
 */
export const freshBuild = (record, root, key) => {
  try {
    /** @type {BuildRecord} */
    const build = JSON.parse(readFileSync(record, 'utf8'));
    return build.key === key && build.sources.every((source) => isUnchanged(root, source)) ? build.folder : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Records a build. If a source changed since `startedAtMs`, it is unknown which version was built; then nothing is recorded,
 * and the next start builds again.
 * @param {string} record
 * @param {string} root
 * @param {{ readonly key: string, readonly folder: string, readonly files: readonly string[], readonly startedAtMs: number }} build
 */
export const recordBuild = (record, root, { key, folder, files, startedAtMs }) => {
  const sources = files.map((path) => describeSource(root, path));
  if (!sources.every(({ mtimeMs }) => mtimeMs < startedAtMs)) return;
  const draft = `${record}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ key, folder, sources }));
  renameSync(draft, record);
};

/** Age after which a build is considered stuck, in milliseconds. */
const maxBuildMs = 120_000;

/**
 * Takes the lock file of a build. `undefined` if another running process has it.
 * @param {string} path
 * @returns {(() => void) | undefined} releases the lock
 */
export const lockBuild = (path) => {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (isHeld(path) || !removeStale(path)) return undefined;
    return lockBuild(path);
  }
  return () => rmSync(path, { force: true });
};

/**
 * Removes a lock that no running process has. `false` if another process has replaced it since.
 * @param {string} path
 */
const removeStale = (path) => {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return true;
  }
  // Two processes may find the same lock stale. The slower one then moves the lock of the faster one.
  const isReplaced = isHeld(aside);
  if (isReplaced) renameSync(aside, path);
  else rmSync(aside, { force: true });
  return !isReplaced;
};

/** @param {string} path */
const isHeld = (path) => {
  try {
    if (Date.now() - statSync(path).mtimeMs > maxBuildMs) return false;
    const pid = Number(readFileSync(path, 'utf8'));
    // An empty file is about to get its process id. This process holds no lock yet: in a container, ids repeat.
    return pid === 0 || (pid !== process.pid && process.kill(pid, 0));
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
};

/** @param {unknown} error */
const codeOf = (error) => (error instanceof Error && 'code' in error ? error.code : undefined);

/**
 * @param {string} root
 * @param {string} path
 * @returns {Source}
 */
const describeSource = (root, path) => {
  const { size, mtimeMs } = statSync(join(root, path));
  return { path, size, mtimeMs, digest: digestOf(root, path) };
};

/**
 * Whether a file is unchanged. Compares digests if only the time differs: a copied folder has new times.
 * @param {string} root
 * @param {Source} source
 */
const isUnchanged = (root, { path, size, mtimeMs, digest }) => {
  const now = statSync(join(root, path), { throwIfNoEntry: false });
  if (now?.size !== size) return false;
  return now.mtimeMs === mtimeMs || digestOf(root, path) === digest;
};

/**
 * @param {string} root
 * @param {string} path
 */
const digestOf = (root, path) =>
  createHash('sha256')
    .update(readFileSync(join(root, path)))
    .digest('base64url');
