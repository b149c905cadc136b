import { readFile, realpath, stat } from 'node:fs/promises';
import * as nodeModule from 'node:module';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, moduleUrl, root } from '../../paths.ts';
import { within } from '../../runtime/within.ts';
import { type HookData, initialize, loadMark, resolve as resolveModule } from './resolve-hook.ts';

/** Maximum load time of a module, in milliseconds: a module that never finishes must not block the start. */
const maxLoadMs = 10_000;

let loads = 0;
let hooked: Promise<void> | undefined;

/** Loads a module's default export, bypassing the cache for it and its imports. Rejects with the load error. */
export const loadModule = async (file: string): Promise<unknown> => {
  hooked ??= hook();
  await hooked;
  loads += 1;
  const module: unknown = await loadInTime(import(`${pathToFileURL(file).href}?${loadMark}=${loads}`));
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
};

/**
 * As `loadModule`, for a module that may be CommonJS whatever its ending: one that sets `module.exports`. For CommonJS, the cache is
 * bypassed for the file itself only. Never loads an ES module as CommonJS: newer Node.js would cache it permanently.
 */
export const loadCommonModule = async (file: string): Promise<unknown> => {
  if (!(await readFile(file, 'utf8')).includes('module.exports')) return loadModule(file);
  const require = nodeModule.createRequire(file);
  delete require.cache[file];
  return require(file);
};

/** Lets modules be written in TypeScript and import the gateway's own packages. */
const hook = async (): Promise<void> => {
  // From sources the TypeScript loader is active already; a bundle loads it on first use.
  if (bundle) await import(new URL('engine/launch/typescript.js', root).href);
  const data: HookData = {
    gateway: root.href,
    api: moduleUrl('transformer-api', 'engine/transformer-api.ts').href,
    bundled: bundle ? bundledPackages(bundle) : {},
  };
  // Newer Node.js asks the hooks of this thread first, where the TypeScript loader then is, too. The last one registered comes first.
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    initialize(data);
    nodeModule.registerHooks({ resolve: resolveModule });
  } else {
    nodeModule.register<HookData>(moduleUrl('resolve-hook', 'engine/config/custom/resolve-hook.ts'), { data });
  }
};

/** URLs of the gateway's packages in a bundle. */
const bundledPackages = (folder: URL): HookData['bundled'] => ({
  rxjs: new URL('rxjs.mjs', folder).href,
  'rxjs/operators': new URL('rxjs-operators.mjs', folder).href,
  typebox: new URL('typebox.mjs', folder).href,
});

const loadInTime = async (loading: Promise<unknown>): Promise<unknown> => {
  const loaded = await within(
    maxLoadMs,
    loading.then(
      (module) => ({ module }),
      (error: unknown) => ({ error }),
    ),
  );
  if (!loaded) throw new Error(`it didn't finish loading within ${maxLoadMs} ms`);
  if ('error' in loaded) throw loaded.error;
  return loaded.module;
};

/** Folders that modules may be loaded from. */
export interface ModulePlaces {
  /** The configuration's folder, base of relative paths. */
  readonly home: string;
  /** Further folders that the operator allows. */
  readonly allowed: readonly string[];
}

/**
 * Resolves a configured path to its real file. Rejects files outside the allowed folders, also by `..` or a link: access to
 * the configuration must not allow running any code on the machine.
 */
export const findModule = async (path: string, { home, allowed }: ModulePlaces): Promise<string> => {
  const file = await realpath(resolve(home, path)).catch(() => {
    throw new Error('the file does not exist, or its folder is not readable');
  });
  const folders = await Promise.all([home, ...allowed].map((folder) => realpath(folder).catch(() => undefined)));
  if (!folders.some((folder) => folder !== undefined && isBelow(folder, file))) {
    throw new Error(
      "it is outside the configuration's folder; to allow that, start the service with --allow-transformer-path <folder>",
    );
  }
  if (!(await stat(file)).isFile()) throw new Error('it is not a file');
  return file;
};

const isBelow = (folder: string, file: string): boolean => {
  const way = relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};
