import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { kept } from './kept.ts';
import { useUnsaved } from './unsaved.ts';

/** A saved value that is being edited. */
interface Draft<T> {
  /** The draft, or the saved value; `undefined` until that is loaded. */
  readonly value: T | undefined;
  /** The draft differs from the saved value. */
  readonly dirty: boolean;
  /** The draft was restored when the page loaded. */
  readonly restored: boolean;
  readonly change: (next: T | ((value: T) => T)) => void;
  /** Resets to the saved value; also called after saving. */
  readonly discard: () => void;
}

/**
 * Edits `saved`, a JSON value. The draft survives a reload and visits to other pages, until the tab is closed. `name` is
 * unique among drafts; `what` completes "unsaved changes to …".
 */
export const useDraft = <T>(name: string, what: string, saved: T | undefined): Draft<T> => {
  const place = useMemo(() => kept('session', `draft.${name}`), [name]);
  const [draft, setDraft] = useState<T | undefined>(() => readDraft<T>(place.read()));
  const [restored, setRestored] = useState(draft !== undefined);
  const latest = useRef(draft ?? saved);
  latest.current = draft ?? saved;
  const text = draft === undefined ? undefined : JSON.stringify(draft);
  const dirty = text !== undefined && saved !== undefined && text !== JSON.stringify(saved);
  useEffect(() => {
    // Until the saved value is known, the draft can't be compared.
    if (saved !== undefined) place.write(dirty ? text : undefined);
  }, [place, saved, dirty, text]);
  useUnsaved(what, dirty);

  const change = useCallback((next: T | ((value: T) => T)) => {
    const value = isUpdate(next) ? (latest.current === undefined ? undefined : next(latest.current)) : next;
    latest.current = value;
    setDraft(value);
  }, []);
  const discard = useCallback(() => {
    setDraft(undefined);
    setRestored(false);
    place.write(undefined);
  }, [place]);
  return { value: draft ?? saved, dirty, restored: restored && dirty, change, discard };
};

const isUpdate = <T>(next: T | ((value: T) => T)): next is (value: T) => T => typeof next === 'function';

/** Written by this hook, so it has the caller's type. */
const readDraft = <T>(text: string | undefined): T | undefined => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
};
