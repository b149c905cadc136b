import { useCallback, useRef, useState } from 'react';
import { parseJson } from '../../api/json.ts';
import { kept } from '../../state/kept.ts';

/** A JSON value that is kept until the tab is closed. `fits` checks what is restored, since another version may have kept it. */
export const useKept = <T extends object>(
  name: string,
  initial: T,
  fits: (value: unknown) => value is T,
): readonly [value: T, change: (update: (value: T) => T) => void] => {
  const place = useRef(kept('session', name)).current;
  const [value, setValue] = useState<T>(() => {
    const restored = parseJson(place.read() ?? '');
    return fits(restored) ? restored : initial;
  });
  const latest = useRef(value);
  const change = useCallback(
    (update: (value: T) => T) => {
      latest.current = update(latest.current);
      place.write(JSON.stringify(latest.current));
      setValue(latest.current);
    },
    [place],
  );
  return [value, change];
};
