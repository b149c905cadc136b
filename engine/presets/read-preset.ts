import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import type { Finding } from '../config/findings.ts';
import type { Environment } from '../config/interpolate.ts';
import { parseConfig } from '../config/parse.ts';
import { validateConfig } from '../config/validate.ts';
import type { JsonObject } from '../model/json.ts';
import { mergePreset } from './merge-preset.ts';
import { unusable } from './unusable.ts';

/** A preset's configuration, complete. */
export interface ReadPreset {
  readonly config: Config;
  readonly warnings: readonly Finding[];
}

/** Reads a manifest over the base configuration as written. Throws a fault that names what is wrong with it. */
export const readPreset = async (
  name: string,
  file: string,
  base: JsonObject,
  env: Environment,
): Promise<ReadPreset> => {
  const parsed = parseConfig(await readText(name, file));
  if ('faults' in parsed) throw unusable(name, parsed.faults);
  const { written, warnings } = mergePreset(base, parsed.written);
  const result = validateConfig(written, env);
  if ('faults' in result) throw unusable(name, result.faults);
  return { config: result.config, warnings: [...warnings, ...result.warnings] };
};

const readText = async (name: string, file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw unusable(name, [{ path: 'manifest.json', message: `can't be read (${code})` }]);
  }
};
