import { useEffect, useId } from 'react';
import { createStore } from './store.ts';

/** What was changed and not saved: a sentence's object ("the provider list") per owner. */
export const unsaved = createStore<ReadonlyMap<string, string>>(new Map());

/** Tells the page's frame that `what` has changes that aren't saved yet; leaving the page then asks. */
export const useUnsaved = (what: string, dirty: boolean): void => {
  const owner = useId();
  useEffect(() => {
    if (!dirty) return;
    unsaved.set(new Map([...unsaved.get(), [owner, what]]));
    return () => unsaved.set(new Map([...unsaved.get()].filter(([key]) => key !== owner)));
  }, [owner, what, dirty]);
};
