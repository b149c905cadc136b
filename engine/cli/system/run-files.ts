import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAtomically } from '../../config/write-atomically.ts';
import { isAlive } from '../../service/workers/find-service.ts';

/** Files that a program needs while `junctor run` waits for it. They may hold the gateway's key. */
interface RunFiles {
  /** Writes a file, readable by the user alone; returns its path. */
  readonly write: (name: string, text: string) => Promise<string>;
  readonly remove: () => void;
}

/** Files are kept in `run` in the configuration's folder, or in the system's folder for temporary files if that is read-only. */
export const openRunFiles = (home: string): RunFiles => {
  const folder = join(home, 'run');
  removeLeftOver(folder);
  const own = join(folder, String(process.pid));
  const folders = new Set<string>();
  return {
    async write(name, text) {
      const path = join(own, name);
      try {
        await writeAtomically(path, text);
        folders.add(own);
        return path;
      } catch {
        const temporary = mkdtempSync(join(tmpdir(), 'junctor-run-'));
        folders.add(temporary);
        await writeAtomically(join(temporary, name), text);
        return join(temporary, name);
      }
    },
    remove() {
      for (const one of folders) rmSync(one, { recursive: true, force: true });
    },
  };
};

/** Removes what runs left behind that were killed: each folder is named for its process. */
const removeLeftOver = (folder: string): void => {
  try {
    for (const name of readdirSync(folder))
      if (Number(name) > 0 && !isAlive(Number(name))) rmSync(join(folder, name), { recursive: true, force: true });
  } catch {
    // There is no such folder, or nothing in it can be removed.
  }
};
