/** A text in the browser's storage. Without storage, nothing is kept. */
interface Kept {
  readonly read: () => string | undefined;
  /** `undefined` forgets it. */
  readonly write: (text: string | undefined) => void;
}

/** Kept until the tab is closed (`session`), or for good (`local`). */
export const kept = (where: 'session' | 'local', name: string): Kept => {
  const key = `junctor.${name}`;
  // The property itself throws if the browser blocks storage.
  const storage = (): Storage => (where === 'session' ? window.sessionStorage : window.localStorage);
  return {
    read() {
      try {
        return storage().getItem(key) ?? undefined;
      } catch {
        return undefined;
      }
    },
    write(text) {
      try {
        if (text === undefined) storage().removeItem(key);
        else storage().setItem(key, text);
      } catch {
        // Full, or forbidden: the page works without it.
      }
    },
  };
};
