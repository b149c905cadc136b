import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, fail } from '../model/fault.ts';

/**
 * Writes a file atomically: readers, also after a crash, see either the old or the complete new content. Only the owner can
 * read the file (0600) and created folders (0700). Symbolic links are kept. Rejects with the system's error; the old content
 * is unchanged then. Removes what killed processes left of earlier writes of the file.
 */
export const writeAtomically = async (path: string, text: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  await removeTempFiles(folder, (name) => name === basename(target));
  const tempFile = `${target}.${process.pid}.${randomUUID()}.tmp`;
  inUse.add(tempFile);
  try {
    const file = await open(tempFile, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(tempFile, target);
  } catch (error) {
    await rm(tempFile, { force: true });
    throw error;
  } finally {
    inUse.delete(tempFile);
  }
  await syncFolder(folder);
};

/** Temporary files that this process is writing. */
const inUse = new Set<string>();

/** The final name, the writer's process, and a random part. */
const tempName = /^(.{1,200})\.(\d{1,10})\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** Age in milliseconds from which a temporary file is abandoned, whichever process has its writer's number now. */
const abandonedMs = 60_000;

/** Removes temporary files that killed processes left in a folder, if their final names match: they may hold credentials. */
export const removeTempFiles = async (folder: string, matches: (name: string) => boolean): Promise<void> => {
  for (const entry of await readdir(folder).catch(() => [])) {
    const [, name = '', pid = ''] = tempName.exec(entry) ?? [];
    if (name === '' || !matches(name)) continue;
    const path = join(folder, entry);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isFile() || inUse.has(path)) continue;
    // A writer in another container has a number that this one doesn't know, but takes far less time.
    const isAbandoned = !runs(Number(pid)) || Date.now() - found.mtimeMs > abandonedMs;
    if (isAbandoned) await rm(path, { force: true }).catch(() => undefined);
  }
};

/** Whether another process has this number; this process's own writes are in `inUse`. */
const runs = (pid: number): boolean => {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
};

/** Throws a `read-only` fault if a system error means that `file` is read-only. */
const refuseReadOnly = (file: string, error: unknown): void => {
  const code = errorCode(error) ?? '';
  if (!readOnlyCodes.has(code)) return;
  fail('read-only', `${file} can't be written (${code}): change it where it comes from. Nothing was changed.`);
};

/** Throws the fault of a file that couldn't be written: `read-only` or `internal`, with the system's code; rethrows other errors. */
export const refuseWrite = (file: string, error: unknown): never => {
  refuseReadOnly(file, error);
  const code = errorCode(error);
  if (code === undefined) throw error;
  return fail('internal', `${file} can't be written (${code}); nothing was changed.`);
};

const readOnlyCodes: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Makes a rename durable by syncing its folder. Some systems can't; the file itself is safe there too. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
};
