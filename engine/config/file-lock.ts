import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode, ifMissing } from '../model/fault.ts';

/** How often a lock that another process holds is tried again, in milliseconds. */
const askAgainMs = 20;
/** A lock that stays the same for so many milliseconds was left behind: what is done under one takes less. */
const abandonedMs = 2_000;

/**
 * Runs a short task while no other process of this machine runs one under the lock of the same file. Rejects with the system's
 * error if the lock can't be written, and as the task does.
 */
export const underFileLock = async <T>(file: string, task: () => Promise<T>): Promise<T> => {
  const lock = `${file}.lock`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  let seen: string | undefined;
  let waitedMs = 0;
  while (!(await take(lock))) {
    const present = await stat(lock).then(({ ino, mtimeMs }) => `${ino} ${mtimeMs}`, ifMissing(undefined));
    // Counted in waits, since clocks may be set and machines may sleep.
    waitedMs = present !== undefined && present === seen ? waitedMs + askAgainMs : 0;
    seen = present;
    if (waitedMs >= abandonedMs) await rm(lock, { force: true });
    else await wait(askAgainMs);
  }
  try {
    return await task();
  } finally {
    await rm(lock, { force: true });
  }
};

const take = async (lock: string): Promise<boolean> => {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
};
