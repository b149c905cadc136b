import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { errorCode } from '../../model/fault.ts';
import { askDirectly } from '../../runtime/ask-directly.ts';
import { type PidFile, readPidFile } from './pid-file.ts';

/** Process titles, as shown by `ps`. */
export const processTitles = { service: 'junctor: service', worker: 'junctor: worker' } as const;

/** State of the service of a configuration's folder. */
export type FoundService =
  /** There is no PID file. */
  | { readonly type: 'none' }
  /** The PID file's process no longer runs. */
  | { readonly type: 'stale'; readonly pid: number }
  /** The process runs and its port answers. */
  | { readonly type: 'running'; readonly pid: number; readonly startedAtMs: number; readonly baseUrl: string }
  /** The process runs, but its port doesn't answer: it is starting, draining or hanging. */
  | { readonly type: 'silent'; readonly pid: number; readonly state: PidFile['state'] };

/** Response timeout, in milliseconds. Long, because a new service on a busy machine answers slowly. */
const answerMs = 10_000;

/** Finds the service of a configuration's folder. Verifies the content of the PID file. */
export const findService = async (home: string): Promise<FoundService> => {
  const found = readPidFile(home);
  if (!found) return { type: 'none' };
  const { pid, startedAtMs, state, baseUrl } = found;
  // After a container restart, a stale file may hold this process's own PID.
  if (pid === process.pid || pid === 0 || !isService(pid)) return { type: 'stale', pid };
  return state === 'serving' && baseUrl !== undefined && (await answers(baseUrl))
    ? { type: 'running', pid, startedAtMs, baseUrl }
    : { type: 'silent', pid, state };
};

/** Whether a Junctor answers at this URL; 503 counts as an answer. */
export const answers = async (baseUrl: string): Promise<boolean> => {
  try {
    const { status, text } = await askDirectly(`${baseUrl}/health`, { limitMs: answerMs });
    return (status === 200 || status === 503) && text.includes('"status"');
  } catch {
    return false;
  }
};

/** Whether a process with this PID runs; zombies don't count. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // The process belongs to another user.
    return errorCode(error) === 'EPERM';
  }
};

/**
 * Whether a process with this PID is a Junctor service, or that of another `title`, since PIDs are reused. `true` if the platform
 * can't show process titles.
 */
export const isService = (pid: number, title: string = processTitles.service): boolean =>
  isAlive(pid) && (titleOf(pid) ?? title).startsWith(title);

const titleOf = (pid: number): string | undefined => {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    if (process.platform === 'win32') return undefined;
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8', windowsHide: true });
  } catch {
    // The process has just ended.
    return '';
  }
};
