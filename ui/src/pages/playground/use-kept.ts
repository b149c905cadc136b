import { useCallback, useRef, useState } from 'react';
import { parseJson } from '../../api/json.ts';
import { kept } from '../../state/kept.ts';

/** The values of this page by name: whole, also while other pages are shown. */
const values = new Map<string, unknown>();

/**
 * A JSON value that is kept until the tab is closed, after a reload as `toKeep` makes it. `fits` checks what is restored, since
 * another version may have kept it.
 */
export const useKept = <T extends object>(
  name: string,
  initial: T,
  fits: (value: unknown) => value is T,
  toKeep: (value: T) => T,
): readonly [value: T, change: (update: (value: T) => T) => void] => {
  const place = useRef(kept('session', name)).current;
  const [value, setValue] = useState<T>(() => {
    const restored = values.get(name) ?? parseJson(place.read() ?? '');
    return fits(restored) ? restored : initial;
  });
  const latest = useRef(value);
  const change = useCallback(
    (update: (value: T) => T) => {
      latest.current = update(latest.current);
      values.set(name, latest.current);
      place.write(JSON.stringify(toKeep(latest.current)));
      setValue(latest.current);
    },
    [name, place, toKeep],
  );
  return [value, change];
};
