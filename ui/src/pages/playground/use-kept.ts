import { useCallback, useRef, useState } from 'react';
import { kept } from '../../state/kept.ts';

/** A JSON value that is kept until the tab is closed. */
export const useKept = <T extends object>(
  name: string,
  initial: T,
): readonly [value: T, change: (update: (value: T) => T) => void] => {
  const place = useRef(kept('session', name)).current;
  const [value, setValue] = useState<T>(() => readKept(place.read()) ?? initial);
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

/** Written by this hook, so it has the caller's type. */
const readKept = <T>(text: string | undefined): T | undefined => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
};
