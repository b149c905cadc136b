import type { TransformerEntry } from '../config/config.ts';
import { isJsonObject, type JsonObject, parseJson } from '../model/json.ts';
import { findModule, type ModulePlaces } from './find-module.ts';
import { loadModule } from './load-module.ts';
import { readStage } from './read-stage.ts';
import type { OpenStage } from './stage-operators.ts';

/** What came of an entry's module. */
export type LoadedStage =
  | {
      readonly stage: OpenStage;
      /** What its module says of it, in one sentence. */
      readonly about?: string;
      /** The JSON schema of its options, where its module has one. */
      readonly schema?: JsonObject;
    }
  /** Why there is none, for the service's owner: may name files. */
  | { readonly problem: string };

/** The custom stages of a configuration, by their entries' `at`. */
export type LoadedStages = ReadonlyMap<string, LoadedStage>;

/** Loads the modules of all entries that name one, each freshly; one that can't be used becomes a problem, never an error. */
export const loadStages = async (entries: readonly TransformerEntry[], places: ModulePlaces): Promise<LoadedStages> => {
  const loaded = entries.flatMap((entry) =>
    entry.path === undefined ? [] : [loadStage(entry, entry.path, places).then((stage) => [entry.at, stage] as const)],
  );
  return new Map(await Promise.all(loaded));
};

const loadStage = async ({ options }: TransformerEntry, path: string, places: ModulePlaces): Promise<LoadedStage> => {
  try {
    const exported = await loadModule(await findModule(path, places));
    return { stage: await readStage(exported, options), ...selfDescription(exported) };
  } catch (error) {
    return { problem: `can't be used: ${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
};

/** Modules that export a transformer describe themselves as the built-in ones do. */
const selfDescription = (exported: unknown): { about?: string; schema?: JsonObject } => {
  if (typeof exported !== 'object' || exported === null) return {};
  const about = 'about' in exported ? exported.about : undefined;
  const options = 'options' in exported ? parseJson(JSON.stringify(exported.options) ?? '') : undefined;
  return { ...(typeof about === 'string' && { about }), ...(isJsonObject(options) && { schema: options }) };
};
