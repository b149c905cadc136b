import { ApiError } from '../api/api-error.ts';
import type { ConfigFile } from '../api/config.ts';
import { saveConfig } from '../api/config-store.ts';
import { kept } from '../state/kept.ts';
import { createStore } from '../state/store.ts';
import { type Conflict, mergeChanges } from './merge-changes.ts';
import { sameJson } from './same-json.ts';
import { forgetTexts } from './unreadable-texts.ts';

/** The configuration as it is being edited; all pages that edit it share this draft. */
interface Held {
  /** What was saved when the draft was begun, or was last put on top of what is saved. */
  readonly base: ConfigFile;
  readonly draft: ConfigFile;
}

/** What there is to say about the draft. */
interface DraftState {
  /** `undefined`: nothing was changed. */
  readonly held: Held | undefined;
  /** The draft was left from before the page was loaded. */
  readonly restored: boolean;
  /** Changed here and elsewhere, and not alike: somebody has to decide. */
  readonly conflicts: readonly Conflict[];
  /** Changes made elsewhere were taken over below those made here. */
  readonly rebased: boolean;
}

const place = kept('session', 'draft.config');

const clean: DraftState = { held: undefined, restored: false, conflicts: [], rebased: false };

const restore = (): DraftState => {
  const text = place.read();
  if (text === undefined) return clean;
  try {
    // As `hold` wrote it.
    return { ...clean, held: JSON.parse(text) as Held, restored: true };
  } catch {
    return clean;
  }
};

/** The draft of the configuration; it outlives a reload, until the tab is closed. */
export const configDraft = createStore<DraftState>(restore());

const hold = (next: DraftState): void => {
  place.write(next.held && JSON.stringify(next.held));
  configDraft.set(next);
};

/** Changes the draft. `saved` is what it begins from when there is none. */
export const changeDraft = (saved: ConfigFile, change: (config: ConfigFile) => ConfigFile): void => {
  const state = configDraft.get();
  const { base, draft } = state.held ?? { base: saved, draft: saved };
  const next = change(draft);
  if (sameJson(next, saved)) hold(clean);
  else hold({ ...state, held: { base, draft: next } });
};

/** Forgets the draft, and texts that aren't part of it yet. */
export const discardDraft = (): void => {
  forgetTexts();
  hold(clean);
};

/** Something else is saved now: the draft goes on top of it, unless both changed the same thing. */
export const rebaseDraft = (saved: ConfigFile): void => {
  const state = configDraft.get();
  const { held } = state;
  if (!held) return;
  if (sameJson(held.draft, saved)) {
    hold(clean);
    return;
  }
  if (sameJson(held.base, saved)) {
    if (state.conflicts.length > 0) hold({ ...state, conflicts: [] });
    return;
  }
  const { value, conflicts } = mergeChanges(held.base, held.draft, saved);
  if (conflicts.length > 0) hold({ ...state, conflicts });
  else if (sameJson(value, saved)) hold(clean);
  else hold({ ...state, held: { base: saved, draft: value }, conflicts: [], rebased: true });
};

/** Decides every conflict: by what was edited here, or by what is saved. All other changes stay. */
export const settleConflicts = (saved: ConfigFile, by: 'mine' | 'theirs'): void => {
  const { held } = configDraft.get();
  if (!held) return;
  const { base, draft } = held;
  // Where both sides differ, the second of `mergeChanges` wins.
  const { value } = by === 'mine' ? mergeChanges(base, draft, saved) : mergeChanges(base, saved, draft);
  hold(sameJson(value, saved) ? clean : { ...configDraft.get(), held: { base: saved, draft: value }, conflicts: [] });
};

/** Saves the draft. Resolves to what the gateway said; rejects with an `ApiError` in words, with status 412 for a conflict. */
export const saveDraft = async (): Promise<string> => {
  const attempt = () =>
    saveConfig((newest) => {
      rebaseDraft(newest);
      const { held, conflicts } = configDraft.get();
      if (conflicts.length > 0) throw new ApiError(412, changedElsewhere);
      return held?.draft ?? newest;
    });
  const { message } = await attempt().catch((error: unknown) => {
    // Somebody was faster. What they changed has been loaded; where that is something else, both fit together.
    if (error instanceof ApiError && error.status === 412 && configDraft.get().conflicts.length === 0) return attempt();
    throw error;
  });
  discardDraft();
  return message;
};

const changedElsewhere =
  'Nothing was saved: the same settings were changed elsewhere in the meantime. Decide below which of the two is to stay.';
