import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BehaviorSubject, concatMap, distinctUntilChanged, merge, switchMap } from 'rxjs';
import { watchSources } from '../file.ts';
import type { LoadedStages } from './load-stages.ts';

/** Watches the folders of the active modules. */
export interface ModuleWatch {
  /** Watches the modules of a new configuration instead. */
  readonly use: (stages: LoadedStages) => void;
  readonly close: () => void;
}

/** Calls `changed` whenever a source file in a module's folder has changed. Calls never overlap. */
export const watchModules = (
  initial: LoadedStages,
  changed: () => Promise<void>,
  onError: (error: unknown) => void,
): ModuleWatch => {
  const folders = new BehaviorSubject(foldersOf(initial));
  const watching = folders
    .pipe(
      distinctUntilChanged((one, other) => isDeepStrictEqual(one, other)),
      switchMap((list) => merge(...list.map((folder) => watchSources(folder, onError)))),
      concatMap(changed),
    )
    .subscribe();
  return {
    use: (stages) => folders.next(foldersOf(stages)),
    close: () => watching.unsubscribe(),
  };
};

const foldersOf = (stages: LoadedStages): readonly string[] => [
  ...new Set([...stages.values()].map(({ file }) => dirname(file))),
];
