import { FaultError } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { Finding } from '../diagnostics.ts';
import type { Environment } from '../env.ts';
import type { Findings, Inspect } from '../judge.ts';
import { shownFindings } from '../secrets.ts';
import { validatePreset } from './merge-preset.ts';
import { listPresets, readManifest } from './preset-files.ts';

/**
 * What is wrong with the presets of a folder over this base configuration, as warnings: an unusable preset fails its own requests alone.
 * Their paths begin with `presets/NAME`.
 */
export const presetFindings = async (
  home: string,
  base: JsonObject,
  env: Environment,
  inspect: Inspect,
): Promise<readonly Finding[]> => {
  const presets = await listPresets(home);
  const found = await Promise.all(
    presets.map(async ({ name }) => {
      const faults = await faultsOf(home, name, base, env, inspect);
      return faults.map(({ path, message }) => ({
        path: `presets/${name}${path === '' ? '' : `: ${path}`}`,
        message: `${message}; requests to this preset fail`,
      }));
    }),
  );
  return found.flat();
};

const faultsOf = async (
  home: string,
  name: string,
  base: JsonObject,
  env: Environment,
  inspect: Inspect,
): Promise<readonly Finding[]> => {
  try {
    const parsed = await readManifest(home, name);
    if (!parsed) return [];
    if ('faults' in parsed) return parsed.faults;
    const result = validatePreset(base, parsed.source, env);
    const draft = 'faults' in result ? result.draft : result.config;
    const inspected: Findings['faults'] = draft ? (await inspect(draft, result.source)).faults : [];
    return [...('faults' in result ? result.faults : []), ...shownFindings(inspected, result.source, env)];
  } catch (error) {
    if (error instanceof FaultError) return [{ path: '', message: error.fault.message }];
    throw error;
  }
};
