import { fail, quoted } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { Config } from '../config.ts';
import type { Finding } from '../diagnostics.ts';
import type { Environment } from '../env.ts';
import { type Inspect, withInspected } from '../judge.ts';
import { shownFindings } from '../secrets.ts';
import { readPreset, validatePreset } from './merge-preset.ts';
import { findPreset } from './preset-files.ts';

/** The presets of the configuration's folder. */
export interface Presets<Gateway> {
  /**
   * The gateway of a preset, from its current manifest and base configuration. Throws `not-found` for a name without a
   * manifest, and a fault that names the problems of an invalid manifest.
   */
  readonly gatewayOf: (name: string) => Promise<Gateway>;
  /** Validates a manifest over the current base configuration, without its transformers. */
  readonly validate: (manifest: JsonObject) => PresetFindings;
  /** As `validate`, and loads and checks its transformers. The manifest is usable if there are no faults. */
  readonly check: (manifest: JsonObject) => Promise<PresetFindings>;
}

/** Findings of a check; paths are those of the merged configuration. */
interface PresetFindings {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Options of `createPresets`. */
interface PresetsOptions<Gateway> {
  /** The configuration's folder. */
  readonly home: string;
  readonly env: Environment;
  /** The source of the base configuration; a new object after each change. */
  readonly base: () => JsonObject;
  /** Builds the gateway of a preset's configuration, including its transformer modules. */
  readonly build: (config: Config) => Promise<Gateway>;
  /** Checks a preset's configuration for faults that only building it reveals. */
  readonly check: (config: Config) => Promise<PresetFindings>;
  /** Finds further faults of a preset's configuration that has some. */
  readonly inspect?: Inspect;
  /** Receives the warnings of a manifest each time it is read. */
  readonly warn: (preset: string, warnings: readonly Finding[]) => void;
}

interface Known<Gateway> {
  readonly stamp: string;
  readonly base: JsonObject;
  readonly gateway: Promise<Gateway>;
}

/** Loads presets on demand, and again when their file or the base has changed. */
export const createPresets = <Gateway>({
  home,
  env,
  base,
  build,
  check,
  inspect,
  warn,
}: PresetsOptions<Gateway>): Presets<Gateway> => {
  const known = new Map<string, Known<Gateway>>();

  const load = async (name: string, file: string, below: JsonObject): Promise<Gateway> => {
    const { config, warnings } = await readPreset(name, file, below, env);
    if (warnings.length > 0) warn(name, warnings);
    return build(config);
  };

  return {
    async gatewayOf(name) {
      const found = await findPreset(home, name);
      if (!found) {
        known.delete(name);
        return fail('not-found', `There is no preset ${quoted(name)}.`);
      }
      const below = base();
      const earlier = known.get(name);
      // Failures are cached too: the same bytes fail again.
      if (earlier?.stamp === found.stamp && earlier.base === below) return earlier.gateway;
      const gateway = load(name, found.file, below);
      known.set(name, { stamp: found.stamp, base: below, gateway });
      return gateway;
    },
    validate: (manifest) => ({ faults: [], ...validatePreset(base(), manifest, env) }),
    async check(manifest) {
      const result = validatePreset(base(), manifest, env);
      if ('faults' in result) return inspect ? withInspected(result, result.source, env, inspect) : result;
      const { config, source } = result;
      const { faults, warnings } = await check(config);
      return {
        faults: shownFindings(faults, source, env),
        warnings: [...result.warnings, ...shownFindings(warnings, source, env)],
      };
    },
  };
};
