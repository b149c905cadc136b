import { setTimeout as wait } from 'node:timers/promises';

/** Longest time between two looks, in milliseconds. */
const longestPauseMs = 50;

/**
 * Waits until a condition holds. It sets no limit: a test that waits in vain is ended by the runner. Looks less often the longer it
 * waits: a look may be a request, and takes time from what it waits for.
 */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let pauseMs = 2; !(await holds()); pauseMs = Math.min(pauseMs * 1.2, longestPauseMs)) await wait(pauseMs);
};
