import { setTimeout as wait } from 'node:timers/promises';
import { appLogName, findLog, type LogName, listLogs, openLogFile } from '../../observe/log/list-logs.ts';
import { isServerLogName } from '../../observe/log/log-policy.ts';
import { type Cli, CommandError } from '../cli.ts';

/** Options of `junctor logs`, as typed. */
interface LogOptions {
  readonly follow?: boolean;
  readonly requests?: boolean;
  readonly lines: string;
}

/** The most of a file's end that is searched for lines, in bytes. */
const maxTailBytes = 8 * 1024 * 1024;

/** Time between looks at a file that is followed, in milliseconds. */
const lookMs = 300;

/**
 * `junctor logs`: prints the end of the application log, or of the newest server log with `requests`; with `follow`, what is added to
 * it as well, through rotations, until `ended` or a signal. Reads the files, so the service need not run.
 */
export const printLogs = async (
  { home, print }: Pick<Cli, 'home' | 'print'>,
  { follow = false, requests = false, lines }: LogOptions,
  ended?: AbortSignal,
): Promise<void> => {
  if (!/^\d{1,6}$/.test(lines)) throw new CommandError('--lines must be a whole number of lines.');
  const nameNow = async (): Promise<LogName | undefined> =>
    requests
      ? (await listLogs(home)).find(({ name }) => isServerLogName(name.replace(/^.*[\\/]/, '')))
      : findLog(home, appLogName);
  let log = await nameNow();
  const tail = log && (await printTail(log, Number(lines), print));
  if (!tail && !follow) throw new CommandError(`There is no log in ${home} yet.`);
  let place = tail ?? beginning;
  while (follow && ended?.aborted !== true) {
    await wait(lookMs, undefined, { signal: ended }).catch(() => undefined);
    if (log) place = await printFrom(log, place, print);
    const next = await nameNow();
    if (next && next.path !== log?.path) [log, place] = [next, await printFrom(next, beginning, print)];
  }
};

/** Offset up to which a file has been printed. */
interface Place {
  readonly at: number;
  readonly inode: number;
}

const beginning: Place = { at: 0, inode: 0 };

/** Prints the last lines; `undefined`: there is no such file. */
const printTail = async (log: LogName, lines: number, print: Cli['print']): Promise<Place | undefined> => {
  const file = await openLogFile(log, 'read');
  if (typeof file === 'string') return undefined;
  try {
    const { size, ino } = await file.stat();
    const from = Math.max(0, size - maxTailBytes);
    const bytes = Buffer.alloc(size - from);
    await file.read(bytes, 0, bytes.length, from);
    const end = bytes.lastIndexOf('\n') + 1;
    const all = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
    // The first line of a part may be half a line.
    for (const line of (from > 0 ? all.slice(1) : all).slice(lines === 0 ? all.length : -lines)) print(line);
    return { at: from + end, inode: ino };
  } finally {
    await file.close();
  }
};

/** Prints the whole lines after a place; from the beginning of a file that was replaced or emptied. */
const printFrom = async (log: LogName, { at, inode }: Place, print: Cli['print']): Promise<Place> => {
  const file = await openLogFile(log, 'read');
  if (typeof file === 'string') return { at, inode };
  try {
    const { size, ino } = await file.stat();
    let from = ino === inode && size >= at ? at : 0;
    while (from < size) {
      const bytes = Buffer.alloc(Math.min(size - from, maxTailBytes));
      await file.read(bytes, 0, bytes.length, from);
      const end = bytes.lastIndexOf('\n') + 1;
      if (end === 0) break;
      for (const line of bytes.toString('utf8', 0, end - 1).split('\n')) print(line);
      from += end;
    }
    return { at: from, inode: ino };
  } finally {
    await file.close();
  }
};
