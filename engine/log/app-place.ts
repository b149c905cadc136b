import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { LogPlace } from './log-place.ts';

/** Two files and what is written after the size was found to be reached (3 MB at most) stay below 50 MB together. */
const maxBytes = 22_000_000;

/**
 * The application log: `{home}/app.log`. At 22 MB it is renamed to `app.log.1`, in place of the one before, and begun anew:
 * the newest 22 MB are always there, and never more than 50 MB.
 */
export const appPlace = (home: string): LogPlace => {
  const path = join(home, 'app.log');
  return {
    name: path,
    rollFolder: join(home, 'logs', '.roll', 'app'),
    maxBytes,
    current: () => (existsSync(path) ? path : undefined),
    next() {
      if (existsSync(path)) renameSync(path, `${path}.1`);
      return path;
    },
    prune() {},
  };
};
