import { useSyncExternalStore } from 'react';

/** A value that several parts of the page share. */
export interface Store<T> {
  readonly get: () => T;
  /** Replaces the value. Subscribers are called only if it differs. */
  readonly set: (next: T) => void;
  /** Calls back after each change, until the returned function is called. */
  readonly subscribe: (changed: () => void) => () => void;
}

/** Creates a store. */
export const createStore = <T>(initial: T): Store<T> => {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const changed of [...listeners]) changed();
    },
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
};

/** The store's value; the component rerenders when it changes. */
export const useStore = <T>({ subscribe, get }: Store<T>): T => useSyncExternalStore(subscribe, get);
