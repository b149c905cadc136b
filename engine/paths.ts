import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/*
 * Locations of the gateway's own files. It runs either from its sources or from a bundle, in which `import.meta.url` doesn't
 * name the module's own file.
 */

/** URL of the bundle's folder; defined by the bundler, not declared when the sources run. */
declare const JUNCTOR_BUNDLE: string | undefined;

/** URL of the folder that holds package.json. The bundler sets every module's `import.meta.url` to this file's. */
export const root: URL = new URL('../', import.meta.url);

/** Path of the command's launcher. */
export const commandFile: string = fileURLToPath(new URL('engine/cli/junctor.js', root));

/** URL of the running bundle's folder; `undefined` when the sources run. */
export const bundle: URL | undefined = typeof JUNCTOR_BUNDLE === 'undefined' ? undefined : new URL(JUNCTOR_BUNDLE);

/** URL from which a thread or process can load a module: `name` in the bundle, `source` in the sources. */
export const moduleUrl = (name: string, source: string): URL =>
  bundle ? new URL(`${name}.mjs`, bundle) : new URL(source, root);

/**
 * Starts a thread that runs a module. When the sources run, it must load the TypeScript loader first. `youngMb`: the memory of its
 * short-lived objects, in MiB; absent: V8's own bound.
 */
export const startThread = (name: string, source: string, youngMb?: number): Worker => {
  const module = moduleUrl(name, source);
  const options = {
    execArgv: [],
    ...(youngMb !== undefined && { resourceLimits: { maxYoungGenerationSizeMb: youngMb } }),
  };
  return bundle
    ? new Worker(module, options)
    : new Worker(new URL('engine/launch/thread.js', root), { ...options, workerData: module.href });
};

/** The package's version. */
export const version: string = createRequire(root)('./package.json').version;
