import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { watch } from 'chokidar';
import { debounceTime, defer, finalize, fromEventPattern, type Observable } from 'rxjs';
import { errorCode, fail } from '../model/fault.ts';
import { Backups } from './backups.ts';
import { writeAtomically } from './write-atomically.ts';

/** `config.json` on disk, and its backups. Callers must not write concurrently. */
export class ConfigOnDisk {
  readonly path: string;
  readonly backups: Backups;

  /** Backups are in the same folder; `now` returns milliseconds since 1970. */
  constructor(path: string, now: () => number = Date.now) {
    this.path = path;
    this.backups = new Backups(dirname(path), now);
  }

  /** The file's content; `undefined` when there is no file. Rejects with the system's error when it can't be read. */
  async read(): Promise<Buffer | undefined> {
    try {
      return await readFile(this.path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Backs up the current file, valid or not, and replaces its text. Rejects with an `internal` fault when the file can't be
   * written; it is unchanged then.
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
      const code = errorCode(error);
      if (code === undefined) throw error;
      return fail('internal', `config.json can't be written (${code}); nothing was changed.`);
    }
    // The next write tries again.
    await this.backups.prune().catch(() => undefined);
    return text;
  }
}

/** Minimum age for removal, in milliseconds: another process may be writing a younger file. */
const minAgeMs = 60_000;

const tempFile = /^config(?:\.backup\.[\w-]+)?\.json\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** Removes temporary files of killed processes: they may hold credentials. */
export const removeTempFiles = async (home: string, nowMs: number): Promise<void> => {
  const names = await readdir(home).catch(() => []);
  for (const name of names.filter((entry) => tempFile.test(entry))) {
    const path = join(home, name);
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isFile() && nowMs - entry.mtimeMs > minAgeMs) await rm(path, { force: true }).catch(() => undefined);
  }
};

/** Debounce time in milliseconds: editors write a file in several steps. */
const settleMs = 100;

/**
 * Emits when watching has started, and whenever the file may have been created, changed or removed, debounced. Watches the
 * folder, since editors replace files. `onError` gets errors of the watcher; unsubscribing stops it.
 */
export const watchFile = (path: string, onError: (error: unknown) => void): Observable<unknown> =>
  watchEntries(dirname(path), (entry) => entry === path, ['all', 'ready'], onError);

/** Emits whenever a source file directly in a folder may have been created, changed or removed, debounced. */
export const watchSources = (folder: string, onError: (error: unknown) => void): Observable<unknown> =>
  watchEntries(folder, (entry) => /\.[cm]?[jt]s$/.test(entry), ['all'], onError);

const watchEntries = (
  folder: string,
  isWatched: (entry: string) => boolean,
  events: readonly ('all' | 'ready')[],
  onError: (error: unknown) => void,
): Observable<unknown> =>
  defer(() => {
    const watcher = watch(folder, {
      depth: 0,
      ignoreInitial: true,
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
