import { useCallback, useMemo, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import type { ConfigFile } from '../../api/config.ts';
import { useConfig } from '../../api/config-store.ts';
import { listPresets, readPreset, removePreset, writePreset } from '../../api/presets.ts';
import { useLoad } from '../../api/use-load.ts';
import { Diff } from '../../config/diff.tsx';
import { hideKeys } from '../../config/hide-keys.ts';
import { mergePreset } from '../../config/merge-preset.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { href, navigate } from '../../router/route.ts';
import { confirm } from '../../shell/confirm.ts';
import { toast } from '../../shell/toast.ts';
import { useDraft } from '../../state/use-draft.ts';
import { presetUrl } from './preset-url.ts';
import { useManifest } from './use-manifest.ts';

/** The initial manifest of a new preset. */
const beginning = (config: ConfigFile | undefined): ConfigFile => ({
  Router: { default: config?.Router?.default ?? 'provider,model' },
});

/** Edits a preset's manifest as JSON, with live checks and a diff. */
export const PresetEditor = ({ name }: { readonly name: string }) => {
  const { config } = useConfig();
  const load = useCallback((signal: AbortSignal) => readOrNothing(name, signal), [name]);
  const { data, error, reload } = useLoad(load);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const hidden = useMemo(() => hideKeys(data?.manifest ?? {}), [data]);
  const savedText = data && (data.manifest ? JSON.stringify(hidden.shown, null, 2) : '');
  const draft = useDraft(`preset.${name}`, `the preset ${name}`, savedText);
  const isNew = data !== undefined && data.manifest === undefined;
  const text = isNew && !draft.dirty ? JSON.stringify(beginning(config), null, 2) : (draft.value ?? '');
  const { manifest, faults, warnings } = useManifest(text, hidden.keys, config);
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
      navigate(href('/presets'));
    } catch (caught) {
      setProblem(wordError(caught));
    }
  };
  const canSave = manifest !== undefined && faults.length === 0 && (draft.dirty || isNew);
  return (
    <>
      <PageHeader
        title={`Preset ${name}`}
        about={<a href={href('/presets')}>All presets</a>}
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
      {error !== undefined && <Notice kind="failed">{error}</Notice>}
      {draft.restored && <Notice>Your unsaved changes were restored.</Notice>}
      {problem !== undefined && (
        <Notice kind="failed" title="Not saved">
          {problem}
        </Notice>
      )}
      {!data && error === undefined && <Loading what={`preset ${name}`} />}
      {data && (
        <>
          <Panel
            title="Manifest"
            about="Providers, Router and transformers, as in the configuration. Keys in plain text are shown as “••••”."
          >
            <JsonEditor
              label={`Manifest of the preset ${name}`}
              value={text}
              onChange={draft.change}
              findings={[...faults, ...warnings.map((warning) => ({ ...warning, severity: 'warning' as const }))]}
              maxLines={24}
            />
            {faults.length > 0 && (
              <Notice kind="failed" title="Fix before saving">
                <ul className="preset-faults">
                  {faults.map((fault) => (
                    <li key={`${fault.path} ${fault.message}`}>
                      <code>{fault.path}</code> {fault.message}
                    </li>
                  ))}
                </ul>
              </Notice>
            )}
            {warnings.map((warning) => (
              <Notice key={`${warning.path} ${warning.message}`} kind="warn">
                <code>{warning.path}</code> {warning.message}
              </Notice>
            ))}
          </Panel>
          <Panel title="Changes" about="The configuration, compared with what requests to this preset use.">
            {config && manifest ? (
              <Diff
                label="Compared with config.json"
                before={print(config)}
                after={print(mergePreset(config, manifest))}
              />
            ) : (
              <p className="soft">Shown once the manifest is valid JSON.</p>
            )}
          </Panel>
          <Panel title="Address" about="Use it as a client’s base URL, with /v1 if the client needs that.">
            <CodeBlock label="Base URL" text={presetUrl(name)} />
            <CodeBlock label="With /v1" text={`${presetUrl(name)}/v1`} />
          </Panel>
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

const print = (value: Parameters<typeof hideKeys>[0]): string => JSON.stringify(hideKeys(value).shown, null, 2);
