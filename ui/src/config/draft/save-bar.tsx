import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { counted } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { DiffView } from '../../parts/diff/diff-view.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Badge } from '../../parts/text/badge.tsx';
import { confirm } from '../../state/confirm.ts';
import { useShortcut } from '../../state/shortcuts.ts';
import { useStore } from '../../state/store.ts';
import { useForm } from '../fields/form.ts';
import { hideTyped } from '../fields/hide-typed.ts';
import { showAllFaults } from '../fields/shown-faults.ts';
import { goToField } from '../fields/wanted-field.ts';
import { checked } from '../findings.ts';
import { Problems } from '../problems.tsx';
import { configDraft, discardDraft, saveDraft } from './config-draft.ts';
import { offerUndo } from './undo.ts';

/** The bar at the foot of a page with unsaved changes: problems, and buttons to save or discard. */
export const SaveBar = () => {
  const { config, saved, dirty, faults, unseen, warnings } = useForm();
  const { conflicts } = useStore(configDraft);
  const { of, error: checkError, restart } = useStore(checked);
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [reviews, setReviews] = useState(false);
  useShortcut('s', 'Review and save changes', () => {
    if (dirty) setReviews(true);
  });
  const blocked = faults.length > 0 || conflicts.length > 0;
  const save = async (): Promise<void> => {
    showAllFaults(config);
    const [first] = unseen;
    if (first) {
      setReviews(false);
      goToField(first.path);
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      offerUndo(await saveDraft());
      setReviews(false);
    } catch (caught) {
      // A conflict is shown above, where it can be resolved.
      if (configDraft.get().conflicts.length > 0) window.scrollTo({ top: 0 });
      else setError(wordError(caught));
    }
    setBusy(false);
  };
  useShortcut('Ctrl+s', 'Save changes', () => {
    if (dirty && !blocked && !busy) void save();
  });
  const discard = async (): Promise<void> => {
    const yes = await confirm({
      title: 'Discard your changes?',
      text: 'All changes since the last save will be lost.',
      yes: 'Discard',
      no: 'Keep editing',
      danger: true,
    });
    if (!yes) return;
    setError(undefined);
    discardDraft();
  };
  if (!dirty && faults.length === 0) return null;
  const saveButton = (
    <Button look="primary" data-saves busy={busy} disabled={blocked || !dirty} onClick={() => void save()}>
      Save
    </Button>
  );
  return (
    <section className="save-bar" aria-label="Unsaved changes">
      {(faults.length > 0 || warnings.length > 0) && <Problems faults={faults} warnings={warnings} />}
      {error !== undefined && (
        <Notice kind="failed" title="Not saved">
          {error}
        </Notice>
      )}
      {checkError !== undefined && of === config && (
        <Notice kind="warn" title="Could not check the changes">
          {checkError} They are checked again when you save.
        </Notice>
      )}
      <div className="row">
        <span className="save-bar-state" role="status">
          {blocked ? (
            <Badge tone="bad">
              {faults.length > 0 ? counted(faults.length, 'problem') : 'Resolve conflicts above'}
            </Badge>
          ) : (
            <Badge tone="accent">Unsaved changes</Badge>
          )}{' '}
          {restart.length > 0 && of === config && (
            <span className="soft small">Requires a restart: {restart.join(', ')}</span>
          )}
        </span>
        <div className="row row-end">
          <Button look="quiet" onClick={() => void discard()}>
            Discard
          </Button>
          <Button onClick={() => setReviews(true)}>Review</Button>
          {saveButton}
        </div>
      </div>
      {reviews && (
        <Dialog
          wide
          title="Review changes"
          onClose={() => setReviews(false)}
          actions={
            <>
              <Button onClick={() => setReviews(false)}>Back</Button>
              {saveButton}
            </>
          }
        >
          <DiffView label="config.json" before={hideTyped(saved)} after={hideTyped(config)} />
          {error !== undefined && (
            <Notice kind="failed" title="Not saved">
              {error}
            </Notice>
          )}
          {blocked && <p className="soft">Fix the problems listed on the page before saving.</p>}
        </Dialog>
      )}
    </section>
  );
};
