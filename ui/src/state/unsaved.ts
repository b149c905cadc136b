import { useEffect, useId } from 'react';
import { createStore } from './store.ts';

/** Something that was changed and not saved. */
interface Unsaved {
  /** A sentence's object: "the provider list". */
  readonly what: string;
  /** First parts of the addresses of pages on which the same draft goes on: going there leaves nothing. */
  readonly pages: readonly string[];
}

/** What was changed and not saved, per owner. */
export const unsaved = createStore<ReadonlyMap<string, Unsaved>>(new Map());

/** Tells the page's frame that `what` has changes that aren't saved yet; leaving the page (or `pages`; keep the list stable) then asks. */
export const useUnsaved = (what: string, dirty: boolean, pages: readonly string[] = noPages): void => {
  const owner = useId();
  useEffect(() => {
    if (!dirty) return;
    unsaved.set(new Map([...unsaved.get(), [owner, { what, pages }]]));
    return () => unsaved.set(new Map([...unsaved.get()].filter(([key]) => key !== owner)));
  }, [owner, what, dirty, pages]);
};

const noPages: readonly string[] = [];
