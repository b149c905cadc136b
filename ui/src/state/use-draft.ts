import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { kept } from './kept.ts';
import { useUnsaved } from './unsaved.ts';

/** Something saved, as it is being edited. */
interface Draft<T> {
  /** The draft, or what is saved while nothing was changed; `undefined` until that is known. */
  readonly value: T | undefined;
  /** It differs from what is saved. */
  readonly dirty: boolean;
  /** It was left from before the page was loaded. */
  readonly restored: boolean;
  readonly change: (next: T | ((value: T) => T)) => void;
  /** Back to what is saved; also called once it was saved. */
  readonly discard: () => void;
}

/**
 * Edits `saved`, a JSON value. The draft outlives a reload and a visit to another page, until the tab is closed. `name` is unique
 * among drafts; `what` completes "You haven't saved …".
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
    // Before what is saved is known, nobody can say whether the draft differs.
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

/** The draft as this very hook wrote it: its shape is the caller's own. */
const readDraft = <T>(text: string | undefined): T | undefined => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
};
