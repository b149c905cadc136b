import { useEffect } from 'react';
import { createStore } from './store.ts';

/** Something with unsaved changes, which stay as a draft when its page is left. */
interface Unsaved {
  /** The page of the change: `#/routing`. */
  readonly address: string;
  /** Pages that show the draft, by the first part of their addresses. */
  readonly pages: readonly string[];
}

/** Everything with unsaved changes, by what completes "unsaved changes to …". */
export const unsaved = createStore<ReadonlyMap<string, Unsaved>>(new Map());

/** Marks `what` as changed, or as saved; `pages` must be stable. */
export const useUnsaved = (what: string, dirty: boolean, pages: readonly string[]): void => {
  useEffect(() => {
    const others = [...unsaved.get()].filter(([name]) => name !== what);
    if (!dirty) {
      if (unsaved.get().has(what)) unsaved.set(new Map(others));
      return;
    }
    unsaved.set(new Map([...others, [what, { address: window.location.hash, pages }]]));
  }, [what, dirty, pages]);
};
