import type { Config } from '../config/config.ts';
import type { Finding } from '../config/findings.ts';
import type { Environment } from '../config/interpolate.ts';
import { validateConfig } from '../config/validate.ts';
import { fail } from '../model/fault.ts';
import type { JsonObject } from '../model/json.ts';
import type { Yard } from '../yard/yard.ts';
import { findPreset } from './find-preset.ts';
import { mergePreset } from './merge-preset.ts';
import { readPreset } from './read-preset.ts';

/** The presets of the configuration's folder. */
export interface Presets {
  /**
   * The yard of this preset, as its manifest and the base configuration are now. Throws `not-found` for a name without a
   * manifest, and a fault that names what is wrong for a manifest that can't be used.
   */
  readonly yardOf: (name: string) => Promise<Yard>;
  /** What is to be said of a manifest over the base configuration as it is now, but for its transformers. */
  readonly validate: (manifest: JsonObject) => PresetFindings;
  /** The same and what its transformers say, whose modules are loaded for it; it can be used when it has no faults. */
  readonly check: (manifest: JsonObject) => Promise<PresetFindings>;
}

/** What a check found, by paths in the merged configuration. */
export interface PresetFindings {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** What presets need of the service. */
export interface PresetsOptions {
  /** The configuration's folder. */
  readonly home: string;
  readonly env: Environment;
  /** The base configuration as written; another object whenever it has changed. */
  readonly base: () => JsonObject;
  /** Compiles a preset's configuration, its transformer modules loaded. */
  readonly build: (config: Config) => Promise<Yard>;
  /** What only those can tell of a preset's configuration who put it to use. */
  readonly check: (config: Config) => Promise<PresetFindings>;
  /** Takes what the user should know of a manifest, once for each time that it is read. */
  readonly warn: (preset: string, warnings: readonly Finding[]) => void;
}

interface Known {
  readonly stamp: string;
  readonly base: JsonObject;
  readonly yard: Promise<Yard>;
}

/** Reads presets when they are asked for, and again when their file or the base has changed. */
export const createPresets = ({ home, env, base, build, check, warn }: PresetsOptions): Presets => {
  const known = new Map<string, Known>();

  const load = async (name: string, file: string, below: JsonObject): Promise<Yard> => {
    const { config, warnings } = await readPreset(name, file, below, env);
    if (warnings.length > 0) warn(name, warnings);
    return build(config);
  };

  const validated = (manifest: JsonObject): { findings: PresetFindings; config?: Config } => {
    const merged = mergePreset(base(), manifest);
    const result = validateConfig(merged.written, env);
    const warnings = [...merged.warnings, ...result.warnings];
    return 'faults' in result
      ? { findings: { faults: result.faults, warnings } }
      : { findings: { faults: [], warnings }, config: result.config };
  };

  return {
    async yardOf(name) {
      const found = await findPreset(home, name);
      if (!found) {
        known.delete(name);
        return fail('not-found', `There is no preset ${JSON.stringify(name.slice(0, 100))}.`);
      }
      const below = base();
      const earlier = known.get(name);
      // One that failed is kept as well: nothing is won by reading the same bytes again.
      if (earlier?.stamp === found.stamp && earlier.base === below) return earlier.yard;
      const yard = load(name, found.file, below);
      known.set(name, { stamp: found.stamp, base: below, yard });
      return yard;
    },
    validate: (manifest) => validated(manifest).findings,
    async check(manifest) {
      const { findings, config } = validated(manifest);
      if (!config) return findings;
      const { faults, warnings } = await check(config);
      return { faults, warnings: [...findings.warnings, ...warnings] };
    },
  };
};
