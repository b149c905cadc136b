// @ts-check
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A source file of a bundle, as it was at build time.
 * @typedef {{ readonly path: string, readonly size: number, readonly mtimeMs: number, readonly digest: string }} Source
 */

/**
 * Describes a file as it is now. `path` is relative to `root`.
 * @param {string} root
 * @param {string} path
 * @returns {Source}
 */
export const describeSource = (root, path) => {
  const { size, mtimeMs } = statSync(join(root, path));
  return { path, size, mtimeMs, digest: digestOf(root, path) };
};

/**
 * Whether a file is unchanged since `source` was recorded. Compares digests if only the time differs: a copied folder has new
 * times.
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
