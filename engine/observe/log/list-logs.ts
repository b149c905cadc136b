import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../model/fault.ts';
import { appLogPolicy, isServerLogName } from './log-policy.ts';

/** An existing log file. */
export interface LogEntry {
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Name and absolute path of a log file, whether it exists or not. */
export type LogName = Pick<LogEntry, 'name' | 'path'>;

/** The application log's file name; created with the first record. */
export const appLogName = 'app.log';

/**
 * Lists the log files of a config directory, newest first: the application log, its predecessor, and the server log's files.
 * Only regular files count, no links.
 */
export const listLogs = async (home: string): Promise<readonly LogEntry[]> => {
  const entries = await Promise.all((await namesIn(home)).map(entryOf));
  return entries.flat().sort((one, other) => other.modifiedMs - one.modifiedMs || (one.name < other.name ? 1 : -1));
};

/** Finds a log file by its exact name or absolute path. */
export const findLog = async (home: string, wanted: string): Promise<LogName | undefined> =>
  (await namesIn(home)).find(({ name, path }) => wanted === name || wanted === path);

/** An open log file; `missing`: there is none; `foreign`: the name is not a regular file. */
type OpenedLog = FileHandle | 'missing' | 'foreign';

/** Opens a log file. Rejects with the system's error when an existing file can't be opened. */
export const openLogFile = async ({ path }: LogName, access: 'read' | 'write'): Promise<OpenedLog> => {
  const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    // The flags keep a link from being followed and a pipe from blocking.
    const file = await open(path, (access === 'read' ? O_RDONLY : O_WRONLY) | O_NOFOLLOW | O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return 'foreign';
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'ENOENT') return 'missing';
    if (foreign.has(code)) return 'foreign';
    throw error;
  }
};

/** Error codes for a link, a pipe without a reader, and a folder. */
const foreign: ReadonlySet<string> = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'EISDIR']);

const namesIn = async (home: string): Promise<readonly LogName[]> => {
  const app = appLogPolicy(home).name;
  const folder = join(home, 'logs');
  const servers = (await readdir(folder).catch(() => [])).filter(isServerLogName);
  return [
    { name: appLogName, path: app },
    { name: `${appLogName}.1`, path: `${app}.1` },
    ...servers.map((name) => ({ name, path: join(folder, name) })),
  ];
};

const entryOf = async ({ name, path }: LogName): Promise<readonly LogEntry[]> => {
  const entry = await lstat(path).catch(() => undefined);
  return entry?.isFile() ? [{ name, path, size: entry.size, modifiedMs: entry.mtimeMs }] : [];
};
