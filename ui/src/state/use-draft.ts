import { useCallback, useEffect, useMemo, useState } from 'react';
import { kept } from './kept.ts';
import { useUnsaved } from './unsaved.ts';

/** A saved text that is being edited. */
interface Draft {
  /** The draft, or the saved text; `undefined` until that is loaded. */
  readonly value: string | undefined;
  /** The draft differs from the saved text. */
  readonly dirty: boolean;
  /** The draft was restored when the page loaded. */
  readonly restored: boolean;
  readonly change: (next: string) => void;
  /** Resets to the saved text; also called after saving. */
  readonly discard: () => void;
}

/**
 * Edits `saved`. The draft survives a reload and visits to other pages, until the tab is closed. `name` is unique among
 * drafts; `what` completes "unsaved changes to …"; `pages` show the draft; `keepable` gives what may be kept of it.
 */
export const useDraft = (
  name: string,
  what: string,
  pages: readonly string[],
  saved: string | undefined,
  keepable: (draft: string) => string | undefined,
): Draft => {
  const place = useMemo(() => kept('session', `draft.${name}`), [name]);
  const [draft, setDraft] = useState(place.read);
  const [restored, setRestored] = useState(draft !== undefined);
  const dirty = draft !== undefined && saved !== undefined && draft !== saved;
  useEffect(() => {
    // Until the saved text is known, the draft can't be compared.
    if (saved !== undefined) place.write(dirty ? keepable(draft) : undefined);
  }, [place, saved, dirty, draft, keepable]);
  useUnsaved(what, dirty, pages);

  const discard = useCallback(() => {
    setDraft(undefined);
    setRestored(false);
    place.write(undefined);
  }, [place]);
  return { value: draft ?? saved, dirty, restored: restored && dirty, change: setDraft, discard };
};
