import { lstat, mkdir, readdir, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorCode, FaultError, fail } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import { type Finding, formatFinding } from '../diagnostics.ts';
import { type ParsedConfig, parseConfig } from '../parse.ts';
import { isPlainName } from '../sections/clients.ts';
import { refuseWrite, writeAtomically } from '../write-atomically.ts';

/** An existing preset. */
export interface PresetFile {
  readonly name: string;
  /** Absolute path of its manifest. */
  readonly path: string;
}

/** Lists the presets below a configuration's folder by name. Folders without a manifest, and links elsewhere, don't count. */
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

/** Parses a preset's manifest; `undefined` if there is none. Rejects when it can't be read. */
export const readManifest = async (home: string, name: string): Promise<ParsedConfig | undefined> => {
  const found = await findPreset(home, name);
  return found && parseConfig(await readFile(found.file, 'utf8'));
};

/**
 * Writes a preset's manifest atomically. Throws an `invalid-request` fault for an invalid name or one that links elsewhere,
 * a `read-only` fault if it may not be written, and an `internal` one if that fails.
 */
export const writeManifest = async (home: string, name: string, manifest: JsonObject): Promise<void> => {
  checkPresetName(name);
  const folder = join(home, 'presets', name);
  const refuse = (error: unknown): never => refuseWrite(`The preset ${name}`, error);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(refuse);
  const file = join(folder, 'manifest.json');
  const present = await lstat(file).catch(() => undefined);
  const leadsAway = (await realpath(folder)) !== join(await realpath(join(home, 'presets')), name);
  if (leadsAway || (present && !present.isFile())) {
    fail('invalid-request', `The preset ${JSON.stringify(name)} is a link to another folder, and isn't written to.`);
  }
  const { printConfig } = await import('../edit/edit.ts');
  await writeAtomically(file, printConfig(manifest)).catch(refuse);
};

/** Removes a preset's manifest, and its folder if it is empty then. `false`: there is no such preset. */
export const removePreset = async (home: string, name: string): Promise<boolean> => {
  const found = await findPreset(home, name);
  if (!found) return false;
  await rm(found.file).catch((error: unknown) => refuseWrite(`The preset ${name}`, error));
  await rmdir(join(home, 'presets', name)).catch(() => undefined);
  return true;
};

/** Throws an `invalid-request` fault for an invalid preset name. */
export const checkPresetName = (name: string): void => {
  if (isPlainName(name)) return;
  fail(
    'invalid-request',
    "A preset's name is 1 to 64 letters, digits, dots, hyphens and underscores, and does not start with a dot.",
    { param: 'name' },
  );
};

/** A preset's manifest file. */
interface FoundPreset {
  /** Absolute real path. */
  readonly file: string;
  /** Changes when the file is modified or replaced. */
  readonly stamp: string;
}

/**
 * Finds a preset's manifest below the configuration's folder; `undefined` if there is none or it links elsewhere. Throws a
 * fault that names the preset when it can't be accessed.
 */
export const findPreset = async (home: string, name: string): Promise<FoundPreset | undefined> => {
  if (!isPlainName(name)) return undefined;
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
    const code = errorCode(error) ?? 'unknown error';
    if (absent.has(code)) return undefined;
    throw unusable(name, [{ path: 'manifest.json', message: `can't be accessed (${code})` }]);
  }
};

const absent: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

const maxNamed = 5;

/**
 * The error of an invalid preset, with the first findings. Its status is 500: only the operator can fix it, not the client.
 */
export const unusable = (name: string, faults: readonly Finding[]): FaultError => {
  const named = faults.slice(0, maxNamed).map(formatFinding);
  const more = faults.length > maxNamed ? [`${faults.length - maxNamed} more`] : [];
  const message = `The preset "${name}" can't be used: ${[...named, ...more].join('; ')}.`;
  return new FaultError({ kind: 'stage-failed', message, code: 'preset_invalid' });
};
