import { useCallback, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import type { ConfigFile } from '../../api/config/config.ts';
import { useConfig } from '../../api/config/config-store.ts';
import { listPresets, readPreset, removePreset, writePreset } from '../../api/config/presets.ts';
import { useLoad } from '../../api/use-load.ts';
import { printHidden } from '../../config/fields/hide-typed.ts';
import { parseText } from '../../config/fields/parse-text.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { changeQuery, href, navigate } from '../../router/route.ts';
import { confirm } from '../../shell/dialogs/confirm.ts';
import { useShortcut } from '../../shell/dialogs/shortcuts.ts';
import { toast } from '../../shell/toast.ts';
import { useDraft } from '../../state/use-draft.ts';
import { PresetForm } from './preset-form.tsx';
import { AddressPanel, ChangesPanel, Faults, ManifestPanel } from './preset-panels.tsx';
import { useManifest } from './use-manifest.ts';

/** The initial manifest of a new preset. */
const beginning = (config: ConfigFile | undefined): ConfigFile => ({
  Router: { default: config?.Router?.default ?? 'provider,model' },
});

const presetPages = ['routing/presets'];

/** What is kept of a manifest that is being edited. Of malformed text, nothing is: it could hold a secret anywhere. */
const withoutTyped = (text: string): string | undefined => {
  const parsed = parseText(text);
  return 'value' in parsed ? printHidden(parsed.value) : undefined;
};

/** Edits a preset by a form or as JSON, with live checks, a dry run and a diff. */
export const PresetEditor = ({ name, query }: { readonly name: string; readonly query: URLSearchParams }) => {
  const view = query.get('view') === 'json' ? 'json' : 'form';
  const { config } = useConfig();
  const load = useCallback((signal: AbortSignal) => readOrNothing(name, signal), [name]);
  const { data, error, reload } = useLoad(load);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const savedText = data && (data.manifest ? JSON.stringify(data.manifest, null, 2) : '');
  const draft = useDraft(`preset.${name}`, `the preset ${name}`, presetPages, savedText, withoutTyped);
  const isNew = data !== undefined && data.manifest === undefined;
  const text = isNew && !draft.dirty ? JSON.stringify(beginning(config), null, 2) : (draft.value ?? '');
  const { manifest, faults, warnings } = useManifest(text, config);
  const save = async (): Promise<void> => {
    if (!manifest) return;
    setBusy(true);
    setProblem(undefined);
    try {
      toast((await writePreset(name, manifest)).message);
      draft.discard();
      reload();
    } catch (caught) {
      setProblem(wordError(caught));
    }
    setBusy(false);
  };
  const remove = async (): Promise<void> => {
    const yes = await confirm({
      title: `Delete the preset ${name}?`,
      text: `Its manifest is deleted from disk. Requests to /preset/${name} will fail with 404.`,
      yes: 'Delete',
      danger: true,
    });
    if (!yes) return;
    try {
      toast((await removePreset(name)).message);
      draft.discard();
      navigate(href('/routing/presets'));
    } catch (caught) {
      setProblem(wordError(caught));
    }
  };
  const canSave = manifest !== undefined && faults.length === 0 && (draft.dirty || isNew);
  useShortcut('Ctrl+s', 'Save the preset', () => {
    if (canSave && !busy) void save();
  });
  return (
    <>
      <PageBar
        title={`Preset ${name}`}
        about={<a href={href('/routing/presets')}>All presets</a>}
        actions={
          data && (
            <>
              {!isNew && (
                <Button look="danger" icon="remove" onClick={() => void remove()}>
                  Delete
                </Button>
              )}
              {draft.dirty && <Button onClick={draft.discard}>Discard</Button>}
              <Button look="primary" busy={busy} disabled={!canSave} onClick={() => void save()}>
                {isNew ? 'Create' : 'Save'}
              </Button>
            </>
          )
        }
      />
      {error !== undefined && <LoadFailed what="the preset" error={error} onRetry={reload} />}
      {draft.restored && <Notice>Your unsaved changes were restored.</Notice>}
      {problem !== undefined && (
        <Notice kind="failed" title="Not saved">
          {problem}
        </Notice>
      )}
      {!data && error === undefined && <Loading what={`preset ${name}`} />}
      {data && (
        <>
          <Segmented
            label="Edit as"
            value={view}
            onChange={(next) => changeQuery({ view: next === 'json' ? next : '' })}
            options={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
          />
          {view === 'form' && config ? (
            <>
              <Faults faults={faults} warnings={warnings} />
              <PresetForm {...{ text, config, faults, warnings }} onChange={draft.change} />
            </>
          ) : (
            <ManifestPanel name={name} text={text} onChange={draft.change} faults={faults} warnings={warnings} />
          )}
          <ChangesPanel config={config} manifest={manifest} />
          <AddressPanel name={name} />
        </>
      )}
    </>
  );
};

const readOrNothing = async (
  name: string,
  signal: AbortSignal,
): Promise<{ readonly manifest: ConfigFile | undefined }> => {
  const isThere = (await listPresets(signal)).some((preset) => preset.name === name);
  return { manifest: isThere ? await readPreset(name, signal) : undefined };
};
