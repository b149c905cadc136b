import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fail } from '../model/fault.ts';
import { Backups } from './backups.ts';
import { writeAtomically } from './write-atomically.ts';

/** `config.json` as it lies on disk, and the earlier ones. Not to be written by two callers at once. */
export class ConfigFile {
  readonly path: string;
  readonly backups: Backups;

  /** Backups lie beside the file; `now` gives milliseconds since 1970. */
  constructor(path: string, now: () => number = Date.now) {
    this.path = path;
    this.backups = new Backups(dirname(path), now);
  }

  /** The file's content; `undefined` when there is no file. Rejects with the system's error when it can't be read. */
  async read(): Promise<Buffer | undefined> {
    try {
      return await readFile(this.path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Backs up what is on disk at this moment, whether it could be used or not, and puts a new text in its place. Rejects with an
   * `internal` fault when the system doesn't let it; the file is as it was then.
   */
  async write(textFor: (old: string | undefined) => string): Promise<string> {
    let backup: string | undefined;
    let text: string;
    try {
      const old = await this.read();
      text = textFor(old?.toString());
      // Before, too: after one that was killed there may be one too many.
      await this.backups.prune();
      backup = old && (await this.backups.add(old));
      await writeAtomically(this.path, text);
    } catch (error) {
      // Writes that fail, one after the other, must not push out older backups.
      if (backup) await this.backups.remove(backup).catch(() => undefined);
      const code = codeOf(error);
      if (code === undefined) throw error;
      return fail('internal', `config.json can't be written (${code}); nothing was changed.`);
    }
    // The next write tries again.
    await this.backups.prune().catch(() => undefined);
    return text;
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;
