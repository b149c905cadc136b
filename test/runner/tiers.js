// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/*
 * The two tiers of tests. What starts real processes or a browser takes most of a run's time and few of its tests, so it runs by
 * itself: `npm run test:processes`. All else runs in the tests' own processes: `npm test`. A file's tier follows from what it imports,
 * by itself or through the tests' own modules.
 */

/** @typedef {'in-process' | 'processes'} Tier */

/** @type {readonly Tier[]} */
export const tiers = ['in-process', 'processes'];

/** An import of a module that starts processes. */
const startsProcesses =
  /^import (?!type\b)[^;]*?from '(?:node:(?:child_process|cluster)|[^']*\/processes\/(?!cpu-time)[\w-]+\.ts)'/m;

/** Relative imports of values. */
const imports = /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)'/gm;

/**
 * The tier of a test file. The gateway's own modules don't count: what they start, a test asks for.
 * @param {string} root
 * @param {string} test relative to the root
 * @param {Map<string, boolean>} [known] whether modules start processes
 * @returns {Tier}
 */
export const tierOf = (root, test, known = new Map()) => (starts(root, test, known) ? 'processes' : 'in-process');

/**
 * @param {string} root
 * @param {string} file
 * @param {Map<string, boolean>} known
 * @returns {boolean}
 */
const starts = (root, file, known) => {
  const before = known.get(file);
  if (before !== undefined) return before;
  // Of a circle, one file is asked before its answer is known.
  known.set(file, false);
  const path = join(root, file);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const found =
    startsProcesses.test(text) ||
    [...text.matchAll(imports)].some(([, name = '']) => {
      const other = relative(root, join(dirname(path), name));
      return other.startsWith('test/') && starts(root, other, known);
    });
  known.set(file, found);
  return found;
};
