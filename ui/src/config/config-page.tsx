import { type ReactNode, useCallback, useEffect, useMemo } from 'react';
import type { ConfigFile } from '../api/config/config.ts';
import { reloadConfig, useConfig } from '../api/config/config-store.ts';
import { listTransformers, type Transformer } from '../api/config/transformers.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../parts/controls/button.tsx';
import { LoadFailed, Loading, Notice } from '../parts/layout/notice.tsx';
import { PageBar } from '../parts/layout/page-bar.tsx';
import { useStore } from '../state/store.ts';
import { useUnsaved } from '../state/unsaved.ts';
import { changeDraft, configDraft, discardDraft, rebaseDraft } from './draft/config-draft.ts';
import { Conflicts } from './draft/conflicts.tsx';
import { entryFindings } from './draft/entry-findings.ts';
import { SaveBar } from './draft/save-bar.tsx';
import { isWithin } from './fields/field-path.ts';
import { type Form, FormContext } from './fields/form.ts';
import { useShownFaults } from './fields/shown-faults.ts';
import { unreadableTexts } from './fields/unreadable-texts.ts';
import { useFocusWanted } from './fields/wanted-field.ts';
import { checked, useChecks, useFaults } from './findings.ts';
import './config.css';

/** The pages that edit the shared draft. */
const configPages = ['providers', 'routing', 'settings', 'clients'];

/** A page that edits the configuration: loads it, keeps the draft, checks it, saves it. */
export const ConfigPage = ({
  title,
  about,
  actions,
  children,
}: {
  readonly title: string;
  readonly about: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) => {
  const { config: saved, error } = useConfig();
  return (
    <>
      <PageBar title={title} about={about} actions={saved && actions} />
      {error !== undefined && <LoadFailed what="the configuration" error={error} onRetry={() => void reloadConfig()} />}
      {saved ? <Edit saved={saved}>{children}</Edit> : error === undefined && <Loading what={title} />}
    </>
  );
};

const none: readonly Transformer[] = [];

const Edit = ({ saved, children }: { readonly saved: ConfigFile; readonly children: ReactNode }) => {
  const { changes, restored, conflicts, rebased } = useStore(configDraft);
  const { warnings, of } = useStore(checked);
  const texts = useStore(unreadableTexts);
  const told = useFaults();
  // biome-ignore lint/correctness/useExhaustiveDependencies: modules are reloaded with each saved configuration
  const load = useCallback((signal: AbortSignal) => listTransformers(signal), [saved]);
  const { data: transformers = none } = useLoad(load);
  const draft = changes?.draft;
  useEffect(() => rebaseDraft(saved), [saved]);
  useChecks(draft ?? saved);
  useUnsaved('the configuration', draft !== undefined || texts.size > 0, configPages);
  useFocusWanted();
  const config = draft ?? saved;
  const found = useMemo(() => {
    const own = entryFindings(config, saved, transformers);
    return {
      // The gateway may report the same of the field, or of the entry that has it: the control's own message is enough.
      faults: [...told.filter(({ path }) => !own.faults.some((one) => isWithin(one.path, path))), ...own.faults],
      warnings: [...(of === config ? warnings : []), ...own.warnings],
    };
  }, [config, saved, told, warnings, of, transformers]);
  const { faults, unseen } = useShownFaults(config, found.faults);
  const form = useMemo<Form>(
    () => ({
      config,
      saved,
      dirty: draft !== undefined,
      change: (change) => changeDraft(saved, change),
      // A saved value is nobody's unfinished work.
      faults: draft ? faults : found.faults,
      unseen: draft ? unseen : [],
      warnings: found.warnings,
      transformers,
    }),
    [config, draft, saved, found, faults, unseen, transformers],
  );
  return (
    <FormContext value={form}>
      {restored && conflicts.length === 0 && (
        <Notice title="Unsaved changes restored" actions={<Button onClick={discardDraft}>Discard changes</Button>}>
          This tab kept your changes. They are not saved yet.
        </Notice>
      )}
      {rebased && conflicts.length === 0 && (
        <Notice title="The configuration was changed elsewhere">
          Those changes were merged with yours. Nothing was lost.
        </Notice>
      )}
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} saved={saved} />}
      {children}
      <SaveBar />
    </FormContext>
  );
};
