import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { processTitles } from './process-titles.ts';

/** Whether a process of this number runs. One that has ended and that nobody has asked about yet doesn't. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // Somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/**
 * Whether a process of this number is a Switchyard service: numbers are used again, and the one in a file that was left over
 * may be anybody's. Where the system can't tell, it is taken for one.
 */
export const isService = (pid: number): boolean => isAlive(pid) && (titleOf(pid) ?? title).startsWith(title);

const title: string = processTitles.service;

const titleOf = (pid: number): string | undefined => {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    if (process.platform === 'win32') return undefined;
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    // It ended just now.
    return '';
  }
};
