// @ts-check

import { bundleUrl, hasSources } from './bundle.js';

/**
 * Runs one of the gateway's programs: from the bundle, or from the TypeScript sources if there is no bundle.
 * @param {string} name the program's name in the bundle
 * @param {string} source its file, relative to this folder
 * @returns {Promise<void>}
 */
export const load = async (name, source) => {
  const bundle = hasSources && process.env.JUNCTOR_BUNDLE === 'off' ? undefined : await bundleUrl();
  if (bundle !== undefined) {
    await import(`${bundle}${name}.mjs`);
    return;
  }
  await import('./typescript.js');
  await import(source);
};
