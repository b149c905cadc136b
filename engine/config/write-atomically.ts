import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, fail } from '../model/fault.ts';

/**
 * Writes a file atomically: readers, also after a crash, see either the old or the complete new content. Only the owner can
 * read the file (0600) and created folders (0700). Symbolic links are kept. Rejects with the system's error; the old content
 * is unchanged then.
 */
export const writeAtomically = async (path: string, text: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target = await realpath(path).catch(() => path);
  const tempFile = `${target}.${randomUUID()}.tmp`;
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
  }
  await syncFolder(dirname(target));
};

/** Throws a `read-only` fault if a system error means that `file` is read-only. */
export const refuseReadOnly = (file: string, error: unknown): void => {
  const code = errorCode(error) ?? '';
  if (!readOnlyCodes.has(code)) return;
  fail('read-only', `${file} can't be written (${code}): change it where it comes from. Nothing was changed.`);
};

const readOnlyCodes: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Makes a rename durable by syncing its folder. Some systems can't; the file itself is safe there too. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
};
