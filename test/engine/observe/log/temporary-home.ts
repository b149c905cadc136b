import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { isServerLogName } from '../../../../engine/observe/log/log-policy.ts';

/** A config directory of a test's own, removed when it ends. */
export const temporaryHome = (t: ExecutionContext): string => {
  const home = mkdtempSync(join(tmpdir(), 'junctor-log-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  return home;
};

/** Paths of the server log files, oldest first. */
export const serverFiles = (home: string): string[] => {
  const folder = join(home, 'logs');
  return readdirSync(folder)
    .filter(isServerLogName)
    .sort()
    .map((name) => join(folder, name));
};

/** The records of a log file. Throws for a line that isn't JSON. */
export const recordsIn = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => JSON.parse(line));
