// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licenses of the packages that these files of a bundle are from, a text for each: they ask to be passed on.
 * @param {string} root
 * @param {readonly string[]} files relative to `root`
 * @returns {string[]}
 */
export const licensesOf = (root, files) => {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort().map((folder) => {
    const { name, version, license, homepage, repository } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    // A few packages only name their license.
    const text =
      file === undefined ? (repository?.url ?? homepage ?? '') : readFileSync(join(root, folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
};

/**
 * One text of all.
 * @param {readonly string[]} licenses
 */
export const joinLicenses = (licenses) => licenses.join(`\n${'-'.repeat(80)}\n\n`);
