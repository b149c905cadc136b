import type { PresetList } from '../../../../admin/schema.ts';
import { call } from '../call.ts';
import { type ConfigFile, hiddenSecrets, type Outcome } from './config.ts';

/** A preset of the configuration's folder. */
type Preset = PresetList['presets'][number];

const at = (name: string): string => `/api/presets/${encodeURIComponent(name)}`;

/** All presets. */
export const listPresets = async (signal?: AbortSignal): Promise<readonly Preset[]> =>
  (await call<PresetList>('/api/presets', { signal })).presets;

/** A preset's manifest: the fields of a configuration that it sets, with placeholders instead of secrets. */
export const readPreset = (name: string, signal?: AbortSignal): Promise<ConfigFile> =>
  call(at(name), { query: hiddenSecrets, signal });

/** Makes or replaces a preset. */
export const writePreset = (name: string, manifest: ConfigFile): Promise<Outcome> =>
  call(at(name), { method: 'PUT', body: manifest });

/** Removes a preset. */
export const removePreset = (name: string): Promise<Outcome> => call(at(name), { method: 'DELETE' });
