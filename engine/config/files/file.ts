import { watch } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { debounceTime, interval, merge, Observable, share, startWith, switchMap } from 'rxjs';
import { errorCode, ifMissing } from '../../model/fault.ts';
import { refuseWrite, removeTempFiles, writeAtomically } from '../write-atomically.ts';
import { Backups } from './backups.ts';

/** The configuration's file, and its backups. Callers must not write concurrently. */
export class ConfigOnDisk {
  readonly path: string;
  readonly backups: Backups;

  /** Backups are in `home`; `now` returns milliseconds since 1970. */
  constructor(path: string, home: string, now: () => number = Date.now) {
    this.path = path;
    this.backups = new Backups(home, now);
  }

  /** The file's content; `undefined` when there is no file. Rejects with the system's error when it can't be read. */
  read(): Promise<Buffer | undefined> {
    return readFile(this.path).catch(ifMissing(undefined));
  }

  /**
   * Backs up the current file, valid or not, and replaces its text. Rejects with a `read-only` fault when the file may not be
   * written, and with an `internal` fault when writing fails; it is unchanged then.
   */
  async write(textFor: (old: string | undefined) => string): Promise<string> {
    let backup: string | undefined;
    let text: string;
    try {
      const old = await this.read();
      text = textFor(old?.toString());
      // Also before adding: a killed process may have left one too many.
      await this.backups.prune();
      backup = old && (await this.backups.add(old));
      await writeAtomically(this.path, text);
    } catch (error) {
      // Repeated failures must not displace older backups.
      if (backup) await this.backups.remove(backup).catch(() => undefined);
      return refuseWrite(basename(this.path), error);
    }
    // The next write tries again.
    await this.backups.prune().catch(() => undefined);
    return text;
  }
}

/** Removes temporary files of killed processes: in the home folder, its presets, and beside the configuration's file. */
export const removeTempFilesOf = async (path: string, home: string): Promise<void> => {
  const presets = join(home, 'presets');
  const names = await readdir(presets).catch(() => []);
  for (const folder of [home, ...names.map((name) => join(presets, name))]) await removeTempFiles(folder, () => true);
  // The file may lie in a folder of the user's own.
  if (dirname(path) !== home) await removeTempFiles(dirname(path), (name) => name === basename(path));
};

/** Debounce time in milliseconds: editors write a file in several steps. */
const settleMs = 100;

/**
 * Emits when watching has started, and whenever the file may have been created, changed or removed, debounced; also every
 * `pollMs`, since some changes can't be observed. Watches the folder, since editors replace files. `onError` gets errors of the watchers;
 * unsubscribing stops them.
 */
export const watchFile = (path: string, pollMs: number, onError: (error: unknown) => void): Observable<unknown> =>
  merge(
    watchEntries(dirname(path), (entry) => entry === basename(path), onError).pipe(startWith(undefined)),
    interval(pollMs),
  );

/** Emits whenever a source file directly in a folder may have been created, changed or removed, debounced. */
export const watchSources = (folder: string, onError: (error: unknown) => void): Observable<unknown> =>
  watchEntries(folder, (entry) => /\.[cm]?[jt]s$/.test(entry), onError);

/** Kubernetes replaces this link in place of the files of a mounted folder. */
const mountedLink = '..data';

/** Watches entries of a folder, and those that they are links to. */
const watchEntries = (
  folder: string,
  isWatched: (entry: string) => boolean,
  onError: (error: unknown) => void,
): Observable<unknown> => {
  const own = watchFolder(folder, (entry) => entry === mountedLink || isWatched(entry), onError).pipe(share());
  const linked = own.pipe(
    startWith(undefined),
    switchMap(() => targetsIn(folder, isWatched)),
    switchMap((targets) =>
      merge(...targets.map((path) => watchFolder(dirname(path), (entry) => entry === basename(path), onError))),
    ),
  );
  return merge(own, linked).pipe(debounceTime(settleMs));
};

/** Paths of what the watched entries are links to. */
const targetsIn = async (folder: string, isWatched: (entry: string) => boolean): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink() && isWatched(entry.name));
  const targets = await Promise.all(links.map(({ name }) => realpath(join(folder, name)).catch(() => [])));
  return targets.flat();
};

/**
 * Emits when an entry of a folder that is watched may have changed. Nothing is read then: logs and the store beside the configuration
 * change all the time.
 */
const watchFolder = (
  folder: string,
  isWatched: (entry: string) => boolean,
  onError: (error: unknown) => void,
): Observable<unknown> =>
  new Observable((subscriber) => {
    try {
      const watcher = watch(folder, (_event, entry) => {
        // Some systems don't name the entry.
        if (entry === null || isWatched(entry)) subscriber.next(undefined);
      });
      watcher.on('error', onError);
      subscriber.add(() => watcher.close());
    } catch (error) {
      // Nothing in a missing folder can be watched.
      if (errorCode(error) !== 'ENOENT') onError(error);
    }
  });
