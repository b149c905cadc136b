// @ts-check
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One file that a bundle was made from, as it was then.
 * @typedef {{ readonly path: string, readonly size: number, readonly mtimeMs: number, readonly digest: string }} Source
 */

/**
 * What a file is like now; its path stays relative to `root`.
 * @param {string} root
 * @param {string} path
 * @returns {Source}
 */
export const describeSource = (root, path) => {
  const { size, mtimeMs } = statSync(join(root, path));
  return { path, size, mtimeMs, digest: digestOf(root, path) };
};

/**
 * Whether a file is what it was. One whose time differs is read: a copy of the folder has other times, and the same sources.
 * @param {string} root
 * @param {Source} source
 * @returns {boolean}
 */
export const isUnchanged = (root, { path, size, mtimeMs, digest }) => {
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
