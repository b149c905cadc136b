import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Where modules may lie. */
export interface ModulePlaces {
  /** The configuration's folder; relative paths start here. */
  readonly home: string;
  /** Further folders that whoever started the service allows. */
  readonly allowed: readonly string[];
}

/**
 * The real file that a configured path names. Rejects when it lies outside the folders that are allowed, by `..` or by a
 * link: whoever may change the configuration must not thereby run any code on the machine.
 */
export const findModule = async (path: string, { home, allowed }: ModulePlaces): Promise<string> => {
  const file = await realpath(resolve(home, path)).catch(() => {
    throw new Error('the file is not there, or its folder may not be read');
  });
  const folders = await Promise.all([home, ...allowed].map((folder) => realpath(folder).catch(() => undefined)));
  if (!folders.some((folder) => folder !== undefined && isBelow(folder, file))) {
    throw new Error(
      "it lies outside the configuration's folder; to allow that, start the service with --allow-transformer-path and the folder",
    );
  }
  if (!(await stat(file)).isFile()) throw new Error('it is no file');
  return file;
};

const isBelow = (folder: string, file: string): boolean => {
  const way = relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};
