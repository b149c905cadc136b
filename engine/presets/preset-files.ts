import { lstat, mkdir, readdir, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { printConfig } from '../config/edit-text.ts';
import { type ParsedConfig, parseConfig } from '../config/parse.ts';
import { writeAtomically } from '../config/write-atomically.ts';
import { fail } from '../model/fault.ts';
import type { JsonObject } from '../model/json.ts';
import { findPreset, isPresetName } from './find-preset.ts';

/** A preset that lies there. */
export interface PresetFile {
  readonly name: string;
  /** Of its manifest; complete. */
  readonly path: string;
}

/** The presets below a configuration's folder, in the order of their names. What has no manifest, or lies elsewhere, is none. */
export const listPresets = async (home: string): Promise<readonly PresetFile[]> => {
  const names = await readdir(join(home, 'presets')).catch(() => []);
  const found = await Promise.all(
    names.toSorted().map(async (name): Promise<readonly PresetFile[]> => {
      const preset = await findPreset(home, name).catch(() => undefined);
      return preset ? [{ name, path: preset.file }] : [];
    }),
  );
  return found.flat();
};

/** A preset's manifest as written, or what is wrong with its text; `undefined` where there is none. Rejects when it can't be read. */
export const readManifest = async (home: string, name: string): Promise<ParsedConfig | undefined> => {
  const found = await findPreset(home, name);
  return found && parseConfig(await readFile(found.file, 'utf8'));
};

/**
 * Writes a preset's manifest, whole or not at all. Throws an `invalid-request` fault for a name that can't be a preset's or that leads
 * elsewhere by a link; rejects with the system's error.
 */
export const writeManifest = async (home: string, name: string, manifest: JsonObject): Promise<void> => {
  checkPresetName(name);
  const folder = join(home, 'presets', name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'manifest.json');
  const present = await lstat(file).catch(() => undefined);
  const leadsAway = (await realpath(folder)) !== join(await realpath(join(home, 'presets')), name);
  if (leadsAway || (present && !present.isFile())) {
    fail('invalid-request', `The preset ${JSON.stringify(name)} leads elsewhere by a link, and isn't written to.`);
  }
  await writeAtomically(file, printConfig(manifest));
};

/** Removes a preset's manifest, and its folder when nothing else lies in it. `false`: there is no such preset. */
export const removePreset = async (home: string, name: string): Promise<boolean> => {
  const found = await findPreset(home, name);
  if (!found) return false;
  await rm(found.file);
  await rmdir(join(home, 'presets', name)).catch(() => undefined);
  return true;
};

/** Throws an `invalid-request` fault for a name that can't be a preset's. */
export const checkPresetName = (name: string): void => {
  if (isPresetName(name)) return;
  fail(
    'invalid-request',
    "A preset's name is 1 to 64 letters, digits, dots, hyphens and underscores, without a dot in front.",
    { param: 'name' },
  );
};
