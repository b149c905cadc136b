import { randomUUID } from 'node:crypto';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode, ifMissing } from '../../model/fault.ts';

/** How often a lock that another process holds is tried again, in milliseconds. */
const askAgainMs = 20;
/** A lock that stays the same for so many milliseconds was left behind: what is done under one takes far less. */
const defaultAbandonedMs = 10_000;

/**
 * Runs a short task while no other process of this machine runs one under the lock of the same file. Rejects with the system's
 * error if the lock can't be written, and as the task does.
 */
export const underFileLock = async <T>(
  file: string,
  task: () => Promise<T>,
  abandonedMs = defaultAbandonedMs,
): Promise<T> => {
  const lock = `${file}.lock`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  let own = await take(lock);
  let seen: string | undefined;
  let waitedMs = 0;
  while (own === undefined) {
    const present = await stat(lock).then(identityOf, ifMissing(undefined));
    // Counted in waits, since clocks may be set and machines may sleep.
    waitedMs = present !== undefined && present === seen ? waitedMs + askAgainMs : 0;
    seen = present;
    if (present !== undefined && waitedMs >= abandonedMs) await removeLock(lock, present);
    else await wait(askAgainMs);
    own = await take(lock);
  }
  try {
    return await task();
  } finally {
    await removeLock(lock, own);
  }
};

/** Creates the lock and returns its identity; `undefined` if another process holds it. */
const take = async (lock: string): Promise<string | undefined> => {
  try {
    const file = await open(lock, 'wx', 0o600);
    try {
      return identityOf(await file.stat());
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
};

/** Numbers of removed files are used again, so the time counts too. */
const identityOf = ({ ino, mtimeMs }: { readonly ino: number; readonly mtimeMs: number }): string =>
  `${ino} ${mtimeMs}`;

/**
 * Removes the lock with this identity. Another one stays: of several processes that give up the same lock, one may have taken it
 * again, and so may one that gave up the lock of a slow task.
 */
const removeLock = async (lock: string, identity: string): Promise<void> => {
  const aside = `${lock}.${randomUUID()}.tmp`;
  const present = await rename(lock, aside).then(() => stat(aside), ifMissing(undefined));
  if (!present) return;
  // It can't be put back if a third process has taken the lock in the meantime.
  if (identityOf(present) !== identity) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
};
