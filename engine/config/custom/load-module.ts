import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import * as nodeModule from 'node:module';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle, moduleUrl, root } from '../../paths.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import { within } from '../../runtime/within.ts';
import { findFile, type HookData, initialize, loadMark, resolve as resolveModule } from './resolve-hook.ts';

/** Maximum load time of a module, in milliseconds: a module that never finishes must not block the start. */
const maxLoadMs = 10_000;

let loads = 0;
let hooked: Promise<void> | undefined;

/**
 * A loaded module, as long as its files are the same. Its state outlives changes of the configuration and of other modules; a module that
 * is loaded again stays in memory, since Node.js never releases one.
 */
interface Kept {
  readonly version: string;
  readonly exported: unknown;
}

/** Loaded modules by file, and whether they may be CommonJS; beyond this many, the one loaded first is loaded again. */
const kept = new BoundedMap<string, Kept>(1_000);
/** The files of all loaded modules. */
const loadedFiles = new Set<string>();

/** Loads a module's default export; again, with its imports, if one of its files has changed. Rejects with the load error. */
export const loadModule = (file: string): Promise<unknown> => keeping(file, '', () => importModule(file));

/**
 * As `loadModule`, for a module that may be CommonJS whatever its ending: one that sets `module.exports`. For CommonJS, the cache is
 * bypassed for the file itself only. Never loads an ES module as CommonJS: newer Node.js would cache it permanently.
 */
export const loadCommonModule = async (file: string): Promise<unknown> => {
  if (!(await readFile(file, 'utf8')).includes('module.exports')) return loadModule(file);
  return keeping(file, 'CommonJS ', async () => {
    const require = nodeModule.createRequire(file);
    delete require.cache[file];
    return require(file);
  });
};

const keeping = async (file: string, form: string, load: () => Promise<unknown>): Promise<unknown> => {
  const files = await filesOf(file);
  const version = [...files].map(([name, digest]) => `${name} ${digest}`).join('\n');
  const before = kept.get(form + file);
  if (before?.version === version) return before.exported;
  for (const name of files.keys()) loadedFiles.add(name);
  const exported = await load();
  kept.set(form + file, { version, exported });
  return exported;
};

const importModule = async (file: string): Promise<unknown> => {
  hooked ??= hook();
  await hooked;
  loads += 1;
  const module: unknown = await loadInTime(import(`${pathToFileURL(file).href}?${loadMark}=${loads}`));
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
};

/** More files than a module of the user's has. */
const maxFiles = 500;

/** A relative or absolute path in quotes: an import, or a file that the module reads. */
const localPath = /(['"`])((?:\.{1,2}\/|\/|file:)[^'"`\n]{1,1000})\1/g;

/** The digests of a module's file and of all files that it names, and these name. */
const filesOf = async (file: string): Promise<ReadonlyMap<string, string>> => {
  const files = new Map<string, string>();
  const open = [file];
  for (let name = open.pop(); name !== undefined && files.size < maxFiles; name = open.pop()) {
    if (files.has(name)) continue;
    const text = await readFile(name, 'utf8').catch(() => '');
    files.set(name, createHash('sha256').update(text).digest('base64'));
    for (const [, , path = ''] of text.matchAll(localPath)) {
      const found = URL.canParse(path, pathToFileURL(name).href) && findFile(new URL(path, pathToFileURL(name)));
      if (found && !found.pathname.includes('/node_modules/')) open.push(fileURLToPath(found));
    }
  }
  return files;
};

/** The file, line and column of a loaded module where an error arose; `undefined`: none of these modules was at work. */
export const placeOf = (error: unknown): string | undefined => {
  const stack = error instanceof Error ? (error.stack ?? '').slice(0, maxStack) : '';
  for (const [, from = '', mark = '', line, column] of stack.matchAll(frame)) {
    const file = from.startsWith('file:') ? fileURLToPath(from) : from;
    if (!loadedFiles.has(file)) continue;
    // A stack that isn't mapped yet has the mark.
    const map = mark === '' ? undefined : nodeModule.findSourceMap(pathToFileURL(file).href + mark);
    const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
    const place =
      entry && 'originalLine' in entry ? [entry.originalLine + 1, entry.originalColumn + 1] : [line, column];
    return [file, ...place].join(':');
  }
  return undefined;
};

const maxStack = 16_384;
const frame = /(?<=[\s(])((?:file:)?\/[^\s?()]*)(\?junctor-load=\d+)?:(\d{1,9}):(\d{1,9})/g;

/** Lets modules be written in TypeScript and import the gateway's own packages. */
const hook = async (): Promise<void> => {
  // TypeScript modules are compiled to one line; their maps give a fault its own.
  process.setSourceMapsEnabled(true);
  // From sources the TypeScript loader is active already; a bundle loads it on first use.
  if (bundle) await import(new URL('engine/launch/typescript.js', root).href);
  const data: HookData = {
    gateway: root.href,
    apis: {
      transformer: moduleUrl('transformer-api', 'engine/transformer-api.ts').href,
      testing: moduleUrl('testing-api', 'engine/testing-api.ts').href,
    },
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
