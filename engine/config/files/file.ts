import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { watch } from 'chokidar';
import { debounceTime, defer, finalize, fromEventPattern, interval, merge, type Observable } from 'rxjs';
import { ifMissing } from '../../model/fault.ts';
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
 * `pollMs`, since some changes can't be observed. Watches the folder, since editors replace files, and the link `..data` in it, which
 * Kubernetes replaces in place of the files. `onError` gets errors of the watchers; unsubscribing stops them.
 */
export const watchFile = (path: string, pollMs: number, onError: (error: unknown) => void): Observable<unknown> =>
  merge(
    watchEntries(dirname(path), (entry) => entry === path, ['all', 'ready'], onError),
    watchEntries(dirname(path), (entry) => basename(entry) === '..data', ['all'], onError, false),
    interval(pollMs),
  );

/** Emits whenever a source file directly in a folder may have been created, changed or removed, debounced. */
export const watchSources = (folder: string, onError: (error: unknown) => void): Observable<unknown> =>
  watchEntries(folder, (entry) => /\.[cm]?[jt]s$/.test(entry), ['all'], onError);

const watchEntries = (
  folder: string,
  isWatched: (entry: string) => boolean,
  events: readonly ('all' | 'ready')[],
  onError: (error: unknown) => void,
  followSymlinks = true,
): Observable<unknown> =>
  defer(() => {
    const watcher = watch(folder, {
      depth: 0,
      ignoreInitial: true,
      followSymlinks,
      // Logs in the configuration's folder change all the time.
      ignored: (entry) => entry !== folder && !isWatched(entry),
    });
    watcher.on('error', onError);
    return fromEventPattern((changed) => {
      for (const event of events) watcher.on(event, changed);
    }).pipe(
      debounceTime(settleMs),
      finalize(() => void watcher.close()),
    );
  });
