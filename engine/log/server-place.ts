import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LogPlace } from './log-place.ts';
import { isOfDay, isServerLogName, serverLogName } from './server-log-name.ts';

/** Files kept, the one in use included. Source: interface specification, "Limits". */
const maxFiles = 3;

/**
 * A file may reach 50 MB (specification, "Limits"). Up to two batches of lines, 3 MB if no character is ASCII, are written
 * after the size was found to be reached.
 */
const maxBytes = 46_000_000;

/** The server log: `{home}/logs/switchyard-{YYYYMMDD}{HH}{MM}{SS}.log`, begun anew each day or at 50 MB; three are kept. */
export const serverPlace = (home: string, now: () => Date = () => new Date()): LogPlace => {
  const folder = join(home, 'logs');
  let lastMs = 0;
  const names = () => readdirSync(folder).filter(isServerLogName).sort();
  return {
    name: folder,
    rollFolder: join(folder, '.roll', 'server'),
    maxBytes,
    frequency: 'daily',
    current() {
      const newest = names().at(-1);
      return newest !== undefined && isOfDay(newest, now()) ? join(folder, newest) : undefined;
    },
    next() {
      // Names are exact to the second, so a second file within one borrows the next, and their order stays that of their age.
      lastMs = Math.max(now().getTime(), lastMs + 1000);
      for (; ; lastMs += 1000) {
        const path = join(folder, serverLogName(new Date(lastMs)));
        if (!existsSync(path)) return path;
      }
    },
    prune(path) {
      // The file in use is counted apart: after the clock was set back its name isn't the newest.
      const others = names().filter((name) => join(folder, name) !== path);
      for (const name of others.slice(0, Math.max(0, others.length + 1 - maxFiles))) rmSync(join(folder, name));
    },
  };
};
