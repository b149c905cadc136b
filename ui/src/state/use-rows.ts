import { useCallback, useRef, useState } from 'react';

/** An edited list, with a key per row that stays with the row. */
interface Rows<T> {
  readonly keys: readonly number[];
  readonly set: (at: number, value: T) => void;
  /** Appends a value and returns its key. */
  readonly add: (value: T) => number;
  readonly remove: (at: number) => void;
  readonly move: (from: number, to: number) => void;
}

/** Gives keys to the rows of a list. */
export const useRows = <T>(list: readonly T[], onChange: (next: readonly T[]) => void): Rows<T> => {
  const state = useRef<{ readonly keys: number[]; next: number }>({ keys: [], next: 0 });
  const { keys } = state.current;
  const makeKey = (): number => {
    state.current.next += 1;
    return state.current.next;
  };
  // After changes from elsewhere (another page, a discarded draft), rows keep their keys by position.
  while (keys.length < list.length) keys.push(makeKey());
  keys.length = list.length;
  return {
    keys: [...keys],
    set: (at, value) => onChange(list.with(at, value)),
    add(value) {
      const key = makeKey();
      keys.push(key);
      onChange([...list, value]);
      return key;
    },
    remove(at) {
      keys.splice(at, 1);
      onChange(list.toSpliced(at, 1));
    },
    move(from, to) {
      const moved = list[from];
      if (moved === undefined) return;
      keys.splice(to, 0, ...keys.splice(from, 1));
      onChange(list.toSpliced(from, 1).toSpliced(to, 0, moved));
    },
  };
};

/** The open rows, by their keys. `show` does nothing for a row that doesn't exist. */
export const useOpenRows = () => {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const show = useCallback((key: number | undefined, shown: boolean): void => {
    if (key === undefined) return;
    setOpen((before) => new Set(shown ? [...before, key] : [...before].filter((one) => one !== key)));
  }, []);
  return { open, show };
};
