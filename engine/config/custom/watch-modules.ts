import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BehaviorSubject, concatMap, distinctUntilChanged, merge, switchMap } from 'rxjs';
import { watchSources } from '../files/file.ts';

/** Loaded modules, by their path on disk. */
type Modules = Iterable<{ readonly file: string }>;

/** Watches the folders of the active modules. */
export interface ModuleWatch {
  /** Watches the modules of a new configuration instead. */
  readonly use: (modules: Modules) => void;
  readonly close: () => void;
}

/** Calls `changed` whenever a source file in a module's folder has changed. Calls never overlap. */
export const watchModules = (
  initial: Modules,
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
    use: (modules) => folders.next(foldersOf(modules)),
    close: () => watching.unsubscribe(),
  };
};

const foldersOf = (modules: Modules): readonly string[] => [...new Set([...modules].map(({ file }) => dirname(file)))];
