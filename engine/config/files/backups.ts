import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTempFiles, writeAtomically } from '../write-atomically.ts';

/** A backup of a replaced configuration. */
export interface Backup {
  /** `config.backup.2026-01-31T09-30-00-000Z.json`. */
  readonly name: string;
  /** When it was replaced, in milliseconds since 1970; strictly increasing, even if the clock was set back. */
  readonly atMs: number;
  /** In bytes. */
  readonly size: number;
}

/** Source: interface specification, "Limits". */
const maxBackups = 3;

const pattern = /^config\.backup\.(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.json$/;

/** The backups in a configuration's folder: `config.backup.{timestamp}.json`, in UTC, so names sort by time. */
export class Backups {
  readonly #home: string;
  readonly #now: () => number;

  constructor(home: string, now: () => number = Date.now) {
    this.#home = home;
    this.#now = now;
  }

  /** Lists backups, newest first. Only regular files count. */
  async list(): Promise<readonly Backup[]> {
    const names = await readdir(this.#home).catch(() => []);
    const found = await Promise.all(
      names.map(async (name): Promise<readonly Backup[]> => {
        const atMs = timeIn(name);
        if (atMs === undefined) return [];
        const entry = await lstat(join(this.#home, name)).catch(() => undefined);
        return entry?.isFile() ? [{ name, atMs, size: entry.size }] : [];
      }),
    );
    return found.flat().sort((one, other) => other.atMs - one.atMs);
  }

  /** The content of a listed backup; `undefined` for any other name. */
  async read(name: string): Promise<string | undefined> {
    const listed = (await this.list()).find((backup) => backup.name === name);
    return listed && (await readFile(join(this.#home, listed.name), 'utf8').catch(() => undefined));
  }

  /** Adds a backup atomically and returns its name. Rejects with the system's error. */
  async add(content: Uint8Array): Promise<string> {
    const [newest] = await this.list();
    const name = nameFor(Math.max(this.#now(), (newest?.atMs ?? 0) + 1));
    await writeAtomically(join(this.#home, name), content);
    return name;
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#home, name), { force: true });
  }

  /** Removes all but the newest `maxBackups`, and what killed processes left of unfinished ones. */
  async prune(): Promise<void> {
    await removeTempFiles(this.#home, (name) => pattern.test(name));
    for (const { name } of (await this.list()).slice(maxBackups)) await this.remove(name);
  }
}

const nameFor = (atMs: number): string => `config.backup.${new Date(atMs).toISOString().replace(/[:.]/g, '-')}.json`;

const timeIn = (name: string): number | undefined => {
  const [, day, hours, minutes, seconds, ms] = pattern.exec(name) ?? [];
  const atMs = Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`);
  return Number.isNaN(atMs) ? undefined : atMs;
};
