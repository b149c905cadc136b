import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The rotation policy of one log: file names and limits. Methods throw the file system's errors. */
export interface LogPolicy {
  /** Path to show in messages about this log. */
  readonly name: string;
  /** Folder for pino-roll's files; must contain nothing else. */
  readonly rollFolder: string;
  /** Size in bytes at which the next file is started. */
  readonly maxBytes: number;
  /** Time-based rotation: at midnight, or after this many milliseconds. */
  readonly frequency?: 'daily' | number;
  /** The file to continue after a start; `undefined` when a new one is due. */
  readonly current: () => string | undefined;
  /** Makes room for a new file and returns its path. */
  readonly next: () => string;
  /** Removes surplus files; `path` is the file in use. */
  readonly prune: (path: string) => void;
}

/** Two files, plus at most 3 MB written before the size is checked, stay below 50 MB. */
const appMaxBytes = 22_000_000;

/**
 * The application log: `{home}/app.log`. At 22 MB it is renamed to `app.log.1`, replacing the previous one. The newest 22 MB
 * are always available; the total stays below 50 MB.
 */
export const appLogPolicy = (home: string): LogPolicy => {
  const path = join(home, 'app.log');
  return {
    name: path,
    rollFolder: join(home, 'logs', '.roll', 'app'),
    maxBytes: appMaxBytes,
    current: () => (existsSync(path) ? path : undefined),
    next() {
      if (existsSync(path)) renameSync(path, `${path}.1`);
      return path;
    },
    prune() {},
  };
};

/** Files kept, including the one in use. Source: interface specification, "Limits". */
const maxFiles = 3;

/**
 * A file may reach 50 MB (specification, "Limits"). Up to two batches, 3 MB when no character is ASCII, are written before
 * the size is checked.
 */
const serverMaxBytes = 46_000_000;

/** The server log: `{home}/logs/junctor-{YYYYMMDD}{HH}{MM}{SS}.log`, rotated daily or at 50 MB; three files are kept. */
export const serverLogPolicy = (home: string, now: () => Date = () => new Date()): LogPolicy => {
  const folder = join(home, 'logs');
  let lastMs = 0;
  const names = () => readdirSync(folder).filter(isServerLogName).sort();
  return {
    name: folder,
    rollFolder: join(folder, '.roll', 'server'),
    maxBytes: serverMaxBytes,
    frequency: 'daily',
    current() {
      const newest = names().at(-1);
      return newest !== undefined && isOfDay(newest, now()) ? join(folder, newest) : undefined;
    },
    next() {
      // Names have a resolution of one second; a second file within it takes the next second, so names sort by age.
      lastMs = Math.max(now().getTime(), lastMs + 1000);
      for (; ; lastMs += 1000) {
        const path = join(folder, serverLogName(new Date(lastMs)));
        if (!existsSync(path)) return path;
      }
    },
    prune(path) {
      // The file in use is excluded: after the clock was set back its name isn't the newest.
      const others = readdirSync(folder)
        .filter((name) => anyPattern.test(name))
        .filter((name) => join(folder, name) !== path)
        .sort((one, other) => (stampOf(one) < stampOf(other) ? -1 : 1));
      for (const name of others.slice(0, Math.max(0, others.length + 1 - maxFiles))) rmSync(join(folder, name));
    },
  };
};

const prefix = 'junctor';
const pattern = /^junctor-\d{14}\.log$/;
/** The same under the gateway's earlier name. */
const anyPattern = /^[a-z]+-\d{14}\.log$/;

/** `{YYYYMMDD}{HH}{MM}{SS}.log`. */
const stampOf = (name: string): string => name.slice(name.lastIndexOf('-') + 1);

/** Whether a file name in `logs/` belongs to the server log: `junctor-{YYYYMMDD}{HH}{MM}{SS}.log`. */
export const isServerLogName = (name: string): boolean => pattern.test(name);

/** The name of a server log file started at `at`, in local time. */
export const serverLogName = (at: Date): string => `${prefix}-${dayStamp(at)}${timeStamp(at)}.log`;

/** Whether a server log file was started on the day of `at`, in local time. */
export const isOfDay = (name: string, at: Date): boolean => name.startsWith(`${prefix}-${dayStamp(at)}`);

const dayStamp = (at: Date): string => `${pad(at.getFullYear(), 4)}${pad(at.getMonth() + 1)}${pad(at.getDate())}`;

const timeStamp = (at: Date): string => `${pad(at.getHours())}${pad(at.getMinutes())}${pad(at.getSeconds())}`;

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');
