import { type ReactNode, useCallback, useEffect, useMemo } from 'react';
import type { ConfigFile } from '../api/config.ts';
import { reloadConfig, useConfig } from '../api/config-store.ts';
import { listTransformers, type Transformer } from '../api/transformers.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../parts/button.tsx';
import { LoadFailed } from '../parts/load-failed.tsx';
import { Loading } from '../parts/loading.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useStore } from '../state/store.ts';
import { useUnsaved } from '../state/unsaved.ts';
import { changeDraft, configDraft, discardDraft, rebaseDraft } from './config-draft.ts';
import { Conflicts } from './conflicts.tsx';
import { entryFindings } from './entry-findings.ts';
import { isWithin } from './field-path.ts';
import { checked, useChecks, useFaults } from './findings.ts';
import { type Form, FormContext } from './form.ts';
import { SaveBar } from './save-bar.tsx';
import { useShownFaults } from './shown-faults.ts';
import { unreadableTexts } from './unreadable-texts.ts';
import { useFocusWanted } from './wanted-field.ts';
import './config.css';

/** The pages that edit the shared draft. */
const configPages = ['providers', 'routing', 'transformers', 'settings'];

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
      <PageHeader title={title} about={about} actions={saved && actions} />
      {error !== undefined && <LoadFailed what="the configuration" error={error} onRetry={() => void reloadConfig()} />}
      {saved ? <Edit saved={saved}>{children}</Edit> : error === undefined && <Loading what={title} />}
    </>
  );
};

const none: readonly Transformer[] = [];

const Edit = ({ saved, children }: { readonly saved: ConfigFile; readonly children: ReactNode }) => {
  const { held, restored, conflicts, rebased } = useStore(configDraft);
  const { warnings, of } = useStore(checked);
  const texts = useStore(unreadableTexts);
  const told = useFaults();
  // biome-ignore lint/correctness/useExhaustiveDependencies: modules are reloaded with each saved configuration
  const load = useCallback((signal: AbortSignal) => listTransformers(signal), [saved]);
  const { data: transformers = none } = useLoad(load);
  const draft = held?.draft;
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
      // What is saved is nobody's unfinished work.
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
