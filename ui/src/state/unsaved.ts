import { useEffect, useId } from 'react';
import { createStore } from './store.ts';

/** Something with unsaved changes. */
interface Unsaved {
  /** Completes "unsaved changes to …". */
  readonly what: string;
  /** Pages that edit the same draft, by the first part of their addresses: going there asks nothing. */
  readonly pages: readonly string[];
}

/** Everything with unsaved changes, by owner. */
export const unsaved = createStore<ReadonlyMap<string, Unsaved>>(new Map());

/** Marks `what` as changed: leaving the page asks first, unless for one of `pages`, a list that must be stable. */
export const useUnsaved = (what: string, dirty: boolean, pages: readonly string[] = noPages): void => {
  const owner = useId();
  useEffect(() => {
    if (!dirty) return;
    unsaved.set(new Map([...unsaved.get(), [owner, { what, pages }]]));
    return () => unsaved.set(new Map([...unsaved.get()].filter(([key]) => key !== owner)));
  }, [owner, what, dirty, pages]);
};

const noPages: readonly string[] = [];
