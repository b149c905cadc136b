import type { TransformerEntry } from '../config/config.ts';
import { findModule, type ModulePlaces } from './find-module.ts';
import { loadModule } from './load-module.ts';
import { readStage } from './read-stage.ts';
import type { OpenStage } from './stage-operators.ts';

/** What came of an entry's module. */
export type LoadedStage =
  | { readonly stage: OpenStage }
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
    return { stage: await readStage(await loadModule(await findModule(path, places)), options) };
  } catch (error) {
    return { problem: `can't be used: ${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
};
