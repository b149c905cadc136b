import { appendFileSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RollStream } from 'pino-roll';
import { errorCode } from '../../model/fault.ts';
import type { LogPolicy } from './log-policy.ts';

/** The file in use, under its visible name. */
interface Shown {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
}

const folderMode = 0o700;
const fileMode = 0o600;

/**
 * A log file that pino-roll writes and rotates, under the policy's names. pino-roll's names always end in a number, so it works in
 * a hidden folder, and each file it opens is hard-linked to the name from the policy. The hidden folder holds only the file in
 * use and is rebuilt from the visible names whenever a log is opened; listing, clearing and deleting use the visible names.
 * Files are opened for appending, so a truncated file continues from its start.
 */
export class RollingFile {
  readonly #policy: LogPolicy;
  readonly #link: (existing: string, path: string) => void;
  #shown: Shown | undefined;

  /** `link` is replaced in tests: not all file systems have hard links. */
  constructor(policy: LogPolicy, link: (existing: string, path: string) => void = linkSync) {
    this.#policy = policy;
    this.#link = link;
  }

  /** The path to show in messages. */
  get name(): string {
    return this.#shown?.path ?? this.#policy.name;
  }

  /**
   * Continues the current file or opens a new one. Rejects on failure; `onError` gets later errors of the stream. pino-roll
   * takes about 70 ms to load, so it is loaded on first use.
   */
  async open(onError: (stream: RollStream, error: unknown) => void): Promise<RollStream> {
    const { rollFolder, maxBytes, frequency } = this.#policy;
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
      contentMode: 'buffer',
      mode: fileMode,
    });
    return new Promise((resolve, reject) => {
      let opened = false;
      stream.on('error', (error) => {
        if (opened) return onError(stream, error);
        // A stream that failed to open never emits `close`, and pino-roll keeps its timer until then.
        stream.emit('close');
        reject(error);
      });
      // Emitted again after each rotation.
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

  /** Appends synchronously to the file in use, or to the one that would be opened. Throws the file system's error. */
  appendSync(bytes: Uint8Array): void {
    mkdirSync(this.#policy.rollFolder, { recursive: true, mode: folderMode });
    const path = this.#shown?.path ?? this.#policy.current() ?? this.#policy.next();
    appendFileSync(path, bytes, { mode: fileMode });
  }

  /** Whether the visible file is still the one being written, neither removed nor replaced. */
  async inPlace(): Promise<boolean> {
    const shown = this.#shown;
    if (!shown) return true;
    try {
      const { dev, ino } = await stat(shown.path, { bigint: true });
      // A rotation during the check changes the file on purpose.
      return this.#shown !== shown || `${dev}:${ino}` === shown.identity;
    } catch (error) {
      const code = errorCode(error);
      return this.#shown !== shown || (code !== 'ENOENT' && code !== 'ENOTDIR');
    }
  }

  /** Lets pino-roll continue the visible file of an earlier run. */
  #adopt(rollPath: string): void {
    const path = this.#policy.current();
    if (path === undefined) return;
    try {
      this.#link(path, rollPath);
    } catch {
      // Without hard links each run starts a new file.
    }
  }

  /** Makes the file that pino-roll opened visible and removes its predecessors. */
  #show(rollPath: string): void {
    const { dev, ino } = statSync(rollPath, { bigint: true });
    const identity = `${dev}:${ino}`;
    const current = this.#policy.current();
    const path = current !== undefined && identityOf(current) === identity ? current : this.#publish(rollPath);
    this.#shown = { path, identity };
    this.#policy.prune(path);
    const inUse = basename(rollPath);
    const folder = dirname(rollPath);
    for (const name of readdirSync(folder)) if (name !== inUse) rmSync(join(folder, name), { force: true });
  }

  #publish(rollPath: string): string {
    const path = this.#policy.next();
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
