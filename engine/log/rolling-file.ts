import { appendFileSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RollStream } from 'pino-roll';
import type { LogPlace } from './log-place.ts';

/** The file in use, under the name that users see. */
interface Shown {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
}

const folderMode = 0o700;
const fileMode = 0o600;

/**
 * A log file that pino-roll writes and rolls, under names of our own. Its names always end in a number, so it works in a hidden
 * folder, and each file that it opens is hard-linked to the name that `place` gives. The folder holds only the file in use and
 * is built anew from the visible names whenever a log is opened: those are all there is to list, clear and delete.
 * All files are opened for appending, so that one that was truncated goes on from its start.
 */
export class RollingFile {
  readonly #place: LogPlace;
  readonly #link: (existing: string, path: string) => void;
  #shown: Shown | undefined;

  /** `link` is for tests: file systems differ in whether they have hard links. */
  constructor(place: LogPlace, link: (existing: string, path: string) => void = linkSync) {
    this.#place = place;
    this.#link = link;
  }

  /** The path for messages. */
  get name(): string {
    return this.#shown?.path ?? this.#place.name;
  }

  /**
   * Opens today's file again or a new one; rejects if it can't. `onError` gets what goes wrong with the stream later on. Loading
   * pino-roll costs some 70 ms, so that is left until a log is first opened.
   */
  async open(onError: (stream: RollStream, error: unknown) => void): Promise<RollStream> {
    const { rollFolder, maxBytes, frequency } = this.#place;
    this.#shown = undefined;
    rmSync(rollFolder, { recursive: true, force: true });
    mkdirSync(rollFolder, { recursive: true, mode: folderMode });
    this.#adopt(join(rollFolder, 'log.1.log'));
    const { default: roll } = await import('pino-roll');
    const stream = await roll({
      file: join(rollFolder, 'log'),
      size: `${maxBytes}b`,
      ...(frequency && { frequency }),
      mkdir: true,
      sync: false,
      mode: fileMode,
    });
    return new Promise((resolve, reject) => {
      let opened = false;
      stream.on('error', (error) => {
        if (opened) return onError(stream, error);
        // A stream that was never opened never closes, and until it does pino-roll keeps its timer.
        stream.emit('close');
        reject(error);
      });
      // Comes again after each roll.
      stream.on('ready', () => {
        try {
          this.#show(stream.file);
        } catch (error) {
          if (opened) onError(stream, error);
          else {
            stream.destroy();
            reject(error);
          }
          return;
        }
        opened = true;
        resolve(stream);
      });
    });
  }

  /** Writes at once to the file in use, or to the one that would be opened. Throws what the file system says. */
  appendSync(text: string): void {
    mkdirSync(this.#place.rollFolder, { recursive: true, mode: folderMode });
    const path = this.#shown?.path ?? this.#place.current() ?? this.#place.next();
    appendFileSync(path, text, { mode: fileMode });
  }

  /** Whether the visible file is still the one that is written: neither removed nor replaced. */
  async inPlace(): Promise<boolean> {
    const shown = this.#shown;
    if (!shown) return true;
    try {
      const { dev, ino } = await stat(shown.path, { bigint: true });
      // A roll while we looked has moved the file on purpose.
      return this.#shown !== shown || `${dev}:${ino}` === shown.identity;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      return this.#shown !== shown || (code !== 'ENOENT' && code !== 'ENOTDIR');
    }
  }

  /** Lets pino-roll go on with the visible file of an earlier run. */
  #adopt(rollPath: string): void {
    const path = this.#place.current();
    if (path === undefined) return;
    try {
      this.#link(path, rollPath);
    } catch {
      // No hard links here: then each run begins a file of its own.
    }
  }

  /** Makes the file that pino-roll has opened visible, and clears away what it replaces. */
  #show(rollPath: string): void {
    const { dev, ino } = statSync(rollPath, { bigint: true });
    const identity = `${dev}:${ino}`;
    const current = this.#place.current();
    const path = current !== undefined && identityOf(current) === identity ? current : this.#publish(rollPath);
    this.#shown = { path, identity };
    this.#place.prune(path);
    const inUse = basename(rollPath);
    const folder = dirname(rollPath);
    for (const name of readdirSync(folder)) if (name !== inUse) rmSync(join(folder, name), { force: true });
  }

  #publish(rollPath: string): string {
    const path = this.#place.next();
    try {
      this.#link(rollPath, path);
    } catch {
      // Without hard links the file itself moves; the open stream follows it.
      renameSync(rollPath, path);
    }
    return path;
  }
}

const identityOf = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
};
