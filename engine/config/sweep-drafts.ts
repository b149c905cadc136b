import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Younger drafts may be another process's that is just being written. */
const minAgeMs = 60_000;

const draft = /^config(?:\.backup\.[\w-]+)?\.json\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** Removes what writes of the configuration left behind when their process was killed: it may hold credentials. */
export const sweepDrafts = async (home: string, nowMs: number): Promise<void> => {
  const names = await readdir(home).catch(() => []);
  for (const name of names.filter((entry) => draft.test(entry))) {
    const path = join(home, name);
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isFile() && nowMs - entry.mtimeMs > minAgeMs) await rm(path, { force: true }).catch(() => undefined);
  }
};
