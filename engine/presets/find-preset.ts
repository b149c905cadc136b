import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { unusable } from './unusable.ts';

/** A preset's manifest as it is now. */
export interface FoundPreset {
  /** Absolute, without links. */
  readonly file: string;
  /** Differs when the file was changed or another one took its place. */
  readonly stamp: string;
}

/** Whether this is one plain folder's name. */
export const isPresetName = (name: string): boolean => /^(?!\.)[A-Za-z0-9._-]{1,64}$/.test(name);

/**
 * The manifest of this preset below the configuration's folder; `undefined` where there is none, or it lies elsewhere. Throws a
 * fault that names the preset when it can't be looked at.
 */
export const findPreset = async (home: string, name: string): Promise<FoundPreset | undefined> => {
  if (!isPresetName(name)) return undefined;
  try {
    const [folder, file] = await Promise.all([
      realpath(join(home, 'presets')),
      realpath(join(home, 'presets', name, 'manifest.json')),
    ]);
    if (!file.startsWith(folder + sep)) return undefined;
    const found = await stat(file);
    const { ino, size, mtimeMs, ctimeMs } = found;
    return found.isFile() ? { file, stamp: [file, ino, size, mtimeMs, ctimeMs].join(' ') } : undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (absent.has(code)) return undefined;
    throw unusable(name, [{ path: 'manifest.json', message: `can't be looked at (${code})` }]);
  }
};

const absent: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);
