import { type ReactNode, useMemo } from 'react';
import type { ConfigFile, Finding } from '../../api/config/config.ts';
import { isJsonObject } from '../../api/json.ts';
import { mergePreset, withoutPlaceholders } from '../../config/draft/merge-preset.ts';
import { type Form, FormContext } from '../../config/fields/form.ts';
import { parseText } from '../../config/fields/parse-text.ts';
import { counted } from '../../format/count.ts';
import { Notice } from '../../parts/layout/notice.tsx';
import { ScenariosPanel } from '../routing/scenarios-panel.tsx';
import { TryRequest } from '../routing/try-request.tsx';

/** The routes of a preset as a form, and a dry run of them. Other fields of the manifest stay as they are. */
export const PresetForm = ({
  text,
  config,
  faults,
  warnings,
  onChange,
}: {
  /** The manifest, with placeholders in place of stored secrets. */
  readonly text: string;
  readonly config: ConfigFile;
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  readonly onChange: (text: string) => void;
}) => {
  const manifest = useMemo(() => readShown(text), [text]);
  const form = useMemo<Form | undefined>(
    () =>
      manifest && {
        config: manifest,
        saved: manifest,
        inherited: config,
        dirty: false,
        change: (change) => onChange(JSON.stringify(change(manifest), null, 2)),
        faults,
        unseen: [],
        warnings,
        transformers: [],
      },
    [manifest, config, faults, warnings, onChange],
  );
  if (!form || !manifest) return <Notice kind="warn">The form is shown once the JSON is valid.</Notice>;
  const others = Object.keys(manifest).filter((name) => name !== 'Router');
  return (
    <FormContext value={form}>
      <ScenariosPanel about="What is left empty is as in the configuration." />
      {others.length > 0 && (
        <Notice>
          {counted(others.length, 'further field')} of this preset can be edited as JSON: {others.join(', ')}.
        </Notice>
      )}
      <Merged form={form} config={config}>
        <TryRequest about="How a request to this preset would be handled, step by step, with what is not saved yet." />
      </Merged>
    </FormContext>
  );
};

/** The configuration as requests to the preset use it. */
const Merged = ({
  form,
  config,
  children,
}: {
  readonly form: Form;
  readonly config: ConfigFile;
  readonly children: ReactNode;
}) => {
  const merged = useMemo<Form>(() => {
    // The merged value may have a wrong shape: the dry run reports it.
    const whole = mergePreset(config, withoutPlaceholders(form.config)) as ConfigFile;
    return { ...form, config: whole, saved: whole, dirty: true };
  }, [form, config]);
  return <FormContext value={merged}>{children}</FormContext>;
};

const readShown = (text: string): ConfigFile | undefined => {
  const parsed = parseText(text);
  return 'value' in parsed && isJsonObject(parsed.value) ? (parsed.value as ConfigFile) : undefined;
};
