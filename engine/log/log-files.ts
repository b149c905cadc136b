import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { appPlace } from './app-place.ts';
import { isServerLogName } from './server-log-name.ts';

/** A log file that lies there. */
export interface LogEntry {
  readonly name: string;
  /** Complete. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Name and complete path of a log file of ours, whether it lies there or not. */
export type LogName = Pick<LogEntry, 'name' | 'path'>;

/** The application log's file; it is made when there is something to write. */
export const appLogName = 'app.log';

/**
 * The log files of a config directory: the application log, the one that it was begun anew after, and the server log's. Newest
 * first. Links and whatever else isn't a plain file don't count.
 */
export const listLogs = async (home: string): Promise<readonly LogEntry[]> => {
  const entries = await Promise.all((await namesIn(home)).map(look));
  return entries.flat().sort((one, other) => other.modifiedMs - one.modifiedMs || (one.name < other.name ? 1 : -1));
};

/** The log file that is meant by a name or a complete path, letter by letter as they are listed. */
export const findLog = async (home: string, asked: string): Promise<LogName | undefined> =>
  (await namesIn(home)).find(({ name, path }) => asked === name || asked === path);

/** What opening a log file came to: it isn't there, or something else has its name. */
export type OpenedLog = FileHandle | 'missing' | 'foreign';

/** Opens one. Rejects with the system's error when the file is there but can't be opened. */
export const openLogFile = async ({ path }: LogName, access: 'read' | 'write'): Promise<OpenedLog> => {
  const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    // Neither a link nor a pipe that has the name leads elsewhere or holds us up.
    const file = await open(path, (access === 'read' ? O_RDONLY : O_WRONLY) | O_NOFOLLOW | O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return 'foreign';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT') return 'missing';
    if (foreign.has(code)) return 'foreign';
    throw error;
  }
};

/** A link; a pipe that nobody reads; a folder. */
const foreign: ReadonlySet<string> = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'EISDIR']);

const namesIn = async (home: string): Promise<readonly LogName[]> => {
  const app = appPlace(home).name;
  const folder = join(home, 'logs');
  const servers = (await readdir(folder).catch(() => [])).filter(isServerLogName);
  return [
    { name: appLogName, path: app },
    { name: `${appLogName}.1`, path: `${app}.1` },
    ...servers.map((name) => ({ name, path: join(folder, name) })),
  ];
};

const look = async ({ name, path }: LogName): Promise<readonly LogEntry[]> => {
  const entry = await lstat(path).catch(() => undefined);
  return entry?.isFile() ? [{ name, path, size: entry.size, modifiedMs: entry.mtimeMs }] : [];
};
