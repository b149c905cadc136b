import { ApiError } from '../../api/api-error.ts';
import type { ConfigFile } from '../../api/config/config.ts';
import { saveConfig } from '../../api/config/config-store.ts';
import { isJsonObject, parseObject } from '../../api/json.ts';
import { kept } from '../../state/kept.ts';
import { createStore } from '../../state/store.ts';
import { printHidden } from '../fields/hide-typed.ts';
import { sameJson } from '../fields/same-json.ts';
import { forgetTexts } from '../fields/unreadable-texts.ts';
import { type Conflict, mergeChanges } from './merge-changes.ts';

/** A draft of the configuration, shared by all pages that edit it. */
interface Changes {
  /** The saved configuration that the draft is based on. */
  readonly base: ConfigFile;
  readonly draft: ConfigFile;
}

/** The state of the draft. */
interface DraftState {
  /** `undefined`: no changes. */
  readonly changes: Changes | undefined;
  /** The draft was restored when the page loaded. */
  readonly restored: boolean;
  /** Changed differently here and elsewhere: the user decides. */
  readonly conflicts: readonly Conflict[];
  /** Changes made elsewhere were merged into the draft. */
  readonly rebased: boolean;
}

const place = kept('session', 'draft.config');

const clean: DraftState = { changes: undefined, restored: false, conflicts: [], rebased: false };

const restore = (): DraftState => {
  const { base, draft } = parseObject(place.read() ?? '') ?? {};
  return isJsonObject(base) && isJsonObject(draft) ? { ...clean, changes: { base, draft }, restored: true } : clean;
};

/** The draft of the configuration; it survives a reload, until the tab is closed, without secrets that were typed. */
export const configDraft = createStore<DraftState>(restore());

const setState = (next: DraftState): void => {
  place.write(next.changes && printHidden({ ...next.changes }));
  configDraft.set(next);
};

/** Changes the draft. Without one, it begins with `saved`. */
export const changeDraft = (saved: ConfigFile, change: (config: ConfigFile) => ConfigFile): void => {
  const state = configDraft.get();
  const { base, draft } = state.changes ?? { base: saved, draft: saved };
  const next = change(draft);
  if (sameJson(next, saved)) setState(clean);
  else setState({ ...state, changes: { base, draft: next } });
};

/** Discards the draft and malformed texts. */
export const discardDraft = (): void => {
  forgetTexts();
  setState(clean);
};

/** Rebases the draft on a newer saved configuration, unless both changed the same setting. */
export const rebaseDraft = (saved: ConfigFile): void => {
  const state = configDraft.get();
  const { changes } = state;
  if (!changes) return;
  if (sameJson(changes.draft, saved)) {
    setState(clean);
    return;
  }
  if (sameJson(changes.base, saved)) {
    if (state.conflicts.length > 0) setState({ ...state, conflicts: [] });
    return;
  }
  const { value, conflicts } = mergeChanges(changes.base, changes.draft, saved);
  if (conflicts.length > 0) setState({ ...state, conflicts });
  else if (sameJson(value, saved)) setState(clean);
  else setState({ ...state, changes: { base: saved, draft: value }, conflicts: [], rebased: true });
};

/** Resolves all conflicts, with the draft's or the saved values. Other changes stay. */
export const resolveConflicts = (saved: ConfigFile, by: 'mine' | 'theirs'): void => {
  const { changes } = configDraft.get();
  if (!changes) return;
  const { base, draft } = changes;
  // In a conflict, the second argument of `mergeChanges` wins.
  const { value } = by === 'mine' ? mergeChanges(base, draft, saved) : mergeChanges(base, saved, draft);
  setState(
    sameJson(value, saved) ? clean : { ...configDraft.get(), changes: { base: saved, draft: value }, conflicts: [] },
  );
};

/** Saves the draft. Resolves to the gateway's message; rejects with an `ApiError`, with status 412 for a conflict. */
export const saveDraft = async (): Promise<string> => {
  const attempt = () =>
    saveConfig((newest) => {
      rebaseDraft(newest);
      const { changes, conflicts } = configDraft.get();
      if (conflicts.length > 0) throw new ApiError(412, changedElsewhere);
      return changes?.draft ?? newest;
    });
  const { message } = await attempt().catch((error: unknown) => {
    // The configuration was saved elsewhere. That change is loaded now; without conflicts, both fit together.
    if (error instanceof ApiError && error.status === 412 && configDraft.get().conflicts.length === 0) return attempt();
    throw error;
  });
  discardDraft();
  return message;
};

const changedElsewhere = 'Not saved: the same settings were changed elsewhere. Choose below which values to keep.';
