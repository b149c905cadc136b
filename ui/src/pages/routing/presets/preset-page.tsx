import { useCallback, useMemo, useState } from 'react';
import { wordError } from '../../../api/api-error.ts';
import type { ConfigFile } from '../../../api/config/config.ts';
import { useConfig } from '../../../api/config/config-store.ts';
import { listPresets, readPreset, removePreset, writePreset } from '../../../api/config/presets.ts';
import { listTransformers } from '../../../api/config/transformers.ts';
import { gatewayUrl } from '../../../api/gateway-url.ts';
import { useLoad } from '../../../api/use-load.ts';
import { mergePreset } from '../../../config/draft/merge-preset.ts';
import { type Form, FormContext } from '../../../config/fields/form.ts';
import { hideTyped, printHidden } from '../../../config/fields/hide-typed.ts';
import { parseText } from '../../../config/fields/parse-text.ts';
import { useFocusWanted } from '../../../config/fields/wanted-field.ts';
import { Problems } from '../../../config/problems.tsx';
import { useConfigSchema } from '../../../config/use-config-schema.ts';
import { counted } from '../../../format/figures.ts';
import { Button, IconButton } from '../../../parts/controls/button.tsx';
import { DiffView } from '../../../parts/diff/diff-view.tsx';
import { JsonEditor } from '../../../parts/json-editor/json-editor.tsx';
import { Dialog } from '../../../parts/layout/dialog.tsx';
import { LoadFailed, Loading, Notice } from '../../../parts/layout/notice.tsx';
import { PageBar } from '../../../parts/layout/page-bar.tsx';
import { CodeBlock } from '../../../parts/text/code-block.tsx';
import { href, navigate } from '../../../router/route.ts';
import { confirm } from '../../../state/confirm.ts';
import { useShortcut } from '../../../state/shortcuts.ts';
import { toast } from '../../../state/toast.ts';
import { useDraft } from '../../../state/use-draft.ts';
import { RoutingEditor } from '../routing-editor.tsx';
import { NewPreset } from './new-preset.tsx';
import { PresetSwitch, presetAddress } from './preset-switch.tsx';
import { useManifest } from './use-manifest.ts';

/** The initial manifest of a new preset. */
const beginning = (config: ConfigFile | undefined): ConfigFile => ({
  Router: { default: config?.Router?.default ?? 'provider,model' },
});

const presetPages = ['routing'];

/** What is kept of a manifest that is being edited. Of malformed text, nothing is: it could hold a secret anywhere. */
const withoutTyped = (text: string): string | undefined => {
  const parsed = parseText(text);
  return 'value' in parsed ? printHidden(parsed.value) : undefined;
};

/** The routing of a preset: the same editor, over what the preset replaces. */
export const PresetPage = ({ name }: { readonly name: string }) => {
  const { config } = useConfig();
  const load = useCallback((signal: AbortSignal) => readOrNothing(name, signal), [name]);
  const { data, error, reload } = useLoad(load);
  // biome-ignore lint/correctness/useExhaustiveDependencies: modules are reloaded with each saved configuration
  const loadTransformers = useCallback((signal: AbortSignal) => listTransformers(signal), [config]);
  const { data: transformers } = useLoad(loadTransformers);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [dialog, setDialog] = useState<'json' | 'rename'>();
  const savedText = data && (data.manifest ? JSON.stringify(data.manifest, null, 2) : '');
  const draft = useDraft(`preset.${name}`, `the preset ${name}`, presetPages, savedText, withoutTyped);
  const isNew = data !== undefined && data.manifest === undefined;
  const text = isNew && !draft.dirty ? JSON.stringify(beginning(config), null, 2) : (draft.value ?? '');
  const schema = useConfigSchema();
  const { manifest, faults, warnings } = useManifest(text, config, schema);
  useFocusWanted();
  const form = useMemo<Form | undefined>(
    () =>
      manifest &&
      config && {
        config: manifest,
        saved: manifest,
        inherited: config,
        dirty: draft.dirty,
        change: (change) => draft.change(JSON.stringify(change(manifest), null, 2)),
        faults,
        unseen: [],
        warnings,
        transformers: transformers ?? [],
      },
    [manifest, config, faults, warnings, transformers, draft.dirty, draft.change],
  );
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (caught) {
      setProblem(wordError(caught));
    }
    setBusy(false);
  };
  const save = (): Promise<void> =>
    attempt(async () => {
      if (!manifest) return;
      toast((await writePreset(name, manifest)).message);
      draft.discard();
      reload();
    });
  const rename = (to: string): Promise<void> =>
    attempt(async () => {
      if (!data?.manifest) return;
      await writePreset(to, data.manifest);
      toast((await removePreset(name)).message);
      navigate(presetAddress(to));
    });
  const remove = async (): Promise<void> => {
    const yes = await confirm({
      title: `Delete the preset ${name}?`,
      text: `Its manifest is deleted from disk. Requests to /preset/${name} will fail with 404.`,
      yes: 'Delete',
      danger: true,
    });
    if (!yes) return;
    await attempt(async () => {
      toast((await removePreset(name)).message);
      draft.discard();
      navigate(presetAddress(''));
    });
  };
  const canSave = manifest !== undefined && faults.length === 0 && (draft.dirty || isNew);
  useShortcut('Ctrl+s', 'Save the preset', () => {
    if (canSave && !busy) void save();
  });
  const url = `${gatewayUrl()}/preset/${encodeURIComponent(name)}`;
  return (
    <>
      <PageBar
        title="Routing"
        about={`Preset ${name}: what it leaves out is as in the base`}
        actions={
          <>
            <PresetSwitch key={String(isNew)} shown={name} />
            {data && !isNew && (
              <>
                <IconButton icon="edit" label={`Rename ${name}`} onClick={() => setDialog('rename')} />
                <IconButton icon="remove" label={`Delete ${name}`} onClick={() => void remove()} />
              </>
            )}
            {data && <Button onClick={() => setDialog('json')}>Address and JSON</Button>}
          </>
        }
      />
      {error !== undefined && <LoadFailed what="the preset" error={error} onRetry={reload} />}
      {draft.restored && <Notice>Your unsaved changes were restored.</Notice>}
      {!data && error === undefined && <Loading what={`preset ${name}`} />}
      {data && form && (
        <FormContext value={form}>
          <RoutingEditor preset={name} />
        </FormContext>
      )}
      {data && !form && <Notice kind="warn">The drawing is shown once the JSON is valid.</Notice>}
      {data && (draft.dirty || isNew || problem !== undefined) && (
        <section className="save-bar" aria-label="Unsaved changes to the preset">
          {(faults.length > 0 || warnings.length > 0) && <Problems faults={faults} warnings={warnings} />}
          {problem !== undefined && (
            <Notice kind="failed" title="Not saved">
              {problem}
            </Notice>
          )}
          <div className="row">
            <span className="save-bar-state" role="status">
              {faults.length > 0 ? counted(faults.length, 'problem') : isNew ? 'Not created yet' : 'Unsaved changes'}
            </span>
            <div className="row row-end">
              {draft.dirty && (
                <Button look="quiet" onClick={draft.discard}>
                  Discard
                </Button>
              )}
              <Button look="primary" busy={busy} disabled={!canSave} onClick={() => void save()}>
                {isNew ? 'Create' : 'Save'}
              </Button>
            </div>
          </div>
        </section>
      )}
      {dialog === 'rename' && (
        <NewPreset
          title={`Rename ${name}`}
          taken={[name]}
          onName={(to) => void rename(to)}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'json' && (
        <Dialog wide title={`Preset ${name}`} onClose={() => setDialog(undefined)}>
          <div className="stack">
            <CodeBlock label="Base URL" text={url} />
            <p className="soft">
              Some clients need <code>/v1</code> at its end.{' '}
              <a href={`${href('/clients')}?${new URLSearchParams({ preset: name })}`}>
                Set up a client for this preset
              </a>
            </p>
            <JsonEditor
              label={`Manifest of the preset ${name}`}
              value={text}
              onChange={draft.change}
              findings={[...faults, ...warnings.map((warning) => ({ ...warning, severity: 'warning' as const }))]}
              maxLines={16}
            />
            {config && manifest && (
              <>
                <p className="field-label">Compared with config.json</p>
                <DiffView
                  label="Compared with config.json"
                  before={hideTyped(config)}
                  after={hideTyped(mergePreset(config, manifest, schema))}
                />
              </>
            )}
          </div>
        </Dialog>
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
