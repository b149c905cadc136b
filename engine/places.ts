/*
 * Where the gateway's own files are. It runs in two forms: as the sources that they are, or as a bundle of them, in which a
 * module's own address says nothing.
 */

/** The bundle's folder; put in by whoever makes the bundle, and absent from the sources. */
declare const SWITCHYARD_BUNDLE: string | undefined;

/** URL of the folder that holds package.json. In a bundle the module's address is this file's, too. */
export const root: URL = new URL('../', import.meta.url);

/** URL of the folder of the bundle that runs; `undefined` when the sources do. */
export const bundle: URL | undefined =
  typeof SWITCHYARD_BUNDLE === 'undefined' ? undefined : new URL(SWITCHYARD_BUNDLE);

/** URL under which another thread can load a module of the gateway: `name` in the bundle, `source` among the sources. */
export const moduleUrl = (name: string, source: string): URL =>
  bundle ? new URL(`${name}.mjs`, bundle) : new URL(source, root);
