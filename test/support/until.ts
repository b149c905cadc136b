import { setTimeout as wait } from 'node:timers/promises';

/** Waits until a condition holds. It sets no limit: a test that waits in vain is ended by the runner. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await wait(2);
};
